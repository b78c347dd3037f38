// Scalar loads. Addresses are rounded down to a dword.
#include "tuner/sim/ops/memory_address.h"
#include "tuner/sim/ops/memory_tables.h"

namespace headtune::sim::HEADTUNE_SIM_ISA {
namespace {

void record(Wave& wave, std::uint64_t address, std::uint32_t bytes) {
  Access& access = wave.access;
  access.space = Space::scalar;
  access.load = true;
  access.store = false;
  access.bytes = bytes;
  access.parts = 1;
  access.part_stride = 0;
  access.lanes = 1;
  access.address[0] = address;
}

/// Scalar register or immediate, plus the immediate that may follow a register. Immediates are signed.
std::uint64_t offset_of(const Wave& wave, const Inst& inst) {
  const Operand& operand = inst.op[2];
  const std::uint64_t first = operand.kind == Kind::scalar ? wave.s[operand.index] : operand.value;
  return first + static_cast<std::int64_t>(inst.offset);
}

template <int Words>
void load(Wave& wave, const Inst& inst) {
  const std::uint64_t address = (wave.pair(inst.op[1].index) + offset_of(wave, inst)) & ~std::uint64_t{3};
  record(wave, address, 4 * Words);
  const std::byte* from = wave.memory->access(address, 4 * Words, Use::load, -1);
  std::memcpy(&wave.s[inst.op[0].index], from, 4 * Words);
}

/// Dwords past the descriptor's end read 0.
template <int Words>
void load_buffer(Wave& wave, const Inst& inst) {
  const Buffer buffer = Buffer::of(wave, inst.op[1]);
  const std::uint64_t bytes = buffer.stride ? std::uint64_t{buffer.records} * buffer.stride : buffer.records;
  const std::uint64_t offset = static_cast<std::uint32_t>(offset_of(wave, inst)) & ~3u;
  const std::uint64_t address = (buffer.base & ~std::uint64_t{3}) + offset;
  record(wave, address, 4 * Words);
  std::uint32_t words[Words] = {};
  for (std::uint64_t word = 0; word < Words && offset + 4 * word + 4 <= bytes; ++word)
    std::memcpy(&words[word], wave.memory->access(address + 4 * word, 4, Use::load, -1), 4);
  std::memcpy(&wave.s[inst.op[0].index], words, sizeof words);
}

template <Handler H>
constexpr OpEntry entry(const char* name) {
  return {name, H, Class::smem, 1, 0, {}};
}

constexpr OpEntry kTable[] = {
    entry<load<1>>("s_load_dword"),
    entry<load<2>>("s_load_dwordx2"),
    entry<load<4>>("s_load_dwordx4"),
    entry<load<8>>("s_load_dwordx8"),
    entry<load<16>>("s_load_dwordx16"),
    entry<load_buffer<1>>("s_buffer_load_dword"),
    entry<load_buffer<2>>("s_buffer_load_dwordx2"),
    entry<load_buffer<4>>("s_buffer_load_dwordx4"),
    entry<load_buffer<8>>("s_buffer_load_dwordx8"),
    entry<load_buffer<16>>("s_buffer_load_dwordx16"),
};

}  // namespace

std::span<const OpEntry> scalar_memory_ops() { return kTable; }

}  // namespace headtune::sim::HEADTUNE_SIM_ISA
