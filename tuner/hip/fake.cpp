#include "tuner/hip/fake.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <utility>

#include "tuner/error.h"
#include "tuner/hip/fake_kernel.h"
#include "tuner/hip/fake_script.h"

namespace headtune::hip {
namespace {

/// One operation of a stream or graph. Launches have time and, outside graphs, work; copies have work only.
struct Operation {
  double kernel_us = 0;
  std::function<void()> work = {};
};

struct FakeGraph {
  std::vector<Operation> operations;
};
struct FakeStream {
  FakeGraph* capture = nullptr;
};
struct FakeEvent {
  double us = -1;  ///< simulated time; < 0: never recorded
};
struct FakeModule {
  Constants constants;
  FakeVariant variant;
  mutable bool logged = false;
};
struct FakeFunction {
  const FakeModule* module;
  std::string name;
};

struct State {
  FakeScript script;
  std::mt19937_64 random;
  double now_us = 0;
  long submissions = 0;
  bool timing_only = false;
  Error sticky = success;  ///< a fault poisons the context until the process ends, as on a real device
  std::map<void*, std::size_t> allocations;
  std::size_t allocated = 0;
  std::map<FakeModule*, std::map<std::string, FakeFunction>> modules;
};
State state;

template <class Object>
Object* as(void* handle) {
  return static_cast<Object*>(handle);
}

double draw(double spread) { return spread > 0 ? std::normal_distribution<double>(0, spread)(state.random) : 0; }

double clock_now() {
  const FakeScript& script = state.script;
  const long length = std::max(1, script.clock_submissions);
  const long at = script.clock_repeats ? state.submissions % length : std::min(state.submissions, length);
  const double progress = double(at) / double(length);
  return script.clock_from + (script.clock_to - script.clock_from) * progress;
}

/// Advances simulated time by one submission: idle gap, then the kernels at the present clock.
void take_time(double kernel_us) {
  const FakeScript& script = state.script;
  state.now_us += std::max(0.0, script.gap_us * (1 + draw(script.gap_noise)));
  state.now_us += kernel_us / clock_now() * std::max(0.1, 1 + draw(script.noise));
  ++state.submissions;
}

[[noreturn]] void hang() {
  for (;;) pause();
}

void act_out(const std::string& fault) {
  if (fault == "illegal_address") state.sticky = error_illegal_address;
  if (fault == "segv") std::raise(SIGSEGV);
  if (fault == "abort") std::abort();
  if (fault == "hang") hang();
}

bool is_stage2(const FakeFunction& function) { return function.name.find("stage2") != std::string::npos; }

double kernel_us(const FakeFunction& function, const VerifyParams& params) {
  const FakeVariant& variant = function.module->variant;
  if (is_stage2(function)) return variant.stage2_us;
  const auto exact = variant.times.find(fmt::format("{}x{}", params.batch, longest_context(params)));
  const double splitting_us = variant.us_per_split * params.num_splits;
  if (exact != variant.times.end()) return exact->second + splitting_us;
  return variant.time_us + variant.us_per_kkey * total_keys(params) / 1024 + splitting_us;
}

/// Whether the output is complete after this kernel.
bool writes_output(const FakeFunction& function) {
  const Constants& constants = function.module->constants;
  const auto fused = constants.find("FUSE_COMBINE");
  return function.name.find("stage1") == std::string::npos || (fused != constants.end() && fused->second != 0);
}

/// Appended in one write, so that processes can share the file.
void log_execution(const FakeModule& module) {
  if (state.script.log.empty() || state.timing_only || std::exchange(module.logged, true)) return;
  std::string line = std::to_string(getpid());
  for (const auto& [name, value] : module.constants) line += fmt::format(" {}={}", name, value);
  std::ofstream(state.script.log, std::ios::app) << line + "\n" << std::flush;
}

void compute(const FakeFunction& function, const VerifyParams& params) {
  log_execution(*function.module);
  act_out(function.module->variant.fault);
  if (!state.timing_only && writes_output(function) && state.sticky == success)
    write_attention(params, function.module->constants, function.module->variant);
}

Error submit(Stream stream, Operation operation) {
  if (stream && as<FakeStream>(stream)->capture) {
    as<FakeStream>(stream)->capture->operations.push_back(std::move(operation));
    return success;
  }
  if (operation.work) operation.work();
  if (operation.kernel_us > 0) take_time(operation.kernel_us);
  return state.sticky;
}

Error launch(Function handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream stream,
             void** arguments, void**) {
  const FakeFunction& function = *as<FakeFunction>(handle);
  const VerifyParams params = *static_cast<const VerifyParams*>(arguments[0]);
  Operation operation{.kernel_us = kernel_us(function, params)};
  if (!(stream && as<FakeStream>(stream)->capture)) operation.work = [&] { compute(function, params); };
  return submit(stream, std::move(operation));
}

Error replay(GraphExec exec, Stream) {
  double us = 0;
  for (const Operation& operation : as<FakeGraph>(exec)->operations) {
    if (operation.work) operation.work();
    us += operation.kernel_us;
  }
  if (us > 0) take_time(us);
  return state.sticky;
}

Error allocate(DevicePtr* pointer, std::size_t bytes) {
  if (state.sticky) return state.sticky;
  if (state.allocated + bytes > std::size_t(state.script.device.memory_bytes)) return error_out_of_memory;
  *pointer = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (!*pointer) return error_out_of_memory;
  state.allocations[*pointer] = bytes;
  state.allocated += bytes;
  return success;
}

Error release(DevicePtr pointer) {
  if (!pointer) return success;
  const auto found = state.allocations.find(pointer);
  if (found == state.allocations.end()) return error_invalid_value;
  state.allocated -= found->second;
  state.allocations.erase(found);
  std::free(pointer);
  return success;
}

Error load_module(Module* module, const void* image) {
  const std::string_view text(static_cast<const char*>(image), strnlen(static_cast<const char*>(image), 1 << 20));
  if (!text.starts_with(fake_magic)) return error_invalid_image;
  auto* loaded = new FakeModule{.constants = parse_constants(text), .variant = {}};
  loaded->variant = state.script.variant(loaded->constants);
  state.modules[loaded];
  *module = reinterpret_cast<Module>(loaded);
  return success;
}

Error unload_module(Module module) {
  state.modules.erase(as<FakeModule>(module));
  delete as<FakeModule>(module);
  return success;
}

Error get_function(Function* function, Module handle, const char* name) {
  auto* module = as<FakeModule>(handle);
  FakeFunction& entry = state.modules.at(module).try_emplace(name, FakeFunction{module, name}).first->second;
  *function = reinterpret_cast<Function>(&entry);
  return success;
}

Error device_attribute(int* value, int attribute, int device) {
  if (device != 0) return error_invalid_device;
  const FakeDevice& facts = state.script.device;
  const std::map<int, long long> values = {{attribute::multiprocessor_count, facts.cu_count},
                                           {attribute::warp_size, facts.wave_size},
                                           {attribute::max_lds_per_workgroup, facts.lds_per_workgroup},
                                           {attribute::max_lds_per_workgroup_optin, facts.lds_per_workgroup},
                                           {attribute::amd_max_lds_per_cu, facts.lds_per_cu},
                                           {attribute::l2_cache_size, facts.l2_bytes},
                                           {attribute::max_threads_per_block, 1024}};
  const auto found = values.find(attribute);
  if (found == values.end()) return error_invalid_value;
  *value = static_cast<int>(found->second);
  return success;
}

Error function_attribute_value(int* value, int attribute, Function handle) {
  const auto& resources = as<FakeFunction>(handle)->module->variant.resources;
  const auto find = [&](const char* name) { return resources.contains(name) ? resources.at(name) : 0; };
  if (attribute == function_attribute::registers) return *value = find("vgpr"), success;
  if (attribute == function_attribute::scratch_bytes) return *value = find("scratch_bytes"), success;
  if (attribute == function_attribute::static_lds_bytes) return *value = find("lds_bytes"), success;
  return error_invalid_value;
}

const char* error_text(Error error) {
  switch (error) {
    case success:
      return "no error";
    case error_invalid_value:
      return "invalid argument";
    case error_out_of_memory:
      return "out of memory";
    case error_invalid_image:
      return "device kernel image is invalid";
    case error_illegal_address:
      return "an illegal memory access was encountered";
    default:
      return "unknown error";
  }
}

Error copy(void* to, const void* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
  return state.sticky;
}

Error set(DevicePtr pointer, int byte, std::size_t bytes) {
  std::memset(pointer, byte, bytes);
  return state.sticky;
}

Error elapsed(float* milliseconds, Event start, Event stop) {
  const double from = as<FakeEvent>(start)->us, to = as<FakeEvent>(stop)->us;
  if (from < 0 || to < 0) return error_invalid_handle;
  *milliseconds = static_cast<float>((to - from) / 1000);
  return state.sticky;
}

void fill_device_entries(Api& api) {
  api.init = [](unsigned) { return success; };
  api.driver_get_version = [](int* version) { return *version = 1, success; };
  api.runtime_get_version = api.driver_get_version;
  api.get_device_count = [](int* count) { return *count = 1, success; };
  api.set_device = [](int device) { return device == 0 ? success : error_invalid_device; };
  api.get_device = [](int* device) { return *device = 0, success; };
  api.device_get_attribute = device_attribute;
  api.device_get_name = [](char* name, int length, int) {
    std::snprintf(name, static_cast<std::size_t>(length), "%s", state.script.device.name.c_str());
    return success;
  };
  api.device_get_pci_bus_id = [](char* bus_id, int length, int) {
    std::snprintf(bus_id, static_cast<std::size_t>(length), "0000:00:00.0");
    return success;
  };
  api.device_total_mem = [](std::size_t* bytes, int) {
    return *bytes = std::size_t(state.script.device.memory_bytes), success;
  };
  api.device_synchronize = [] { return state.sticky; };
  api.get_error_string = error_text;
  api.get_last_error = [] { return state.sticky; };
}

void fill_memory_entries(Api& api) {
  api.mem_get_info = [](std::size_t* free, std::size_t* total) {
    *total = std::size_t(state.script.device.memory_bytes);
    *free = *total - state.allocated;
    return state.sticky;
  };
  api.malloc = allocate;
  api.free = release;
  api.memcpy = [](void* to, const void* from, std::size_t bytes, int) { return copy(to, from, bytes); };
  api.memcpy_async = [](void* to, const void* from, std::size_t bytes, int, Stream stream) {
    return submit(stream, {.work = [=] { copy(to, from, bytes); }});
  };
  api.memset = set;
  api.memset_async = [](DevicePtr pointer, int byte, std::size_t bytes, Stream stream) {
    return submit(stream, {.work = [=] { set(pointer, byte, bytes); }});
  };
}

void fill_code_entries(Api& api) {
  api.module_load_data = load_module;
  api.module_unload = unload_module;
  api.module_get_function = get_function;
  api.func_get_attribute = function_attribute_value;
  api.func_set_attribute = [](const void*, int, int) { return success; };
  api.module_launch_kernel = launch;
  api.module_occupancy_max_active_blocks = [](int* blocks, Function, int, std::size_t) { return *blocks = 1, success; };
}

void fill_stream_entries(Api& api) {
  api.stream_create = [](Stream* stream) { return *stream = reinterpret_cast<Stream>(new FakeStream), success; };
  api.stream_destroy = [](Stream stream) { return delete as<FakeStream>(stream), success; };
  api.stream_synchronize = [](Stream) { return state.sticky; };
  api.event_create = [](Event* event) { return *event = reinterpret_cast<Event>(new FakeEvent), success; };
  api.event_destroy = [](Event event) { return delete as<FakeEvent>(event), success; };
  api.event_record = [](Event event, Stream) { return as<FakeEvent>(event)->us = state.now_us, state.sticky; };
  api.event_synchronize = [](Event) { return state.sticky; };
  api.event_elapsed_time = elapsed;
}

void fill_graph_entries(Api& api) {
  api.stream_begin_capture = [](Stream stream, int) {
    if (!stream) return error_invalid_handle;
    return as<FakeStream>(stream)->capture = new FakeGraph, success;
  };
  api.stream_end_capture = [](Stream stream, Graph* graph) {
    *graph = reinterpret_cast<Graph>(std::exchange(as<FakeStream>(stream)->capture, nullptr));
    return *graph ? success : error_invalid_value;
  };
  api.graph_instantiate = [](GraphExec* exec, Graph graph, GraphNode*, char*, std::size_t) {
    return *exec = reinterpret_cast<GraphExec>(new FakeGraph(*as<FakeGraph>(graph))), success;
  };
  api.graph_launch = replay;
  api.graph_exec_destroy = [](GraphExec exec) { return delete as<FakeGraph>(exec), success; };
  api.graph_destroy = [](Graph graph) { return delete as<FakeGraph>(graph), success; };
}

Api filled() {
  Api api{};
  fill_device_entries(api);
  fill_memory_entries(api);
  fill_code_entries(api);
  fill_stream_entries(api);
  fill_graph_entries(api);
  return api;
}

}  // namespace

Provider fake_provider(const std::string& file) {
  static const Api api = filled();
  try {
    state.script = read_fake_script(file);
  } catch (const UsageError& error) {
    return {.name = "fake", .reason = error.what()};
  }
  state.random.seed(state.script.seed);
  state.now_us = 0;
  state.submissions = 0;
  state.timing_only = false;
  state.sticky = success;
  return {.name = "fake", .api = &api, .version = "scripted device " + file};
}

void fake_timing_only(bool on) { state.timing_only = on; }

const FakeDevice& fake_device() { return state.script.device; }

}  // namespace headtune::hip
