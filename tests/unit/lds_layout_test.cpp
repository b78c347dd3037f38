// Where things lie in LDS, and what a workgroup of the LDS path needs: no GPU.
#include "headtune/tile/lds_layout.h"

#include <catch2/catch_test_macros.hpp>
#include <set>

#include "headtune/arch.h"
#include "headtune/verify_shared_kv/stage1_lds_layout.h"

namespace headtune {
namespace {

template <int ROWS, int COLS>
void check_panels() {
  using Panels = tile::LdsPanels<ROWS, COLS>;
  CAPTURE(ROWS, COLS);
  std::set<int> offsets;
  for (int row = 0; row < ROWS; ++row)
    for (int chunk = 0; chunk < COLS / 8; ++chunk) offsets.insert(Panels::offset(row, chunk));
  CHECK(offsets.size() == static_cast<std::size_t>(ROWS * COLS / 8));
  CHECK(*offsets.begin() == 0);
  CHECK(*offsets.rbegin() == Panels::BYTES - 16);
  for (const int offset : offsets) REQUIRE(offset % 16 == 0);
}

/// Eight lanes that read the same chunk of eight consecutive rows, 16 bytes each, must use all 32 banks once.
template <int ROWS, int COLS>
void check_banks() {
  using Panels = tile::LdsPanels<ROWS, COLS>;
  for (int first = 0; first < ROWS; first += 8)
    for (int chunk = 0; chunk < COLS / 8; ++chunk) {
      std::set<int> bank_groups;
      for (int row = first; row < first + 8; ++row) bank_groups.insert(Panels::offset(row, chunk) / 16 % 8);
      CAPTURE(ROWS, COLS, first, chunk);
      REQUIRE(bank_groups.size() == 8);
    }
}

lds_path::Layout mla(const char* arch, int rows, int block_n, int waves, int stages) {
  const Arch& a = *find_arch(arch);
  return {rows, 576, 512, block_n, waves, stages, 2, a.wave_size, a.family == Family::cdna4};
}

bool fits(const lds_path::Layout& layout, const char* arch) { return layout.bytes() <= find_arch(arch)->lds_bytes; }

}  // namespace

TEST_CASE("lds layout: every chunk has a place of its own") {
  check_panels<64, 576>();
  check_panels<48, 64>();
  check_panels<96, 32>();
  check_panels<32, 16>();
  check_panels<64, 256>();
}

TEST_CASE("lds layout: eight rows of a chunk column touch every bank once") {
  check_banks<64, 576>();
  check_banks<48, 64>();
  check_banks<96, 32>();
  check_banks<32, 16>();
}

TEST_CASE("lds layout: waves lie along keys as far as whole blocks allow") {
  CHECK(tile::waves_along_keys(8, 4, 6) == 4);  // 64 keys, 48 rows in blocks of 8: 4 x 2 waves
  CHECK(tile::waves_along_keys(4, 2, 6) == 2);  // 32 keys, 96 rows in blocks of 16
  CHECK(tile::waves_along_keys(8, 2, 3) == 2);  // 3 row blocks for 4 waves: one computes padding
  CHECK(tile::waves_along_keys(4, 8, 1) == 4);
  CHECK(tile::score_rows(48, 32, 8) == 64);
  CHECK(tile::score_rows(96, 32, 8) == 128);
  CHECK(tile::score_rows(96, 32, 4) == 96);
}

TEST_CASE("lds layout: MLA with 12 heads and 8 new tokens fits the architectures it is meant for") {
  CHECK(fits(mla("gfx950", 96, 32, 8, 1), "gfx950"));  // all heads of the rank
  CHECK(mla("gfx950", 96, 32, 8, 1).query_in_lds());
  CHECK(fits(mla("gfx942", 48, 32, 8, 1), "gfx942"));
  CHECK_FALSE(mla("gfx942", 48, 32, 8, 1).query_in_lds());
  CHECK_FALSE(fits(mla("gfx942", 48, 64, 8, 1), "gfx942"));
  CHECK(fits(mla("sm_90", 48, 64, 8, 2), "sm_90"));
  CHECK(fits(mla("sm_90", 64, 64, 8, 2), "sm_90"));
  CHECK_FALSE(fits(mla("sm_90", 96, 64, 8, 2), "sm_90"));
}

TEST_CASE("lds layout: MLA stages a cache row once, other heads K and V") {
  const lds_path::Layout one = mla("gfx950", 48, 32, 8, 1);
  CHECK(one.tile_bytes() == 32 * 576 * 2);
  const lds_path::Layout two{32, 128, 128, 64, 4, 1, 2, 64, true};
  CHECK(two.tile_bytes() == 64 * 256 * 2);
}

}  // namespace headtune
