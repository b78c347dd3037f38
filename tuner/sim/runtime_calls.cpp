#include "tuner/sim/runtime_calls.h"

#include <fmt/format.h>

#include <thread>
#include <utility>

namespace headtune::sim {
namespace {

thread_local std::string fault_text;
thread_local hip::Error last_error = hip::success;
thread_local int ordinal_in_use = 0;

std::string describe(const Fault& fault, const std::string& kernel) {
  std::string text = kernel.empty() ? std::string(fault.what()) : fmt::format("kernel {}: {}", kernel, fault.what());
  if (!fault.text.empty()) text += fmt::format(", at pc {:#x}: {}", fault.pc, fault.text);
  if (fault.lane >= 0) text += fmt::format(", lane {}", fault.lane);
  if (fault.address != 0) text += fmt::format(", address {:#x}", fault.address);
  return text;
}

GridOptions grid_options() {
  const Options& options = State::get().options;
  GridOptions result;
  result.check_races = options.check_races;
  result.threads = options.threads > 0 ? options.threads : static_cast<int>(std::thread::hardware_concurrency());
  return result;
}

const char* usual_text(hip::Error error) {
  switch (error) {
    case hip::success:
      return "no error";
    case hip::error_invalid_value:
      return "invalid argument";
    case hip::error_out_of_memory:
      return "out of memory";
    case hip::error_invalid_image:
      return "code object cannot be executed";
    case hip::error_not_found:
      return "not found";
    case hip::error_illegal_address:
      return "illegal memory access";
    case hip::error_launch_failure:
      return "launch failure";
    default:
      return "error of the simulated device";
  }
}

}  // namespace

hip::Error fail(hip::Error code, std::string text) {
  fault_text = std::move(text);
  return last_error = code;
}

hip::Error fail(const Fault& fault) {
  const hip::Error code = fault.address != 0 ? hip::error_illegal_address : hip::error_launch_failure;
  return fail(code, describe(fault, State::get().running_kernel));
}

hip::Error take_last_error() { return std::exchange(last_error, hip::success); }

const std::string& last_fault_text() { return fault_text; }

const char* error_text(hip::Error error) {
  if (error != hip::success && error == last_error && !fault_text.empty()) return fault_text.c_str();
  return usual_text(error);
}

int current_ordinal() { return ordinal_in_use; }
void set_current_ordinal(int ordinal) { ordinal_in_use = ordinal; }

SimDevice& device(int ordinal) {
  require(ordinal >= 0 && ordinal < static_cast<int>(State::get().devices.size()), hip::error_invalid_device,
          "no such simulated device");
  return *State::get().devices[static_cast<std::size_t>(ordinal)];
}

SimDevice& device() { return device(ordinal_in_use); }

SimStream& stream_of(hip::Stream stream) {
  if (stream) return as<SimStream>(stream);
  return State::get().null_streams[static_cast<std::size_t>(ordinal_in_use)];
}

void submit(hip::Stream stream, Operation operation) {
  SimDevice& target = device();
  target.memory().check_uninitialised(State::get().options.check_uninitialised);
  if (const auto* launch = std::get_if<Launch>(&operation)) State::get().running_kernel = launch->kernel->name;
  stream_of(stream).submit(target, std::move(operation), grid_options(), !State::get().timing_only);
}

}  // namespace headtune::sim
