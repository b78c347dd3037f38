#include "tuner/sim/stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "tuner/hip/api.h"

namespace headtune::sim {
namespace {

std::uint64_t address(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;  // clang 14 does not deduce it

/// The same fault with the kernel's name: timing runs later than the launch call that could name it.
[[noreturn]] void rethrow(const Fault& fault, const std::string& kernel) {
  Fault named(fmt::format("kernel {}, while it was timed: {}", kernel, fault.what()), fault.lane, fault.address);
  named.pc = fault.pc;
  named.text = fault.text;
  throw named;
}

}  // namespace

void SimDevice::copy(const Copy& copy) {
  if (copy.kind == hip::memcpy_host_to_device) {
    ++host_writes_;
    memory_.write(address(copy.to), copy.from, copy.bytes);
  } else if (copy.kind == hip::memcpy_device_to_host) {
    memory_.read(copy.to, address(copy.from), copy.bytes);
  } else if (copy.kind == hip::memcpy_device_to_device) {
    memory_.copy(address(copy.to), address(copy.from), copy.bytes);
  } else {
    std::memmove(copy.to, copy.from, copy.bytes);
  }
}

void SimDevice::execute(const Operation& operation, const GridOptions& options) {
  std::visit(Overloaded{[&](const Launch& launch) { run_grid(launch, memory_, options); },
                        [&](const Copy& what) { copy(what); },
                        [&](const Fill& fill) {
                          ++host_writes_;
                          memory_.fill(fill.to, fill.byte, fill.bytes);
                        }},
             operation);
}

double SimDevice::microseconds(const Operation& operation) {
  const double bytes_per_us = model_.facts->hbm_tb_per_s * 1e6;
  return std::visit(Overloaded{[&](const Launch& launch) { return launch_microseconds(launch); },
                               [&](const Copy& what) { return 2 * static_cast<double>(what.bytes) / bytes_per_us; },
                               [&](const Fill& fill) { return static_cast<double>(fill.bytes) / bytes_per_us; }},
                    operation);
}

/// Kernel arguments with every address of a live allocation replaced by its place in an allocation of that size.
std::string SimDevice::key_of(const Launch& launch) const {
  std::string key = fmt::format("{} {} {} {} {} {} ", launch.module, launch.kernel->name, fmt::join(launch.grid, ","),
                                fmt::join(launch.block, ","), launch.dynamic_lds, host_writes_);
  for (std::size_t at = 0; at < launch.kernarg.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, launch.kernarg.data() + at, std::min(sizeof word, launch.kernarg.size() - at));
    const Block* block = memory_.block_at(word);
    if (block && !block->freed && word >= block->base && word - block->base < block->bytes) {
      key += fmt::format("{}@{} ", block->bytes, word - block->base);
    } else {
      key += fmt::format("{:x} ", word);
    }
  }
  return key;
}

double SimDevice::launch_microseconds(const Launch& launch) {
  const std::string key = key_of(launch);
  auto found = estimates_.find(key);
  if (found == estimates_.end()) {
    try {
      found = estimates_.emplace(key, estimate(launch, memory_, model_)).first;
    } catch (const Fault& fault) {
      rethrow(fault, launch.kernel->name);
    }
  }
  last_estimate_ = found->second;
  for (const auto& [name, count] : counters_of(last_estimate_)) counters_[name] += count;
  return last_estimate_.microseconds;
}

void SimStream::submit(SimDevice& device, Operation operation, const GridOptions& options, bool compute) {
  if (captured_) {
    captured_->push_back(std::move(operation));
    return;
  }
  if (compute || !std::holds_alternative<Launch>(operation)) device.execute(operation, options);
  if (timed_) untimed_.push_back(std::move(operation));
}

double SimStream::time(SimDevice& device) {
  for (const Operation& operation : std::exchange(untimed_, {})) microseconds_ += device.microseconds(operation);
  timed_ = true;
  return microseconds_;
}

std::vector<Operation> SimStream::end_capture() {
  std::vector<Operation> operations = std::move(*captured_);
  captured_.reset();
  return operations;
}

}  // namespace headtune::sim
