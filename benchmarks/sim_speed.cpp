// Prints how many wave-instructions a second one core executes. No GPU, no compiler: the programs are written here.
//
// Usage: sim_speed [SECONDS_PER_PROGRAM]
#include <fmt/format.h>

#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "tuner/sim/decode.h"

using namespace headtune::sim;

namespace {

struct Mix {
  const char* name;
  std::vector<const char*> body;
};

// The mix of the attention kernels' inner loop without memory and matrix instructions, and its extremes.
const Mix mixes[] = {
    {"vector ALU mix",
     {"v_mul_f32_e32 v10, v1, v2", "v_fma_f32 v11, v10, s4, -v3", "v_max_f32_e32 v12, v11, v4",
      "v_sub_f32_e32 v13, v11, v12", "v_add_u32_e32 v14, v5, v6", "v_lshlrev_b32_e32 v15, 2, v14",
      "v_cmp_gt_i32_e32 vcc, s5, v14", "v_cndmask_b32_e32 v16, v13, v11, vcc", "v_perm_b32 v17, v7, v8, s6",
      "v_cvt_pk_bf16_f32 v18, v13, v16", "v_pk_mul_f32 v[20:21], v[22:23], v[24:25] op_sel_hi:[1,0]",
      "v_and_b32_e32 v26, 0xffff, v17", "v_lshl_add_u32 v27, v26, 3, v14", "v_fmac_f32_e32 v28, v10, v13",
      "s_add_u32 s8, s8, 1", "v_mov_b32_e32 v29, v28"}},
    {"f32 fma only", {"v_fmac_f32_e32 v10, v1, v2", "v_fma_f32 v11, v3, v4, v10"}},
    {"exponentials", {"v_exp_f32_e32 v10, v1", "v_mul_f32_e32 v11, v10, v2"}},
    {"partly masked", {"v_add_f32_e32 v10, v1, v2", "v_add_u32_e32 v11, v3, v4"}},
    {"scalar only", {"s_add_u32 s8, s8, 1", "s_lshl_b32 s9, s8, 2", "s_cmp_lt_u32 s9, s8"}},
};

double instructions_per_second(const Mix& mix, double seconds) {
  auto wave = std::make_unique<Wave>();
  wave->reset();
  if (std::string(mix.name) == "partly masked") wave->set_exec(0x00ff00ff0f0f3333);
  for (auto& lanes : wave->v)
    for (int lane = 0; lane < kLanes; ++lane) lanes[lane] = 0x3f800000 + 977 * static_cast<std::uint32_t>(lane);
  std::vector<Inst> insts;
  for (const char* text : mix.body) insts.push_back(decode_one({.pc = 0, .size = 4, .text = text}, Arch::gfx950));
  const std::clock_t start = std::clock();  // processor time, so that a busy machine does not matter
  std::uint64_t executed = 0;
  double elapsed = 0;
  do {
    for (int round = 0; round < 2000; ++round)
      for (const Inst& inst : insts) inst.handler(*wave, inst);
    executed += 2000 * insts.size();
    elapsed = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  } while (elapsed < seconds);
  return static_cast<double>(executed) / elapsed;
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 0.5;
  for (const Mix& mix : mixes)
    fmt::print("{:<16} {:7.1f} M wave-instructions/s\n", mix.name, instructions_per_second(mix, seconds) / 1e6);
  return 0;
}
