// Where things lie in LDS, and what a workgroup of the LDS path needs: no GPU.
#include "headtune/tile/lds_layout.h"

#include <catch2/catch_test_macros.hpp>
#include <numeric>
#include <set>
#include <vector>

#include "headtune/arch.h"
#include "headtune/verify_shared_kv/stage1_lds_layout.h"

namespace headtune {
namespace {

template <int ROWS, int COLS, int BANKS = 32>
void check_panels() {
  using Panels = tile::LdsPanels<ROWS, COLS, BANKS>;
  CAPTURE(ROWS, COLS);
  std::set<int> offsets;
  for (int row = 0; row < ROWS; ++row)
    for (int chunk = 0; chunk < COLS / 8; ++chunk) offsets.insert(Panels::offset(row, chunk));
  CHECK(offsets.size() == static_cast<std::size_t>(ROWS * COLS / 8));
  CHECK(*offsets.begin() == 0);
  CHECK(*offsets.rbegin() == Panels::BYTES - 16);
  for (const int offset : offsets) REQUIRE(offset % 16 == 0);
}

/// Lanes that are served together must use every bank once. access(lane): byte offset, `bytes` wide.
template <class Access>
void check_banks(const std::vector<int>& lanes, int banks, int bytes, Access access) {
  std::set<int> used;
  for (const int lane : lanes)
    for (int word = 0; word < bytes / 4; ++word) used.insert((access(lane) / 4 + word) % banks);
  REQUIRE(used.size() == static_cast<std::size_t>(banks));
  REQUIRE(lanes.size() * static_cast<std::size_t>(bytes) == 4 * used.size());
}

std::vector<int> from_to(int first, int end) {
  std::vector<int> lanes(static_cast<std::size_t>(end - first));
  std::iota(lanes.begin(), lanes.end(), first);
  return lanes;
}

/// Lanes read the same chunk of consecutive rows, 16 bytes each.
template <int ROWS, int COLS, int BANKS>
void check_chunk_columns() {
  using Panels = tile::LdsPanels<ROWS, COLS, BANKS>;
  CAPTURE(ROWS, COLS, BANKS);
  for (int first = 0; first < ROWS; first += BANKS / 4)
    for (int chunk = 0; chunk < COLS / 8; ++chunk)
      check_banks(from_to(0, BANKS / 4), BANKS, 16, [&](int lane) { return Panels::offset(first + lane, chunk); });
}

/// As MI350 serves ds_read_b128: lanes 0..15 read a chunk of 16 rows, 16..31 the next one.
template <int ROWS, int COLS>
void check_mixed_lanes() {
  using Panels = tile::LdsPanels<ROWS, COLS, 64>;
  CAPTURE(ROWS, COLS);
  for (const std::vector<int>& lanes : {std::vector<int>{0, 1, 2, 3, 12, 13, 14, 15, 20, 21, 22, 23, 24, 25, 26, 27},
                                        std::vector<int>{4, 5, 6, 7, 8, 9, 10, 11, 16, 17, 18, 19, 28, 29, 30, 31}})
    for (int first = 0; first < ROWS; first += 16)
      for (int chunk = 0; chunk < COLS / 8; chunk += 2)
        check_banks(lanes, 64, 16, [&](int lane) { return Panels::offset(first + lane % 16, chunk + lane / 16); });
}

lds_path::Layout mla(const char* arch, int rows, int block_n, int waves, int stages) {
  const Arch& a = *find_arch(arch);
  return {rows, 576, 512, block_n, waves, stages, 2, a.wave_size, a.family == Family::cdna4};
}

bool fits(const lds_path::Layout& layout, const char* arch) { return layout.bytes() <= find_arch(arch)->lds_bytes; }

}  // namespace

TEST_CASE("lds layout: every chunk has a place of its own") {
  check_panels<64, 576>();
  check_panels<64, 576, 64>();
  check_panels<96, 32, 64>();
  check_panels<48, 64>();
  check_panels<96, 32>();
  check_panels<32, 16>();
  check_panels<64, 256>();
}

TEST_CASE("lds layout: reading a chunk column touches every bank once") {
  check_chunk_columns<64, 576, 32>();
  check_chunk_columns<48, 64, 32>();
  check_chunk_columns<96, 32, 32>();
  check_chunk_columns<32, 16, 32>();
  check_chunk_columns<64, 576, 64>();
  check_chunk_columns<48, 64, 64>();
  check_chunk_columns<96, 32, 64>();
  check_mixed_lanes<64, 576>();
  check_mixed_lanes<96, 32>();
}

TEST_CASE("lds layout: transposed reads touch every bank once") {
  using Panels = tile::LdsPanels<64, 512, 64>;
  for (int key = 0; key < 64; key += key % 8 == 4 ? 12 : 4)  // 0, 4, 16, 20, ...: the other half is 8 keys further
    for (int column = 0; column < 512; column += 16)
      check_banks(from_to(0, 32), 64, 8, [&](int lane) {
        return Panels::offset(key + 8 * (lane / 16) + lane % 16 / 4, column / 8 + lane % 4 / 2) + lane % 2 * 8;
      });
}

TEST_CASE("lds layout: numerators are written without bank conflicts") {
  using Panels = tile::LdsPanels<96, 32, 64>;
  for (int row = 0; row < 96; row += 16)
    check_banks(from_to(0, 32), 64, 8, [&](int lane) { return Panels::offset(row + lane % 16, 0) + lane / 16 * 8; });
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

TEST_CASE("lds layout: two tiles of MLA on gfx950 leave room for a part of the query, the rest stays in registers") {
  CHECK(fits(mla("gfx950", 96, 32, 8, 2), "gfx950"));
  CHECK(mla("gfx950", 96, 32, 8, 2).query_lds_columns() == 384);
  CHECK(fits(mla("gfx950", 112, 32, 8, 2), "gfx950"));
  CHECK(mla("gfx950", 112, 32, 8, 2).query_lds_columns() == 320);
  CHECK(mla("gfx950", 48, 32, 8, 2).query_lds_columns() == 0);
  CHECK(mla("gfx950", 96, 32, 8, 1).query_lds_columns() == 576);
}

TEST_CASE("lds layout: MLA stages a cache row once, other heads K and V") {
  const lds_path::Layout one = mla("gfx950", 48, 32, 8, 1);
  CHECK(one.tile_bytes() == 32 * 576 * 2);
  const lds_path::Layout two{32, 128, 128, 64, 4, 1, 2, 64, true};
  CHECK(two.tile_bytes() == 64 * 256 * 2);
}

}  // namespace headtune
