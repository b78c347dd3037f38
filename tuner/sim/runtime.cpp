#include "tuner/sim/runtime.h"

#include <elf.h>
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "tuner/sim/loader.h"
#include "tuner/sim/runtime_state.h"
#include "tuner/sim/stream.h"

namespace headtune::sim {
namespace {

using namespace hip;

thread_local std::string fault_text;
thread_local Error last_error = success;
thread_local int current_device = 0;

/// A call that fails for a reason other than a fault.
struct Refused : std::runtime_error {
  Refused(Error code_, const std::string& text) : std::runtime_error(text), code(code_) {}
  Error code;
};

Error fail(Error code, std::string text) {
  fault_text = std::move(text);
  return last_error = code;
}

std::string describe(const Fault& fault, const std::string& kernel) {
  std::string text = kernel.empty() ? std::string(fault.what()) : fmt::format("kernel {}: {}", kernel, fault.what());
  if (!fault.text.empty()) text += fmt::format(", at pc {:#x}: {}", fault.pc, fault.text);
  if (fault.lane >= 0) text += fmt::format(", lane {}", fault.lane);
  if (fault.address != 0) text += fmt::format(", address {:#x}", fault.address);
  return text;
}

/// One lock for everything: the simulated runtime is used from one thread at a time.
template <class F>
Error guarded(F body) {
  const std::lock_guard lock(State::get().mutex);
  State::get().running_kernel.clear();
  try {
    body();
    return success;
  } catch (const Fault& fault) {
    const Error code = fault.address != 0 ? error_illegal_address : error_launch_failure;
    return fail(code, describe(fault, State::get().running_kernel));
  } catch (const BadCode& bad) {
    return fail(error_invalid_image, bad.what());
  } catch (const Refused& refused) {
    return fail(refused.code, refused.what());
  } catch (const std::bad_alloc&) {
    return fail(error_out_of_memory, "no host memory for the simulated allocation");
  } catch (const std::exception& error) {
    return fail(error_launch_failure, error.what());
  }
}

void require(bool holds, Error code, const char* text) {
  if (!holds) throw Refused(code, text);
}

template <class T, class Handle>
T& as(Handle handle) {
  require(handle != nullptr, error_invalid_handle, "null handle");
  return *reinterpret_cast<T*>(handle);
}

SimDevice& device(int ordinal) {
  require(ordinal >= 0 && ordinal < static_cast<int>(State::get().devices.size()), error_invalid_device,
          "no such simulated device");
  return *State::get().devices[static_cast<std::size_t>(ordinal)];
}

SimDevice& device() { return device(current_device); }

SimStream& stream_of(Stream stream) {
  if (stream) return as<SimStream>(stream);
  return State::get().null_streams[static_cast<std::size_t>(current_device)];
}

GridOptions grid_options() {
  const Options& options = State::get().options;
  GridOptions result;
  result.check_races = options.check_races;
  result.threads = options.threads > 0 ? options.threads : static_cast<int>(std::thread::hardware_concurrency());
  return result;
}

void submit(Stream stream, Operation operation) {
  SimDevice& target = device();
  target.memory().check_uninitialised(State::get().options.check_uninitialised);
  if (const auto* launch = std::get_if<Launch>(&operation)) State::get().running_kernel = launch->kernel->name;
  stream_of(stream).submit(target, std::move(operation), grid_options(), !State::get().timing_only);
}

std::uint64_t address(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

// --- library and devices --------------------------------------------------------------------------------------------

constexpr int simulated_version = 60'400'000;  ///< the interface is that of HIP 6.4

Error init(unsigned) { return success; }
Error get_version(int* version) { return *version = simulated_version, success; }
Error get_device_count(int* count) { return *count = static_cast<int>(device_models().size()), success; }

Error set_device(int ordinal) {
  return guarded([&] {
    device(ordinal);
    current_device = ordinal;
  });
}

Error get_device(int* ordinal) { return *ordinal = current_device, success; }

int attribute_value(const DeviceModel& model, int wanted) {
  const auto& facts = *model.facts;
  switch (wanted) {
    case attribute::clock_rate:
      return static_cast<int>(facts.clock_ghz * 1e6);
    case attribute::l2_cache_size:
      return static_cast<int>(facts.l2_bytes / facts.xcd_count);
    case attribute::max_threads_per_block:
      return 1024;
    case attribute::max_threads_per_multiprocessor:
      return facts.simds_per_cu * facts.waves_per_simd * facts.wave_size;
    case attribute::multiprocessor_count:
      return facts.cu_count;
    case attribute::max_registers_per_block:
      return facts.simds_per_cu * facts.registers * facts.wave_size;
    case attribute::max_lds_per_workgroup:
    case attribute::max_lds_per_cu:
    case attribute::amd_max_lds_per_cu:
      return facts.lds_bytes;
    case attribute::warp_size:
      return facts.wave_size;
    default:
      return 0;
  }
}

Error device_get_attribute(int* value, int wanted, int ordinal) {
  return guarded([&] { *value = attribute_value(device(ordinal).model(), wanted); });
}

void copy_text(char* to, int length, const std::string& text) {
  if (length <= 0) return;
  std::strncpy(to, text.c_str(), static_cast<std::size_t>(length));
  to[length - 1] = '\0';
}

Error device_get_name(char* name, int length, int ordinal) {
  return guarded([&] { copy_text(name, length, device(ordinal).model().product); });
}

Error device_get_pci_bus_id(char* bus_id, int length, int ordinal) {
  return guarded([&] {
    device(ordinal);
    copy_text(bus_id, length, fmt::format("ffff:{:02x}:00.0", ordinal));
  });
}

Error device_total_mem(std::size_t* bytes, int ordinal) {
  return guarded([&] { *bytes = device(ordinal).model().memory_bytes; });
}

Error device_synchronize() { return success; }

const char* get_error_string(Error error) {
  if (error != success && error == last_error && !fault_text.empty()) return fault_text.c_str();
  switch (error) {
    case success:
      return "no error";
    case error_invalid_value:
      return "invalid argument";
    case error_out_of_memory:
      return "out of memory";
    case error_invalid_image:
      return "code object cannot be executed";
    case error_not_found:
      return "not found";
    case error_illegal_address:
      return "illegal memory access";
    case error_launch_failure:
      return "launch failure";
    default:
      return "error of the simulated device";
  }
}

Error get_last_error() { return std::exchange(last_error, success); }

// --- memory ---------------------------------------------------------------------------------------------------------

Error mem_get_info(std::size_t* free_bytes, std::size_t* total) {
  return guarded([&] {
    *total = device().model().memory_bytes;
    *free_bytes = *total - std::min<std::size_t>(*total, device().memory().bytes_in_use());
  });
}

Error malloc(DevicePtr* pointer, std::size_t bytes) {
  return guarded([&] {
    const std::size_t in_use = device().memory().bytes_in_use();
    if (bytes > device().model().memory_bytes - in_use)
      throw Refused(error_out_of_memory, "simulated device memory is full");
    *pointer = reinterpret_cast<DevicePtr>(device().memory().allocate(bytes));
  });
}

Error free(DevicePtr pointer) {
  return guarded([&] {
    if (pointer) device().memory().release(address(pointer));
  });
}

constexpr int memcpy_default = 4;  ///< hipMemcpyDefault: the pointers tell

int copy_kind(const void* to, const void* from, int kind) {
  if (kind != memcpy_default) return kind;
  const bool to_device = device().memory().block_at(address(to)),
             from_device = device().memory().block_at(address(from));
  return (to_device ? 1 : 0) + (from_device ? 2 : 0);
}

Error memcpy_async(void* to, const void* from, std::size_t bytes, int kind, Stream stream) {
  return guarded([&] { submit(stream, Copy{to, from, bytes, copy_kind(to, from, kind)}); });
}

Error memcpy(void* to, const void* from, std::size_t bytes, int kind) {
  return memcpy_async(to, from, bytes, kind, nullptr);
}

Error memset_async(DevicePtr pointer, int byte, std::size_t bytes, Stream stream) {
  return guarded([&] { submit(stream, Fill{address(pointer), byte, bytes}); });
}

Error memset(DevicePtr pointer, int byte, std::size_t bytes) { return memset_async(pointer, byte, bytes, nullptr); }

// --- code -----------------------------------------------------------------------------------------------------------

/// Size of an ELF image from its own headers: hipModuleLoadData has no length.
std::size_t image_bytes(const void* image) {
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof header);
  require(std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_shentsize == sizeof(Elf64_Shdr),
          error_invalid_image, "not an AMD code object: no ELF header");
  std::size_t end = header.e_shoff + std::size_t{header.e_shnum} * sizeof(Elf64_Shdr);
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, static_cast<const char*>(image) + header.e_shoff + i * sizeof section, sizeof section);
    if (section.sh_type != SHT_NOBITS) end = std::max<std::size_t>(end, section.sh_offset + section.sh_size);
  }
  return end;
}

