#include "tuner/sim/runtime.h"

#include "tuner/sim/runtime_calls.h"

namespace headtune::sim {

void set_checks(bool races, bool uninitialised) {
  const std::lock_guard lock(State::get().mutex);
  State::get().options.check_races = races;
  State::get().options.check_uninitialised = uninitialised;
}

void configure(Options options) {
  const std::lock_guard lock(State::get().mutex);
  State::get().options = std::move(options);
}

const hip::Api& api() {
  static const hip::Api table = [] {
    hip::Api all;
    add_device_calls(all);
    add_code_calls(all);
    add_stream_calls(all);
    return all;
  }();
  return table;
}

int ordinal_of(const std::string& arch) {
  const auto models = device_models();
  for (std::size_t i = 0; i < models.size(); ++i) {
    if (is_arch(arch.c_str(), models[i].facts->name)) return static_cast<int>(i);
  }
  return -1;
}

void set_timing_only(bool on) {
  const std::lock_guard lock(State::get().mutex);
  State::get().timing_only = on;
}

const Estimate& last_estimate() { return device().last_estimate(); }
std::map<std::string, long long> take_counters() { return device().take_counters(); }

}  // namespace headtune::sim
