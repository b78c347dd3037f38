// LDS loads and stores. Offsets are bytes in the workgroup's allocation.
#include <algorithm>
#include <vector>

#include "tuner/sim/ops/lds_address.h"
#include "tuner/sim/ops/lds_tables.h"

namespace headtune::sim::HEADTUNE_SIM_ISA {
namespace {

// --- whole words ----------------------------------------------------------------------------------------------------

template <int Words>
void read_at(Wave& wave, int index, const LdsLanes& from) {
  for_lanes(from.active, [&](int lane) {
    std::uint32_t word[Words];
    std::memcpy(word, from.data + from.offset[lane], sizeof word);
    for (int part = 0; part < Words; ++part) wave.v[index + part][lane] = word[part];
  });
}

template <int Words>
void write_at(Wave& wave, int index, const LdsLanes& to) {
  for_lanes(to.active, [&](int lane) {
    std::uint32_t word[Words];
    for (int part = 0; part < Words; ++part) word[part] = wave.v[index + part][lane];
    store_lds(wave, to, lane, word, sizeof word);
  });
}

template <int Words>
void read(Wave& wave, const Inst& inst) {
  LdsLanes lanes;
  point_lds(wave, inst, {Use::load, 4 * Words, 4, 1}, inst.offset, lanes);
  read_at<Words>(wave, inst.op[0].index, lanes);
}

template <int Words>
void write(Wave& wave, const Inst& inst) {
  LdsLanes lanes;
  point_lds(wave, inst, {Use::store, 4 * Words, 4, 0}, inst.offset, lanes);
  write_at<Words>(wave, inst.op[1].index, lanes);
}

// --- two places at once ---------------------------------------------------------------------------------------------

/// Both offset fields count elements, or 64 elements each.
template <int Words, int Unit>
void point_two(Wave& wave, const Inst& inst, const Request& request, LdsLanes& first, LdsLanes& second) {
  constexpr int scale = 4 * Words * Unit;
  point_lds(wave, inst, request, inst.offset1 * scale, second);
  point_lds(wave, inst, request, inst.offset * scale, first);
  wave.access.parts = 2;
  wave.access.part_stride = (inst.offset1 - inst.offset) * scale;
}

template <int Words, int Unit>
void read2(Wave& wave, const Inst& inst) {
  LdsLanes first, second;
  point_two<Words, Unit>(wave, inst, {Use::load, 4 * Words, 4, 1}, first, second);
  read_at<Words>(wave, inst.op[0].index, first);
  read_at<Words>(wave, inst.op[0].index + Words, second);
}

template <int Words, int Unit>
void write2(Wave& wave, const Inst& inst) {
  LdsLanes first, second;
  point_two<Words, Unit>(wave, inst, {Use::store, 4 * Words, 4, 0}, first, second);
  write_at<Words>(wave, inst.op[1].index, first);
  write_at<Words>(wave, inst.op[2].index, second);
}

// --- bytes and halves -----------------------------------------------------------------------------------------------

enum class Half : std::uint8_t { whole, low, high };  ///< which part of the register a narrow read replaces

template <class T, Half Into>
void read_narrow(Wave& wave, const Inst& inst) {
  LdsLanes lanes;
  point_lds(wave, inst, {Use::load, sizeof(T), sizeof(T), 1}, inst.offset, lanes);
  for_lanes(lanes.active, [&](int lane) {
    T narrow;
    std::memcpy(&narrow, lanes.data + lanes.offset[lane], sizeof narrow);
    const auto value = static_cast<std::uint32_t>(static_cast<std::int32_t>(narrow));
    std::uint32_t& to = wave.v[inst.op[0].index][lane];
    to = Into == Half::whole ? value
         : Into == Half::low ? (to & 0xffff0000) | (value & 0xffff)
                             : (to & 0xffff) | value << 16;
  });
}

template <int Bytes, int Shift>
void write_narrow(Wave& wave, const Inst& inst) {
  LdsLanes lanes;
  point_lds(wave, inst, {Use::store, Bytes, Bytes, 0}, inst.offset, lanes);
  for_lanes(lanes.active, [&](int lane) {
    const std::uint32_t value = wave.v[inst.op[1].index][lane] >> Shift;
    store_lds(wave, lanes, lane, &value, Bytes);
  });
}

// --- addressed by lane number ---------------------------------------------------------------------------------------

void read_addtid(Wave& wave, const Inst& inst) {
  LdsLanes lanes;
  point_lds_by_lane(wave, {Use::load, 4, 4, 0}, wave.s[sreg::m0] + inst.offset, lanes);
  read_at<1>(wave, inst.op[0].index, lanes);
}

void write_addtid(Wave& wave, const Inst& inst) {
  LdsLanes lanes;
  point_lds_by_lane(wave, {Use::store, 4, 4, 0}, wave.s[sreg::m0] + inst.offset, lanes);
  write_at<1>(wave, inst.op[0].index, lanes);
}

// --- transposed reads (gfx950) --------------------------------------------------------------------------------------

/// Each group of 16 lanes reads a matrix of 16 columns, `Bits` per element, row by row: a row takes 16 * Bits / PerLane
/// lanes. Lane c receives column c.
template <int Bits, int PerLane>
void read_transposed(Wave& wave, const Inst& inst) {
  constexpr int words = PerLane / 32, elements = PerLane / Bits, lanes_per_row = 16 / elements;
  LdsLanes lanes;
  point_lds(wave, inst, {Use::load, PerLane / 8, words == 3 ? 4 : 8, 1}, inst.offset, lanes);
  std::uint32_t source[kLanes][words + 1] = {};
  for_lanes(lanes.active, [&](int lane) { std::memcpy(source[lane], lanes.data + lanes.offset[lane], 4 * words); });
  for_lanes(lanes.active, [&](int lane) {
    std::uint32_t result[words + 1] = {};
    for (int row = 0; row < elements; ++row) {
      const int column = lane % 16;
      const std::uint32_t* from = source[lane / 16 * 16 + row * lanes_per_row + column / elements];
      const int bit = column % elements * Bits, to = row * Bits;
      const std::uint64_t pair = std::uint64_t{from[bit / 32 + 1]} << 32 | from[bit / 32];
      const std::uint64_t value = (pair >> (bit % 32) & ((1u << Bits) - 1)) << (to % 32);
      result[to / 32] |= static_cast<std::uint32_t>(value);
      result[to / 32 + 1] |= static_cast<std::uint32_t>(value >> 32);
    }
    for (int word = 0; word < words; ++word) wave.v[inst.op[0].index + word][lane] = result[word];
  });
}

// --- tables ---------------------------------------------------------------------------------------------------------

template <Handler H>
constexpr OpEntry load(const char* name, std::uint16_t flags = 0) {
  return {name, H, Class::lds, 1, flags, {}};
}

template <Handler H>
constexpr OpEntry store(const char* name, std::uint16_t flags = 0) {
  return {name, H, Class::lds, 0, flags, {}};
}

using U8 = std::uint8_t;
using I8 = std::int8_t;
using U16 = std::uint16_t;
using I16 = std::int16_t;

constexpr OpEntry kTable[] = {
    load<read<1>>("ds_read_b32"),
    load<read<2>>("ds_read_b64"),
    load<read<3>>("ds_read_b96"),
    load<read<4>>("ds_read_b128"),
    load<read2<1, 1>>("ds_read2_b32"),
    load<read2<2, 1>>("ds_read2_b64"),
    load<read2<1, 64>>("ds_read2st64_b32"),
    load<read2<2, 64>>("ds_read2st64_b64"),
    load<read_narrow<U8, Half::whole>>("ds_read_u8"),
    load<read_narrow<I8, Half::whole>>("ds_read_i8"),
    load<read_narrow<U16, Half::whole>>("ds_read_u16"),
    load<read_narrow<I16, Half::whole>>("ds_read_i16"),
    load<read_narrow<U8, Half::low>>("ds_read_u8_d16", keeps_high),
    load<read_narrow<I8, Half::low>>("ds_read_i8_d16", keeps_high),
    load<read_narrow<U16, Half::low>>("ds_read_u16_d16", keeps_high),
    load<read_narrow<U8, Half::high>>("ds_read_u8_d16_hi", keeps_high),
    load<read_narrow<I8, Half::high>>("ds_read_i8_d16_hi", keeps_high),
    load<read_narrow<U16, Half::high>>("ds_read_u16_d16_hi", keeps_high),
    load<read_addtid>("ds_read_addtid_b32", reads_m0),
    load<read_transposed<16, 64>>("ds_read_b64_tr_b16"),
    load<read_transposed<8, 64>>("ds_read_b64_tr_b8"),
    load<read_transposed<4, 64>>("ds_read_b64_tr_b4"),
    load<read_transposed<6, 96>>("ds_read_b96_tr_b6"),
    store<write<1>>("ds_write_b32"),
    store<write<2>>("ds_write_b64"),
    store<write<3>>("ds_write_b96"),
    store<write<4>>("ds_write_b128"),
    store<write2<1, 1>>("ds_write2_b32"),
    store<write2<2, 1>>("ds_write2_b64"),
    store<write2<1, 64>>("ds_write2st64_b32"),
    store<write2<2, 64>>("ds_write2st64_b64"),
    store<write_narrow<1, 0>>("ds_write_b8"),
    store<write_narrow<2, 0>>("ds_write_b16"),
    store<write_narrow<1, 16>>("ds_write_b8_d16_hi"),
    store<write_narrow<2, 16>>("ds_write_b16_d16_hi"),
    store<write_addtid>("ds_write_addtid_b32", reads_m0),
};

std::vector<OpEntry> all() {
  std::vector<OpEntry> table(std::begin(kTable), std::end(kTable));
  for (const std::span<const OpEntry> more : {lds_atomic_ops(), lds_permute_ops()})
    table.insert(table.end(), more.begin(), more.end());
  return table;
}

}  // namespace

std::span<const OpEntry> lds_ops() {
  static const std::vector<OpEntry> table = all();
  return table;
}

}  // namespace headtune::sim::HEADTUNE_SIM_ISA
