// The simulated HIP entry points for modules, functions and launches.
#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "tuner/sim/loader.h"
#include "tuner/sim/runtime_calls.h"

namespace headtune::sim {
namespace {

using namespace hip;

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

}  // namespace

void add_code_calls(Api& api) {
  api.module_load_data = module_load_data, api.module_unload = module_unload;
  api.module_get_function = module_get_function, api.func_get_attribute = func_get_attribute;
  api.func_set_attribute = func_set_attribute, api.module_launch_kernel = module_launch_kernel;
  api.module_occupancy_max_active_blocks = module_occupancy;
}

}  // namespace headtune::sim
