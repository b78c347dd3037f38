// The LDS path's view of an architecture, one file per family: LdsTile (what a workgroup does with one tile of keys),
// Copier (how a tile comes into LDS), barrier_any and store_floats.
#pragma once

#include <headtune/tile/tile.h>

#if defined(__HIP__)
#include <headtune/tile/lds_cdna.h>
namespace headtune::tile {
template <class V, int ROWS, int QUERY_LDS_COLUMNS>
using LdsTile = LdsTileCdna<V, ROWS, QUERY_LDS_COLUMNS>;
}  // namespace headtune::tile

#elif defined(__CUDA_ARCH_FEAT_SM90_ALL)
#include <headtune/tile/lds_sm80.h>
#include <headtune/tile/lds_sm90a.h>
namespace headtune::tile {
template <bool WARPGROUPS, class V, int ROWS>
struct ChooseTile {
  using Type = LdsTileSm90a<V, ROWS>;
};
template <class V, int ROWS>
struct ChooseTile<false, V, ROWS> {
  using Type = LdsTileSm80<V, ROWS>;
};
template <class V, int ROWS, int /*QUERY_LDS_COLUMNS*/>
using LdsTile = typename ChooseTile<LdsTileSm90a<V, ROWS>::LEGAL, V, ROWS>::Type;
}  // namespace headtune::tile

#else
#include <headtune/tile/lds_sm80.h>
namespace headtune::tile {
template <class V, int ROWS, int /*QUERY_LDS_COLUMNS*/>
using LdsTile = LdsTileSm80<V, ROWS>;
}  // namespace headtune::tile
#endif
