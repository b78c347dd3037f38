// Provider over a scripted device (tests and docs only): times, faults and results come from a JSON file, the rest
// behaves like HIP. Memory is host memory, time is simulated, so that a sweep of hundreds of variants takes moments.
//
//   {"device": {"name": "Fake MI300X", "target": "gfx942:sramecc+:xnack-", "cu_count": 304, ...},   all optional
//    "seed": 1,                       noise and gaps repeat for equal seeds
//    "noise": 0.01,                   relative standard deviation of each submission's time
//    "clock": {"from": 0.6, "to": 1.0, "submissions": 40,           kernel times are divided by the clock
//              "repeats": true},     the ramp starts over and over: a device that never settles
//    "log": "FILE",                   a line "PID NAME=VALUE ..." for each loaded variant that computes something
//    "gap_us": 4, "gap_noise": 0.5,   idle time before each submission: a launch, or a whole graph
//    "variants": [                    the first whose match holds; {} matches everything
//      {"match": {"BLOCK_H": 4, "BLOCK_N": 256},      constants of the rendered source
//       "compile": "ok" | "error" | "crash" | "hang", "resources": {"vgpr": 96, ...},
//       "time_us": 20, "us_per_kkey": 0.5, "times": {"1x8192": 21.5},       batch x context; stage 2 takes stage2_us
//       "stage2_us": 1, "us_per_split": 0.1,       of the launch: what the host decided shows in the time
//       "output": "right" | "nan" | "wrong_last_split" | "unwritten" | "out_of_bounds",
//       "output_context": 1,          only where a request's context is this
//       "fault": "none" | "illegal_address" | "segv" | "abort" | "hang"}]}
//
// A launch outside a graph computes its result; graph replays, and all launches while fake_timing_only is on, only take
// time.
#pragma once

#include <string>

#include "tuner/hip/provider.h"

namespace headtune::hip {

/// One scripted device per process; a second call replaces the script. The reason tells what is wrong with the file.
Provider fake_provider(const std::string& script);

/// Architecture and facts of the scripted device, as hip::Device and Environment state them.
struct FakeDevice {
  std::string name = "Fake MI300X";
  std::string target = "gfx942:sramecc+:xnack-";
  std::string driver = "fake 1";
  std::string runtime = "fake 1";
  int cu_count = 304;
  int wave_size = 64;
  long long lds_per_workgroup = 65536;
  long long lds_per_cu = 65536;
  long long l2_bytes = 1 << 20;
  long long llc_bytes = 1 << 20;  ///< small, so that rotating past it costs tests no memory
  long long memory_bytes = 1LL << 32;
};
const FakeDevice& fake_device();

void fake_timing_only(bool on);

}  // namespace headtune::hip
