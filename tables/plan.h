// Everything a launcher needs for one call: the tuned configuration of the device and the launch geometry that goes
// with it. Host code, constexpr, from static shapes only, so that the launches can be captured in a graph.
#pragma once

#include <headtune/verify_shared_kv/launch.h>

#include "tables.h"

namespace headtune::tables {

struct LaunchPlan {
  Match match;
  int num_splits = 1;
  int min_keys_per_split = 0;
  Launch stage1;
  Launch stage2;        ///< not launched when match.config.fuse_combine is set
  Workspace workspace;  ///< device memory for VerifyParams::{partial_out, partial_lse, split_done}
};

/// The launch of a configuration that was looked up. `max_context`: the longest prefix, in keys, that the call (or the
/// captured graph) must serve well.
constexpr LaunchPlan plan(const Match& match, const Problem& problem, const DeviceKey& device, int batch,
                          int max_context) {
  Arch arch = arch_of(device);
  if (device.cu_count > 0) arch.cu_count = device.cu_count;
  const DeviceLimits limits = limits_of(arch);
  LaunchPlan plan;
  plan.match = match;
  const Config& config = plan.match.config;
  plan.num_splits = num_splits(problem, config, limits, batch, max_context);
  plan.min_keys_per_split = config.min_keys_per_split;
  plan.stage1 = stage1_launch(problem, config, limits, batch, plan.num_splits);
  plan.stage2 = stage2_launch(problem, config, limits, batch, plan.num_splits);
  plan.workspace = headtune::workspace(problem, config, batch, plan.num_splits);
  return plan;
}

/// From the tables that headtune ships.
constexpr LaunchPlan plan(const Problem& problem, const DeviceKey& device, int batch, int max_context) {
  return plan(lookup(problem, device, max_context), problem, device, batch, max_context);
}

}  // namespace headtune::tables