std::shared_ptr<Program> make_program(std::span<const std::byte> code) {
  const DeviceModel& model = device().model();
  CodeObject object = load(code);
  require(object.arch == model.arch, error_invalid_image,
          "the code object is for another architecture than the device");
  require(static_cast<bool>(State::get().options.disassemble), error_not_supported,
          "the simulator has no disassembler (headtune-toolchain)");
  const auto instructions = State::get().options.disassemble(code, model.facts->name);
  return std::make_shared<Program>(std::move(object), instructions);
}

Error module_load_data(Module* module, const void* image) {
  return guarded([&] {
    const std::span code(static_cast<const std::byte*>(image), image_bytes(image));
    auto loaded = std::make_unique<SimModule>();
    loaded->program = make_program(code);
    loaded->memory = &device().memory();
    loaded->number = ++State::get().modules_loaded;
    const auto bytes = loaded->program->image();
    const std::uint64_t base = loaded->memory->allocate(bytes.size(), "code object");
    loaded->program->set_base(base);  // adjusts the image's own addresses, so it comes before the copy
    loaded->memory->write(base, bytes.data(), bytes.size());
    *module = reinterpret_cast<Module>(loaded.release());
  });
}

Error module_unload(Module module) {
  return guarded([&] {
    SimModule& loaded = as<SimModule>(module);
    loaded.memory->release(loaded.program->base());
    delete &loaded;
  });
}

