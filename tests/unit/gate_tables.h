// Tables made by hand for the gate's tests.
#pragma once

#include <string>

#include "codegen/tuned_table.h"
#include "tuner/store.h"

namespace headtune::test {

inline const std::string present_hash(64, 'a');

inline StoredEnvironment mi355x() {
  return {"rocm", "gfx950", "", 256, 64, 163840, "driver 1", "runtime 1", "hiprtc 7.0", false, "MI355X"};
}

inline CellTime cell_time(int context, int batch, double us) {
  return {context, batch, us, us - 0.1, us + 0.1, 20, us, 0, 1 << 20};
}

/// head_dim `head_dim`, contexts 8k and 16k, batches 1 and 8, on mi355x().
inline TunedRow tuned_row(int head_dim, double us = 20) {
  TunedRow tuned;
  TableRow& r = tuned.row;
  r.cu_count = 256, r.wave_size = 64, r.head_dim = r.v_head_dim = head_dim;
  r.kv_group_num = 4, r.num_kv_heads = 2, r.extend_len = 7, r.has_kv_heads = true;
  r.context_min = 8192, r.context_max = 16384;
  Evidence& e = tuned.evidence;
  const StoredEnvironment device = mi355x();
  e.provider = device.provider, e.device_name = device.device_name, e.driver = device.driver;
  e.runtime = device.runtime, e.compiler = device.compiler;
  e.template_hash = present_hash, e.method = "graph", e.verify_error = 1e-3, e.verify_tolerance = 5e-3;
  for (const int context : {8192, 16384})
    for (const int batch : {1, 8}) e.times.push_back(cell_time(context, batch, us));
  return tuned;
}

}  // namespace headtune::test
