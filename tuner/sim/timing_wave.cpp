#include "tuner/sim/timing_wave.h"

#include <algorithm>

namespace headtune::sim {
namespace {

bool in_operand(const Operand& operand, std::uint16_t reg) {
  return operand.kind == Kind::vector && reg >= operand.index && reg < operand.index + operand.words;
}

/// SrcC of a matrix instruction is its last register operand.
bool is_accumulator(const Inst& inst, std::uint16_t reg) {
  return inst.klass == Class::mfma && inst.count >= 4 && in_operand(inst.op[3], reg) && !in_operand(inst.op[1], reg) &&
         !in_operand(inst.op[2], reg);
}

}  // namespace

std::uint64_t InOrderCounter::add(std::uint64_t ready, std::uint64_t now) {
  std::uint64_t until = now;
  if (done_at_.size() == most_) until = wait(most_ - 1, now);
  last_ = std::max(last_, ready);
  done_at_.push_back(last_);
  return until;
}

std::uint64_t InOrderCounter::wait(std::size_t count, std::uint64_t now) {
  while (done_at_.size() > count) {
    now = std::max(now, done_at_.front());
    done_at_.pop_front();
  }
  return now;
}

std::uint64_t WaveTiming::earliest(const Inst& inst, const Cost& cost) const {
  std::uint64_t at = next_issue_;
  for (std::uint16_t reg : inst.reads) {
    const bool accumulates = cost.accumulate_latency != 0 && reg < kScalarRegister && is_accumulator(inst, reg);
    at = std::max(at, accumulates ? accumulate_ready_[reg] : ready_[reg]);
  }
  for (std::uint16_t reg : inst.writes) {
    const bool accumulates = cost.accumulate_latency != 0 && reg < kScalarRegister;
    at = std::max(at, accumulates ? accumulate_ready_[reg] : ready_[reg]);
  }
  return at;
}

void WaveTiming::issued(const Inst& inst, const Cost& cost, std::uint64_t now) {
  next_issue_ = std::max(next_issue_, now + cost.next);
  if (cost.latency == 0) return;
  for (std::uint16_t reg : inst.writes) {
    ready_[reg] = now + cost.latency;
    if (reg < kScalarRegister) {
      accumulate_ready_[reg] = now + (cost.accumulate_latency ? cost.accumulate_latency : cost.latency);
    }
  }
}

}  // namespace headtune::sim