Error module_get_function(Function* function, Module module, const char* name) {
  return guarded([&] {
    SimModule& loaded = as<SimModule>(module);
    const auto kernel = loaded.program->kernels().find(name);
    if (kernel == loaded.program->kernels().end()) {
      throw Refused(error_not_found, fmt::format("the code object has no kernel named {}", name));
    }
    const auto entry = loaded.functions.emplace(name, SimFunction{&loaded, &kernel->second}).first;
    *function = reinterpret_cast<Function>(&entry->second);
  });
}

int function_value(const Kernel& kernel, int wanted, const DeviceModel& model) {
  switch (wanted) {
    case function_attribute::max_threads_per_block:
      return static_cast<int>(kernel.max_workgroup_size);
    case function_attribute::static_lds_bytes:
      return static_cast<int>(kernel.lds_bytes);
    case function_attribute::scratch_bytes:
      return static_cast<int>(kernel.scratch_bytes);
    case function_attribute::registers:
      return static_cast<int>(kernel.vgprs());
    case function_attribute::max_dynamic_lds_bytes:
      return model.facts->lds_bytes - static_cast<int>(kernel.lds_bytes);
    default:
      return 0;
  }
}

Error func_get_attribute(int* value, int wanted, Function function) {
  return guarded([&] { *value = function_value(*as<SimFunction>(function).kernel, wanted, device().model()); });
}

/// Dynamic LDS needs no opt-in here.
Error func_set_attribute(const void*, int, int) { return success; }

void check_launch(const Launch& launch, const DeviceModel& model) {
  require(launch.workgroups() > 0 && launch.threads() > 0, error_invalid_value, "empty grid or block");
  if (launch.threads() > launch.kernel->max_workgroup_size) {
    throw Refused(error_invalid_value,
                  fmt::format("{} work items in a workgroup; kernel {} was compiled for at most {}", launch.threads(),
                              launch.kernel->name, launch.kernel->max_workgroup_size));
  }
  if (launch.lds_bytes() > static_cast<std::uint32_t>(model.facts->lds_bytes)) {
    throw Refused(error_invalid_value, fmt::format("{} bytes of LDS in a workgroup; {} has {}", launch.lds_bytes(),
                                                   model.facts->name, model.facts->lds_bytes));
  }
}

/// HIP_LAUNCH_PARAM_BUFFER_POINTER, _BUFFER_SIZE and _END.
void pack_extra(Launch& launch, void** extra) {
  const void* buffer = nullptr;
  std::size_t bytes = 0;
  for (; *extra != reinterpret_cast<void*>(3); extra += 2) {
    if (*extra == reinterpret_cast<void*>(1)) buffer = extra[1];
    if (*extra == reinterpret_cast<void*>(2)) bytes = *static_cast<std::size_t*>(extra[1]);
  }
  require(buffer != nullptr, error_invalid_value, "extra without a parameter buffer");
  pack_buffer(launch, buffer, bytes);
}

Error module_launch_kernel(Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                           unsigned block_y, unsigned block_z, unsigned dynamic_lds_bytes, Stream stream,
                           void** arguments, void** extra) {
  return guarded([&] {
    const SimFunction& called = as<SimFunction>(function);
    Launch launch;
    launch.program = called.module->program;
    launch.module = called.module->number;
    launch.kernel = called.kernel;
    launch.grid = {grid_x, grid_y, grid_z};
    launch.block = {block_x, block_y, block_z};
    launch.dynamic_lds = dynamic_lds_bytes;
    check_launch(launch, device().model());
    extra ? pack_extra(launch, extra) : pack_arguments(launch, arguments);
    submit(stream, std::move(launch));
  });
}

Error module_occupancy(int* blocks, Function function, int block_size, std::size_t dynamic_lds_bytes) {
  return guarded([&] {
    require(block_size > 0, error_invalid_value, "empty block");
    *blocks = occupancy(device().model(), *as<SimFunction>(function).kernel, static_cast<std::uint32_t>(block_size),
                        static_cast<std::uint32_t>(dynamic_lds_bytes))
                  .workgroups;
  });
}

