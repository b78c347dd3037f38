// Prints the tuned configuration and launch geometry of a few problems, as an engine would compute them.
#include <headtune/tables/plan.h>

#include <cstdio>

using namespace headtune;

namespace {

struct Row {
  const char* name;
  Problem problem;
  DeviceKey device;
  int batch, context;
};

constexpr Problem draft{64, 64, 8, 2, 7, /*is_causal=*/false};
constexpr Problem mla{576, 512, 12, 1, 8, /*is_causal=*/true};
constexpr Problem qwen{256, 256, 8, 1, 4, /*is_causal=*/true};

constexpr Row rows[] = {
    {"draft, MI355X", draft, {"gfx950", 256, 64}, 8, 32768},
    {"draft, half of a MI355X", draft, {"gfx950", 128, 64}, 8, 32768},
    {"draft, short context", draft, {"gfx950", 256, 64}, 8, 256},
    {"MLA verify, MI300X", mla, {"gfx942:sramecc+:xnack-", 304, 64}, 1, 8192},
    {"head_dim 256, H200", qwen, {"sm_90", 132, 32}, 32, 16384},
    {"unknown device", qwen, {"gfx1100", 96, 32}, 1, 8192},
};

// Everything is known at compile time when the shapes are.
static_assert(tables::plan(draft, {"gfx950", 256, 64}, 8, 32768).num_splits >= 1);

}  // namespace

int main() {
  for (const Row& row : rows) {
    const tables::LaunchPlan plan = tables::plan(row.problem, row.device, row.batch, row.context);
    const Config& c = plan.match.config;
    std::printf("%-24s (%d, %d, %d)  %d splits, grid %d x %d x %d, %d threads, %d B LDS, workspace %lld B  [%s]\n",
                row.name, c.block_h, c.block_n, c.num_warps, plan.num_splits, plan.stage1.grid_x, plan.stage1.grid_y,
                plan.stage1.grid_z, plan.stage1.block_x, plan.stage1.dynamic_lds_bytes,
                plan.workspace.partial_out_bytes, match_level_text(plan.match.level));
  }
  return 0;
}
