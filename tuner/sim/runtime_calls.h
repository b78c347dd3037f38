// What the groups of simulated HIP entry points share: errors, handles, the current device.
#pragma once

#include <mutex>
#include <new>
#include <stdexcept>
#include <string>

#include "tuner/sim/fault.h"
#include "tuner/sim/runtime_state.h"

namespace headtune::sim {

/// Each fills its part of the table.
void add_device_calls(hip::Api& api);  ///< library, devices, memory
void add_code_calls(hip::Api& api);    ///< modules, functions, launches
void add_stream_calls(hip::Api& api);  ///< streams, graphs, events

/// A call that fails for a reason other than a fault.
struct Refused : std::runtime_error {
  Refused(hip::Error code_, const std::string& text) : std::runtime_error(text), code(code_) {}
  hip::Error code;
};

/// Keeps the text for last_fault_text() and get_error_string(), and returns `code`.
hip::Error fail(hip::Error code, std::string text);
/// The same for a fault, with the running kernel's name.
hip::Error fail(const Fault& fault);
hip::Error take_last_error();
const char* error_text(hip::Error error);

/// Runs a call's body and turns what it throws into an error. One lock for everything: the simulated runtime is used
/// from one thread at a time.
template <class F>
hip::Error guarded(F body) {
  const std::lock_guard lock(State::get().mutex);
  State::get().running_kernel.clear();
  try {
    body();
    return hip::success;
  } catch (const Fault& fault) {
    return fail(fault);
  } catch (const BadCode& bad) {
    return fail(hip::error_invalid_image, bad.what());
  } catch (const Refused& refused) {
    return fail(refused.code, refused.what());
  } catch (const std::bad_alloc&) {
    return fail(hip::error_out_of_memory, "no host memory for the simulated allocation");
  } catch (const std::exception& error) {
    return fail(hip::error_launch_failure, error.what());
  }
}

inline void require(bool holds, hip::Error code, const char* text) {
  if (!holds) throw Refused(code, text);
}

/// The object behind a handle.
template <class T, class Handle>
T& as(Handle handle) {
  require(handle != nullptr, hip::error_invalid_handle, "null handle");
  return *reinterpret_cast<T*>(handle);
}

int current_ordinal();
void set_current_ordinal(int ordinal);
SimDevice& device(int ordinal);
SimDevice& device();  ///< current on this thread
SimStream& stream_of(hip::Stream stream);
void submit(hip::Stream stream, Operation operation);

inline std::uint64_t address(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

}  // namespace headtune::sim