// --- streams, graphs, events ----------------------------------------------------------------------------------------

Error stream_create(Stream* stream) { return *stream = reinterpret_cast<Stream>(new SimStream), success; }
Error stream_destroy(Stream stream) {
  return guarded([&] { delete &as<SimStream>(stream); });
}
Error stream_synchronize(Stream) { return success; }

Error stream_begin_capture(Stream stream, int) {
  return guarded([&] {
    require(stream != nullptr, error_not_supported, "the null stream cannot be captured");
    require(!stream_of(stream).capturing(), error_invalid_value, "the stream is being captured already");
    stream_of(stream).begin_capture();
  });
}

Error stream_end_capture(Stream stream, Graph* graph) {
  return guarded([&] {
    require(stream_of(stream).capturing(), error_invalid_value, "the stream is not being captured");
    *graph = reinterpret_cast<Graph>(new SimGraph{stream_of(stream).end_capture()});
  });
}

Error graph_instantiate(GraphExec* exec, Graph graph, GraphNode*, char*, std::size_t) {
  return guarded([&] { *exec = reinterpret_cast<GraphExec>(new SimGraph(as<SimGraph>(graph))); });
}

Error graph_launch(GraphExec exec, Stream stream) {
  return guarded([&] {
    for (const Operation& operation : as<SimGraph>(exec).operations) submit(stream, operation);
  });
}

Error graph_exec_destroy(GraphExec exec) {
  return guarded([&] { delete &as<SimGraph>(exec); });
}
Error graph_destroy(Graph graph) {
  return guarded([&] { delete &as<SimGraph>(graph); });
}

Error event_create(Event* event) { return *event = reinterpret_cast<Event>(new SimEvent), success; }
Error event_destroy(Event event) {
  return guarded([&] { delete &as<SimEvent>(event); });
}

Error event_record(Event event, Stream stream) {
  return guarded([&] { as<SimEvent>(event).microseconds = stream_of(stream).time(device()); });
}

Error event_synchronize(Event) { return success; }

Error event_elapsed_time(float* milliseconds, Event start, Event stop) {
  return guarded([&] {
    const auto from = as<SimEvent>(start).microseconds, to = as<SimEvent>(stop).microseconds;
    require(from && to, error_invalid_handle, "an event was never recorded");
    *milliseconds = static_cast<float>((*to - *from) / 1e3);
  });
}

Api make_api() {
  Api api;
  api.init = init, api.driver_get_version = get_version, api.runtime_get_version = get_version;
  api.get_device_count = get_device_count, api.set_device = set_device, api.get_device = get_device;
  api.device_get_attribute = device_get_attribute, api.device_get_name = device_get_name;
  api.device_get_pci_bus_id = device_get_pci_bus_id, api.device_total_mem = device_total_mem;
  api.device_synchronize = device_synchronize, api.get_error_string = get_error_string;
  api.get_last_error = get_last_error;
  api.mem_get_info = mem_get_info, api.malloc = malloc, api.free = free;
  api.memcpy = memcpy, api.memcpy_async = memcpy_async, api.memset = memset, api.memset_async = memset_async;
  api.module_load_data = module_load_data, api.module_unload = module_unload;
  api.module_get_function = module_get_function, api.func_get_attribute = func_get_attribute;
  api.func_set_attribute = func_set_attribute, api.module_launch_kernel = module_launch_kernel;
  api.module_occupancy_max_active_blocks = module_occupancy;
  api.stream_create = stream_create, api.stream_destroy = stream_destroy;
  api.stream_synchronize = stream_synchronize, api.stream_begin_capture = stream_begin_capture;
  api.stream_end_capture = stream_end_capture, api.graph_instantiate = graph_instantiate;
  api.graph_launch = graph_launch, api.graph_exec_destroy = graph_exec_destroy, api.graph_destroy = graph_destroy;
  api.event_create = event_create, api.event_destroy = event_destroy, api.event_record = event_record;
  api.event_synchronize = event_synchronize, api.event_elapsed_time = event_elapsed_time;
  return api;
}

}  // namespace

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
  static const hip::Api table = make_api();
  return table;
}

int ordinal_of(const std::string& arch) {
  const auto models = device_models();
  for (std::size_t i = 0; i < models.size(); ++i) {
    if (is_arch(arch.c_str(), models[i].facts->name)) return static_cast<int>(i);
  }
  return -1;
}

const std::string& last_fault_text() { return fault_text; }

void set_timing_only(bool on) {
  const std::lock_guard lock(State::get().mutex);
  State::get().timing_only = on;
}

const Estimate& last_estimate() { return device().last_estimate(); }

}  // namespace headtune::sim
