// Turns a HIP error into an exception that says which call failed.
#pragma once

#include <stdexcept>
#include <string>

#include "tuner/hip/api.h"

namespace headtune::hip {

/// A call on the device failed. After a fault (illegal address, launch failure) the context is lost.
struct DeviceError : std::runtime_error {
  DeviceError(const Api& api, Error error, const std::string& call)
      : std::runtime_error(call + ": " + api.get_error_string(error)), code(error) {}

  Error code;
};

inline void check(const Api& api, Error error, const std::string& call) {
  if (error != success) throw DeviceError(api, error, call);
}

}  // namespace headtune::hip
