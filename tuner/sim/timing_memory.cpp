#include "tuner/sim/timing_memory.h"

#include <algorithm>
#include <array>
#include <bit>

namespace headtune::sim {
namespace {

constexpr std::uint64_t ticks = 256;         ///< per cycle
constexpr std::uint32_t scalar_lines = 128;  ///< 16 KiB of scalar cache, shared by neighbouring CUs

/// A line from HBM, with `active` CUs at work. A line that several CUs read passes HBM once; the others find it in the
/// memory-side cache (gfx90a: in the one L2).
std::uint64_t memory_ticks_per_line(const DeviceModel& device, const CostTable& table, std::uint64_t active,
                                    std::uint64_t sharing_percent) {
  const auto& facts = *device.facts;
  // TB/s and GHz are stated with at most two decimals: integers keep the result the same on every computer.
  const auto mbytes_per_s = static_cast<std::uint64_t>(facts.hbm_tb_per_s * 1e6 + 0.5);
  const auto mhz = static_cast<std::uint64_t>(facts.clock_ghz * 1e3 + 0.5);
  const auto all = static_cast<std::uint64_t>(facts.cu_count);
  const std::uint64_t line = table.line_bytes * ticks;
  const std::uint64_t usable = mbytes_per_s * table.memory_efficiency_percent / 100;
  const std::uint64_t from_hbm = line * mhz * std::max<std::uint64_t>(active, 1) * 100 / (usable * sharing_percent);
  const std::uint64_t from_cache = line * std::min(active, all) / (all * table.llc_bytes_per_cycle);
  return std::max({from_hbm, from_cache, line / table.l1_bytes_per_cycle});
}

std::uint64_t l2_ticks_per_line(const DeviceModel& device, const CostTable& table, std::uint64_t active) {
  const auto all = static_cast<std::uint64_t>(device.facts->cu_count);
  const std::uint64_t share = table.line_bytes * ticks * std::min(active, all) / (all * table.l2_bytes_per_cycle);
  return std::max(share, table.line_bytes * ticks / table.l1_bytes_per_cycle);
}

}  // namespace

std::uint64_t Pipe::pass(std::uint64_t now) {
  free_at_ = std::max(free_at_, now * ticks) + ticks_per_line_;
  return free_at_ / ticks;
}

void touched_lines(const Access& access, std::uint32_t line_bytes, std::vector<std::uint64_t>& lines) {
  lines.clear();
  std::uint64_t last = ~std::uint64_t{0};
  for (std::uint64_t left = access.lanes; left != 0; left &= left - 1) {
    const std::uint64_t address = access.address[std::countr_zero(left)];
    for (std::uint32_t part = 0; part < access.parts; ++part) {
      const std::uint64_t begin = address + part * static_cast<std::uint64_t>(access.part_stride);
      const std::uint64_t end = (begin + std::max(access.bytes, 1u) - 1) / line_bytes;
      for (std::uint64_t line = begin / line_bytes; line <= end; ++line) {
        if (line != last) lines.push_back(line);
        last = line;
      }
    }
  }
  if (lines.size() > 1) {
    std::sort(lines.begin(), lines.end());
    lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  }
}

CuMemory::CuMemory(const DeviceModel& device, const CostTable& table, std::uint64_t active_cus,
                   std::uint32_t sharing_percent)
    : table_(table),
      banks_(static_cast<std::uint32_t>(device.facts->lds_banks)),
      l1_(table.l1_lines),
      l2_(table.l2_lines),
      scalar_(scalar_lines),
      l2_pipe_(l2_ticks_per_line(device, table, active_cus)),
      memory_pipe_(memory_ticks_per_line(device, table, active_cus, sharing_percent)) {}

/// A line from L2 or beyond.
std::uint64_t CuMemory::fetch(std::uint64_t line, std::uint64_t now) {
  const std::uint64_t at_l2 = l2_pipe_.pass(now);
  ++l2_lines_;
  auto& entry = l2_.slot(line);
  if (entry.line == line) return std::max(at_l2 + table_.l2_latency, entry.ready);
  ++memory_lines_;
  entry = {line, memory_pipe_.pass(at_l2) + table_.memory_latency};
  return entry.ready;
}

std::uint64_t CuMemory::load_line(std::uint64_t line, std::uint64_t now) {
  auto& entry = l1_.slot(line);
  if (entry.line != line) entry = {line, fetch(line, now)};
  return std::max(entry.ready, now + table_.l1_latency);
}

/// Stores go through to L2, which writes the line back once.
std::uint64_t CuMemory::store_line(std::uint64_t line, std::uint64_t now) {
  const std::uint64_t at_l2 = l2_pipe_.pass(now);
  ++l2_lines_;
  auto& entry = l2_.slot(line);
  if (entry.line != line) {
    ++memory_lines_;
    memory_pipe_.pass(at_l2);
    entry = {line, at_l2 + table_.l2_latency};
  }
  return at_l2 + table_.l2_latency;
}

CuMemory::Result CuMemory::vector_access(const Access& access, std::uint64_t now) {
  const std::uint64_t bytes = std::uint64_t{access.bytes} * access.parts * std::popcount(access.lanes);
  const std::uint64_t transfer = (bytes + table_.l1_bytes_per_cycle - 1) / table_.l1_bytes_per_cycle;
  if (access.space != Space::global) {
    // Scratch is swizzled so that lanes are neighbours, and stays in the vector cache.
    return {std::max<std::uint64_t>(table_.issue, transfer), now + transfer + table_.l1_latency};
  }
  Result result{table_.issue, now + table_.l1_latency};
  touched_lines(access, table_.line_bytes, lines_);
  const std::uint64_t per_line = table_.line_bytes / table_.l1_bytes_per_cycle;
  std::uint64_t at = now;
  for (std::uint64_t line : lines_) {
    at += per_line;
    const bool load_only = access.load && !access.store;
    result.ready = std::max(result.ready, load_only ? load_line(line, at) : store_line(line, at));
  }
  result.busy = std::max({result.busy, transfer, lines_.size() * per_line});
  return result;
}

/// Lanes are served in groups that could take the whole width at once; within a group a bank gives one word a cycle,
/// and lanes that read the same word share it.
std::uint32_t CuMemory::bank_cycles(const Access& access) const {
  const std::uint32_t words = std::max(1u, (access.bytes + 3) / 4);
  const std::uint32_t group = std::max(1u, banks_ / words);
  std::uint32_t cycles = 0;
  for (std::uint32_t part = 0; part < access.parts; ++part) {
    for (std::uint32_t first = 0; first < kLanes; first += group) {
      std::array<std::vector<std::uint64_t>, 64> in_bank;
      std::uint32_t most = 0;
      for (std::uint32_t lane = first; lane < std::min<std::uint32_t>(first + group, kLanes); ++lane) {
        if (!(access.lanes >> lane & 1)) continue;
        const std::uint64_t word = (access.address[lane] + part * static_cast<std::uint64_t>(access.part_stride)) / 4;
        for (std::uint64_t w = word; w < word + words; ++w) {
          auto& bank = in_bank[w % banks_];
          if (std::find(bank.begin(), bank.end(), w) == bank.end()) bank.push_back(w);
          most = std::max(most, static_cast<std::uint32_t>(bank.size()));
        }
      }
      cycles += most;
    }
  }
  return std::max(cycles, 1u);
}

CuMemory::Result CuMemory::lds_access(const Access& access, std::uint32_t instruction, std::uint64_t now) {
  if (access.space != Space::lds || access.lanes == 0) return {table_.issue, now + table_.lds_latency};
  if (patterns_.size() <= instruction) patterns_.resize(instruction + 1);
  Pattern& known = patterns_[instruction];
  // Moving all addresses together turns the banks around and changes nothing else.
  std::array<std::uint32_t, kLanes> relative{};
  const std::uint64_t base = access.address[std::countr_zero(access.lanes)];
  for (std::uint64_t left = access.lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    relative[static_cast<std::size_t>(lane)] = static_cast<std::uint32_t>(access.address[lane] - base);
  }
  if (known.cycles == 0 || known.lanes != access.lanes || known.relative != relative) {
    known = {access.lanes, relative, bank_cycles(access)};
  }
  const std::uint32_t ideal = std::max(
      1u, (access.bytes * access.parts * static_cast<std::uint32_t>(std::popcount(access.lanes)) + 4 * banks_ - 1) /
              (4 * banks_));
  if (known.cycles > ideal) conflict_cycles_ += known.cycles - ideal;
  return {known.cycles, now + known.cycles + table_.lds_latency};
}

std::uint64_t CuMemory::lds_fill_cycles(const Access& access) const {
  if (!access.to_lds) return 0;
  const std::uint32_t bytes = std::max(access.bytes, 4u) * static_cast<std::uint32_t>(std::popcount(access.lanes));
  return (bytes + 4 * banks_ - 1) / (4 * banks_);
}

std::uint64_t CuMemory::scalar_access(const Access& access, std::uint64_t now) {
  std::uint64_t ready = now + table_.smem_latency;
  if (access.space != Space::scalar && access.space != Space::global) return ready;
  touched_lines(access, table_.line_bytes, lines_);
  for (std::uint64_t line : lines_) {
    auto& entry = scalar_.slot(line);
    if (entry.line != line) entry = {line, fetch(line, now)};
    ready = std::max(ready, entry.ready);
  }
  return ready;
}

void CuMemory::count_into(Estimate& estimate) const {
  estimate.memory_lines = memory_lines_;
  estimate.l2_lines = l2_lines_;
  estimate.lds_conflict_cycles = conflict_cycles_;
}

}  // namespace headtune::sim
