// Vector memory loads and stores: global, flat, scratch and buffer, also from memory straight into LDS.
#include <vector>

#include "tuner/sim/ops/memory_address.h"
#include "tuner/sim/ops/memory_tables.h"

namespace headtune::sim::HEADTUNE_SIM_ISA {
namespace {

using Point = void (*)(Wave&, const Inst&, const Request&, Pointers&);

// --- data of one lane -----------------------------------------------------------------------------------------------

/// What a narrow load or store does with the register.
enum class Narrow : std::uint8_t { u8, i8, u16, i16, u8_low, i8_low, u16_low, u8_high, i8_high, u16_high };

constexpr std::uint32_t bytes_of(Narrow kind) {
  return kind == Narrow::u16 || kind == Narrow::i16 || kind == Narrow::u16_low || kind == Narrow::u16_high ? 2 : 1;
}
constexpr bool is_signed(Narrow kind) {
  return kind == Narrow::i8 || kind == Narrow::i16 || kind == Narrow::i8_low || kind == Narrow::i8_high;
}
constexpr bool is_low(Narrow kind) {
  return kind == Narrow::u8_low || kind == Narrow::i8_low || kind == Narrow::u16_low;
}
constexpr bool is_high(Narrow kind) {
  return kind == Narrow::u8_high || kind == Narrow::i8_high || kind == Narrow::u16_high;
}

template <Narrow Kind>
std::uint32_t widened(const std::byte* from) {
  if constexpr (bytes_of(Kind) == 1) {
    const auto value = static_cast<std::uint8_t>(*from);
    return is_signed(Kind) ? static_cast<std::uint32_t>(static_cast<std::int8_t>(value)) : value;
  } else {
    std::uint16_t value;
    std::memcpy(&value, from, 2);
    return is_signed(Kind) ? static_cast<std::uint32_t>(static_cast<std::int16_t>(value)) : value;
  }
}

template <Narrow Kind>
void load_narrow(Wave& wave, int index, const Pointers& from) {
  for_lanes(from.active, [&](int lane) {
    const std::uint32_t value = widened<Kind>(from.lane[lane]);
    std::uint32_t& to = wave.v[index][lane];
    if constexpr (is_low(Kind))
      to = (to & 0xffff0000) | (value & 0xffff);
    else if constexpr (is_high(Kind))
      to = (to & 0xffff) | value << 16;
    else
      to = value;
  });
}

template <int Words>
void load_words(Wave& wave, int index, const Pointers& from) {
  for_lanes(from.active, [&](int lane) {
    std::uint32_t word[Words];
    std::memcpy(word, from.lane[lane], sizeof word);
    for (int part = 0; part < Words; ++part) wave.v[index + part][lane] = word[part];
  });
}

template <int Words>
void store_words(const Wave& wave, int index, const Pointers& to) {
  for_lanes(to.active, [&](int lane) {
    std::uint32_t word[Words];
    for (int part = 0; part < Words; ++part) word[part] = wave.v[index + part][lane];
    std::memcpy(to.lane[lane], word, sizeof word);
  });
}

template <int Bytes, int Shift>
void store_narrow(const Wave& wave, int index, const Pointers& to) {
  for_lanes(to.active, [&](int lane) {
    const std::uint32_t value = wave.v[index][lane] >> Shift;
    std::memcpy(to.lane[lane], &value, Bytes);
  });
}

// --- handlers -------------------------------------------------------------------------------------------------------

using Load = void (*)(Wave&, int, const Pointers&);
using Store = void (*)(const Wave&, int, const Pointers&);

template <Point P, std::uint32_t Bytes, Load L>
void load(Wave& wave, const Inst& inst) {
  Pointers from;
  P(wave, inst, {Use::load, Bytes, 1, 1}, from);
  L(wave, inst.op[0].index, from);
}

/// Buffers name the data first, the others the address.
template <Point P, std::uint32_t Bytes, Store S>
void store(Wave& wave, const Inst& inst) {
  constexpr int address = P == point_buffer ? 1 : 0;
  Pointers to;
  P(wave, inst, {Use::store, Bytes, 1, address}, to);
  S(wave, inst.op[1 - address].index, to);
  finish_store(to, Bytes);
}

/// Memory to LDS: lane l writes whole dwords at M0 + offset + l * size, once the wave has waited for them.
template <Point P, std::uint32_t Bytes, Narrow Kind, bool IsNarrow>
void load_to_lds(Wave& wave, const Inst& inst) {
  constexpr std::uint32_t written = Bytes < 4 ? 4 : Bytes;
  Pointers from;
  P(wave, inst, {Use::load, Bytes, 1, 0}, from);
  wave.access.to_lds = true;
  LdsLoad& load = wave.lds_loads.emplace_back();
  load.number = wave.vector_memory_issued;
  load.lanes = from.active;
  load.base = wave.s[sreg::m0] + static_cast<std::uint32_t>(inst.offset);
  load.words = written / 4;
  for_lanes(from.active, [&](int lane) {
    const std::uint32_t offset = load.base + written * lane;
    wave.lds->require(offset, written, 4, lane);
    if constexpr (IsNarrow)
      load.data[lane][0] = widened<Kind>(from.lane[lane]);
    else
      std::memcpy(load.data[lane], from.lane[lane], Bytes);
    wave.lds->note(offset, written, Use::store, wave.wave_in_group, lane, load.data[lane]);
  });
}

template <std::uint32_t Bytes, Load L, Narrow Kind, bool IsNarrow>
void load_buffer(Wave& wave, const Inst& inst) {
  if (inst.lds)
    load_to_lds<point_buffer, Bytes, Kind, IsNarrow>(wave, inst);
  else
    load<point_buffer, Bytes, L>(wave, inst);
}

void nothing(Wave&, const Inst&) {}

// --- tables ---------------------------------------------------------------------------------------------------------

struct Names {
  const char *global, *flat, *scratch, *buffer;
};

using Table = std::vector<OpEntry>;

template <std::uint32_t Bytes, Load L, Narrow Kind, bool IsNarrow>
void add_load(Table& table, const Names& names, std::uint16_t flags) {
  table.push_back({names.global, load<point_global, Bytes, L>, Class::vmem_load, 1, flags, {}});
  table.push_back({names.flat, load<point_flat, Bytes, L>, Class::vmem_load, 1, flags, {}});
  table.push_back({names.scratch, load<point_scratch, Bytes, L>, Class::vmem_load, 1, flags, {}});
  table.push_back({names.buffer, load_buffer<Bytes, L, Kind, IsNarrow>, Class::vmem_load, 1, flags, {}});
}

template <int Words>
void add_words(Table& table, const Names& names) {
  add_load<4 * Words, load_words<Words>, Narrow::u8, false>(table, names, 0);
}

template <Narrow Kind>
void add_narrow(Table& table, const Names& names) {
  add_load<bytes_of(Kind), load_narrow<Kind>, Kind, true>(table, names, is_low(Kind) || is_high(Kind) ? keeps_high : 0);
}

template <std::uint32_t Bytes, Store S>
void add_store(Table& table, const Names& names) {
  table.push_back({names.global, store<point_global, Bytes, S>, Class::vmem_store, 0, 0, {}});
  table.push_back({names.flat, store<point_flat, Bytes, S>, Class::vmem_store, 0, 0, {}});
  table.push_back({names.scratch, store<point_scratch, Bytes, S>, Class::vmem_store, 0, 0, {}});
  table.push_back({names.buffer, store<point_buffer, Bytes, S>, Class::vmem_store, 0, 0, {}});
}

template <Point P, std::uint32_t Bytes, Narrow Kind, bool IsNarrow>
constexpr OpEntry to_lds(const char* name) {
  return {name, load_to_lds<P, Bytes, Kind, IsNarrow>, Class::vmem_load, 0, reads_m0, {}};
}

#define HEADTUNE_SIM_NAMES(suffix) \
  Names { "global_" suffix, "flat_" suffix, "scratch_" suffix, "buffer_" suffix }

void add_loads(Table& table) {
  add_words<1>(table, HEADTUNE_SIM_NAMES("load_dword"));
  add_words<2>(table, HEADTUNE_SIM_NAMES("load_dwordx2"));
  add_words<3>(table, HEADTUNE_SIM_NAMES("load_dwordx3"));
  add_words<4>(table, HEADTUNE_SIM_NAMES("load_dwordx4"));
  add_narrow<Narrow::u8>(table, HEADTUNE_SIM_NAMES("load_ubyte"));
  add_narrow<Narrow::i8>(table, HEADTUNE_SIM_NAMES("load_sbyte"));
  add_narrow<Narrow::u16>(table, HEADTUNE_SIM_NAMES("load_ushort"));
  add_narrow<Narrow::i16>(table, HEADTUNE_SIM_NAMES("load_sshort"));
  add_narrow<Narrow::u8_low>(table, HEADTUNE_SIM_NAMES("load_ubyte_d16"));
  add_narrow<Narrow::u8_high>(table, HEADTUNE_SIM_NAMES("load_ubyte_d16_hi"));
  add_narrow<Narrow::i8_low>(table, HEADTUNE_SIM_NAMES("load_sbyte_d16"));
  add_narrow<Narrow::i8_high>(table, HEADTUNE_SIM_NAMES("load_sbyte_d16_hi"));
  add_narrow<Narrow::u16_low>(table, HEADTUNE_SIM_NAMES("load_short_d16"));
  add_narrow<Narrow::u16_high>(table, HEADTUNE_SIM_NAMES("load_short_d16_hi"));
}

void add_stores(Table& table) {
  add_store<4, store_words<1>>(table, HEADTUNE_SIM_NAMES("store_dword"));
  add_store<8, store_words<2>>(table, HEADTUNE_SIM_NAMES("store_dwordx2"));
  add_store<12, store_words<3>>(table, HEADTUNE_SIM_NAMES("store_dwordx3"));
  add_store<16, store_words<4>>(table, HEADTUNE_SIM_NAMES("store_dwordx4"));
  add_store<1, store_narrow<1, 0>>(table, HEADTUNE_SIM_NAMES("store_byte"));
  add_store<2, store_narrow<2, 0>>(table, HEADTUNE_SIM_NAMES("store_short"));
  add_store<1, store_narrow<1, 16>>(table, HEADTUNE_SIM_NAMES("store_byte_d16_hi"));
  add_store<2, store_narrow<2, 16>>(table, HEADTUNE_SIM_NAMES("store_short_d16_hi"));
}

#undef HEADTUNE_SIM_NAMES

constexpr OpEntry kToLds[] = {
    to_lds<point_global, 1, Narrow::u8, true>("global_load_lds_ubyte"),
    to_lds<point_global, 1, Narrow::i8, true>("global_load_lds_sbyte"),
    to_lds<point_global, 2, Narrow::u16, true>("global_load_lds_ushort"),
    to_lds<point_global, 2, Narrow::i16, true>("global_load_lds_sshort"),
    to_lds<point_global, 4, Narrow::u8, false>("global_load_lds_dword"),
    to_lds<point_global, 12, Narrow::u8, false>("global_load_lds_dwordx3"),
    to_lds<point_global, 16, Narrow::u8, false>("global_load_lds_dwordx4"),
    to_lds<point_scratch, 1, Narrow::u8, true>("scratch_load_lds_ubyte"),
    to_lds<point_scratch, 1, Narrow::i8, true>("scratch_load_lds_sbyte"),
    to_lds<point_scratch, 2, Narrow::u16, true>("scratch_load_lds_ushort"),
    to_lds<point_scratch, 2, Narrow::i16, true>("scratch_load_lds_sshort"),
    to_lds<point_scratch, 4, Narrow::u8, false>("scratch_load_lds_dword"),
};

/// Caches are not modelled, so there is nothing to write back or to invalidate.
constexpr OpEntry kCacheControl[] = {
    {"buffer_wbl2", nothing, Class::other, 0, 0, {}},        {"buffer_inv", nothing, Class::other, 0, 0, {}},
    {"buffer_invl2", nothing, Class::other, 0, 0, {}},       {"buffer_wbinvl1", nothing, Class::other, 0, 0, {}},
    {"buffer_wbinvl1_vol", nothing, Class::other, 0, 0, {}}, {"s_dcache_inv", nothing, Class::other, 0, 0, {}},
    {"s_dcache_inv_vol", nothing, Class::other, 0, 0, {}},   {"s_dcache_wb", nothing, Class::other, 0, 0, {}},
    {"s_dcache_wb_vol", nothing, Class::other, 0, 0, {}},
};

void append(Table& table, std::span<const OpEntry> more) { table.insert(table.end(), more.begin(), more.end()); }

Table all() {
  Table table;
  add_loads(table);
  add_stores(table);
  append(table, kToLds);
  append(table, kCacheControl);
  append(table, atomic_ops());
  append(table, scalar_memory_ops());
  return table;
}

}  // namespace

std::span<const OpEntry> memory_ops() {
  static const Table table = all();
  return table;
}

}  // namespace headtune::sim::HEADTUNE_SIM_ISA
