// The parts of the cycle model, each against figures worked out by hand.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "tuner/sim/timing_memory.h"
#include "tuner/sim/timing_table.h"
#include "tuner/sim/timing_wave.h"

using namespace headtune::sim;

namespace {

Access contiguous(Space space, std::uint32_t bytes, std::uint64_t base = 0x10000) {
  Access access;
  access.space = space;
  access.load = true;
  access.bytes = bytes;
  access.lanes = ~std::uint64_t{0};
  for (int lane = 0; lane < kLanes; ++lane) access.address[lane] = base + static_cast<std::uint64_t>(lane) * bytes;
  return access;
}

Access strided(Space space, std::uint32_t bytes, std::uint64_t stride) {
  Access access = contiguous(space, bytes);
  for (int lane = 0; lane < kLanes; ++lane) access.address[lane] = static_cast<std::uint64_t>(lane) * stride;
  return access;
}

std::size_t line_count(const Access& access) {
  std::vector<std::uint64_t> lines;
  touched_lines(access, 128, lines);
  return lines.size();
}

}  // namespace

TEST_CASE("matrix instructions take the cycles of AMD's tables", "[sim]") {
  struct Row {
    Arch arch;
    const char* name;
    std::uint32_t cycles;
  };
  const Row row = GENERATE(Row{Arch::gfx90a, "v_mfma_f32_16x16x16bf16_1k", 32},   //
                           Row{Arch::gfx90a, "v_mfma_f32_32x32x8f16", 64},        //
                           Row{Arch::gfx90a, "v_mfma_f32_32x32x1f32", 64},        //
                           Row{Arch::gfx90a, "v_mfma_f32_16x16x4f32", 32},        //
                           Row{Arch::gfx90a, "v_mfma_f32_4x4x4f16", 8},           //
                           Row{Arch::gfx90a, "v_mfma_f32_16x16x8bf16", 32},       //
                           Row{Arch::gfx942, "v_mfma_f32_32x32x1_2b_f32", 64},    //
                           Row{Arch::gfx942, "v_mfma_f32_16x16x16_bf16", 16},     //
                           Row{Arch::gfx942, "v_mfma_f32_32x32x8_f16", 32},       //
                           Row{Arch::gfx942, "v_mfma_f32_16x16x32_fp8_fp8", 16},  //
                           Row{Arch::gfx950, "v_mfma_f32_16x16x32_bf16", 16},     //
                           Row{Arch::gfx950, "v_mfma_f32_32x32x16_f16", 32},      //
                           Row{Arch::gfx950, "v_mfma_f32_16x16x16_bf16", 16},     //
                           Row{Arch::gfx950, "v_mfma_f32_16x16x128_f8f6f4", 32});
  INFO(row.name);
  CHECK(mfma_cycles(row.name, cost_table(row.arch)) == row.cycles);
}

TEST_CASE("coalescing counts the lines that are touched", "[sim]") {
  CHECK(line_count(contiguous(Space::global, 4)) == 2);
  CHECK(line_count(contiguous(Space::global, 16)) == 8);
  CHECK(line_count(contiguous(Space::global, 16, 0x10040)) == 9);
  CHECK(line_count(strided(Space::global, 4, 4096)) == 64);
  CHECK(line_count(strided(Space::global, 4, 0)) == 1);
  Access few = contiguous(Space::global, 4);
  few.lanes = 0xf;
  CHECK(line_count(few) == 1);
}

TEST_CASE("a counter waits for all but the newest", "[sim]") {
  InOrderCounter counter(63);
  counter.add(100, 0);
  counter.add(50, 4);  // returns in order: not before the first
  counter.add(300, 8);
  CHECK(counter.wait(3, 10) == 10);
  CHECK(counter.wait(1, 10) == 100);
  CHECK(counter.wait(0, 10) == 300);
  CHECK(counter.wait(0, 400) == 400);
}

TEST_CASE("a full counter holds the wave back", "[sim]") {
  InOrderCounter counter(2);
  CHECK(counter.add(100, 0) == 0);
  CHECK(counter.add(200, 4) == 4);
  CHECK(counter.add(300, 8) == 100);
}

