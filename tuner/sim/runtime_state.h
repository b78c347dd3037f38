// What the simulated runtime keeps between calls. Handles are addresses of these objects.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tuner/sim/runtime.h"
#include "tuner/sim/stream.h"

namespace headtune::sim {

struct SimModule;

struct SimFunction {
  SimModule* module = nullptr;
  const Kernel* kernel = nullptr;
};

struct SimModule {
  std::shared_ptr<Program> program;
  std::uint64_t number = 0;
  Memory* memory = nullptr;
  std::map<std::string, SimFunction> functions;
};

struct SimGraph {
  std::vector<Operation> operations;
};

struct SimEvent {
  std::optional<double> microseconds;
};

struct State {
  std::mutex mutex;
  Options options;
  bool timing_only = false;
  std::uint64_t modules_loaded = 0;
  std::string running_kernel;  ///< for fault messages
  std::vector<std::unique_ptr<SimDevice>> devices;
  std::vector<SimStream> null_streams;

  State() : null_streams(device_models().size()) {
    for (const DeviceModel& model : device_models()) devices.push_back(std::make_unique<SimDevice>(model));
  }

  static State& get() {
    static State state;
    return state;
  }
};

}  // namespace headtune::sim
