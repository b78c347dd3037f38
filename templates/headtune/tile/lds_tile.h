// The LDS path's view of an architecture: LdsTile (what a workgroup does with one tile of keys), Copier (how a tile comes
// into LDS) and the namespace `arch` of small operations. One file per family.
#pragma once

#include <headtune/arch.h>

#if defined(__HIP__)
#include <headtune/tile/lds_cdna.h>
namespace headtune::tile {
namespace arch = cdna;
using cdna::Copier;
template <class V, int ROWS>
using LdsTile = LdsTileCdna<V, ROWS>;
}  // namespace headtune::tile

#else
#include <headtune/tile/lds_sm80.h>
namespace headtune::tile {
namespace arch = nvidia;
using nvidia::Copier;
}  // namespace headtune::tile

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
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
template <class V, int ROWS>
using LdsTile = typename ChooseTile<LdsTileSm90a<V, ROWS>::LEGAL, V, ROWS>::Type;
}  // namespace headtune::tile
#else
namespace headtune::tile {
template <class V, int ROWS>
using LdsTile = LdsTileSm80<V, ROWS>;
}  // namespace headtune::tile
#endif
#endif