TEST_CASE("LDS bank conflicts", "[sim]") {
  const auto& device = device_model(Arch::gfx942);
  CuMemory memory(device, cost_table(Arch::gfx942), 304);
  std::uint32_t instruction = 0;
  const auto busy = [&](const Access& access) { return memory.lds_access(access, instruction++, 0).busy; };
  CHECK(busy(contiguous(Space::lds, 4)) == 2);
  CHECK(busy(contiguous(Space::lds, 8)) == 4);
  CHECK(busy(contiguous(Space::lds, 16)) == 8);
  CHECK(busy(strided(Space::lds, 4, 0)) == 2);     // all lanes read one word
  CHECK(busy(strided(Space::lds, 4, 8)) == 4);     // every second bank
  CHECK(busy(strided(Space::lds, 4, 128)) == 64);  // one bank
  CHECK(busy(strided(Space::lds, 4, 132)) == 2);   // padded
  CuMemory wide(device_model(Arch::gfx950), cost_table(Arch::gfx950), 256);
  CHECK(wide.lds_access(contiguous(Space::lds, 16), 0, 0).busy == 4);
}

TEST_CASE("loads straight into LDS take its write cycles", "[sim]") {
  const CuMemory memory(device_model(Arch::gfx950), cost_table(Arch::gfx950), 256);
  Access load = contiguous(Space::global, 16);
  CHECK(memory.lds_fill_cycles(load) == 0);
  load.to_lds = true;
  CHECK(memory.lds_fill_cycles(load) == 4);  // 1024 bytes over 64 banks of 4
  load.lanes = 0xff;
  CHECK(memory.lds_fill_cycles(load) == 1);
  Access bytes = contiguous(Space::global, 1);  // a dword in LDS each
  bytes.to_lds = true;
  CHECK(memory.lds_fill_cycles(bytes) == 1);
}

namespace {

/// Bytes per cycle that one CU gets when it streams through memory.
double stream_rate(Arch arch, std::uint64_t active_cus, std::uint32_t sharing_percent) {
  CuMemory memory(device_model(arch), cost_table(arch), active_cus, sharing_percent);
  const int loads = 4000;
  std::uint64_t ready = 0;
  for (int i = 0; i < loads; ++i) {
    ready = memory.vector_access(contiguous(Space::global, 16, 0x100000 + 1024u * static_cast<unsigned>(i)), 0).ready;
  }
  return loads * 1024.0 / static_cast<double>(ready);
}

}  // namespace

TEST_CASE("a stream of lines arrives at the CU's share of the bandwidth", "[sim]") {
  const auto& table = cost_table(Arch::gfx950);
  const double share = 8.0e12 * table.memory_efficiency_percent / 100 / 2.4e9 / 256;
  const double all_busy = stream_rate(Arch::gfx950, 256, 100);
  CHECK(all_busy > 0.98 * share);
  CHECK(all_busy <= share);
  CHECK(stream_rate(Arch::gfx950, 128, 100) > 1.9 * all_busy);
  CHECK(stream_rate(Arch::gfx950, 1, 100) < table.l1_bytes_per_cycle);
}

TEST_CASE("lines that two CUs read cost half of HBM, as far as the cache before it goes", "[sim]") {
  const double alone = stream_rate(Arch::gfx950, 256, 100), shared = stream_rate(Arch::gfx950, 256, 200);
  CHECK(shared > 1.9 * alone);
  CHECK(shared < 2.1 * alone);
  const double limit = cost_table(Arch::gfx950).llc_bytes_per_cycle;
  CHECK(stream_rate(Arch::gfx950, 256, 1600) > 0.95 * limit);
  CHECK(stream_rate(Arch::gfx950, 256, 1600) <= limit);
}

TEST_CASE("a line that is in the vector cache comes back sooner and moves nothing", "[sim]") {
  CuMemory memory(device_model(Arch::gfx942), cost_table(Arch::gfx942), 304);
  const auto& table = cost_table(Arch::gfx942);
  const auto cold = memory.vector_access(contiguous(Space::global, 4), 0);
  CHECK(cold.ready >= table.memory_latency);
  const auto warm = memory.vector_access(contiguous(Space::global, 4), 5000);
  CHECK(warm.ready == 5000 + table.l1_latency + 4);
  headtune::sim::Estimate counts;
  memory.count_into(counts);
  CHECK(counts.memory_lines == 2);
}
