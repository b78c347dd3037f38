// Resources of the kernels of one NVRTC compile, from the report that `--ptxas-options=-v` adds to its log.
#pragma once

#include <map>
#include <string>

#include "tuner/toolchain.h"

namespace headtune::toolchain {

struct PtxasLog {
  std::map<std::string, Resources> kernels;
  std::string rest;  ///< the log without the report: what the user should see
};

PtxasLog read_ptxas_log(const std::string& log);

}  // namespace headtune::toolchain
