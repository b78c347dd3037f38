// One speculative step of a K3-like draft: 5 non-causal attention layers of head_dim 64, as one captured graph, through
// the generic extend_attention and through verify_shared_kv.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "tuner/engine/engine.h"
#include "tuner/error.h"
#include "tuner/hip/buffer.h"
#include "tuner/measure.h"
#include "tuner/op_device.h"

namespace {

using namespace headtune;

constexpr int layers = 5;

struct Options {
  std::string device = "auto";
  std::vector<int> contexts = {8192, 16384, 32768};
  int batch = 1;
};

/// The draft of sglang#35499 on one of eight ranks.
Problem draft_problem() { return {64, 64, 8, 2, 7, false, DType::bf16, DType::bf16}; }

/// Every layer has a KV pool of its own, as in a model: no layer finds another's keys in the cache.
struct Step {
  Inputs inputs;
  std::vector<DeviceInputs> kv;
  hip::DeviceBuffer out, workspace;

  Step(const hip::Api& api, const Engine& engine, int batch, int context)
      : inputs(make_inputs(draft_problem(), uniform_case("draft", batch, context, draft_problem().extend_len))),
        out(api, static_cast<std::size_t>(inputs.out.rows * inputs.out.stride_row * 2)),
        workspace(api, engine.workspace_bytes(batch)) {
    kv.reserve(layers);
    for (int layer = 0; layer < layers; ++layer) kv.emplace_back(api, inputs);
    engine.clear_workspace(workspace.get(), workspace.bytes(), nullptr);
    hip::check(api, api.device_synchronize(), "hipDeviceSynchronize");
  }

  VerifyParams params(int layer) const {
    VerifyParams p = kv[layer].params();
    p.out = out.get();
    return p;
  }
};

double step_us(const hip::Device& device, const std::function<void(int, hip::Stream)>& layer_call) {
  const Enqueue step = [&](hip::Stream stream, int) {
    for (int layer = 0; layer < layers; ++layer) layer_call(layer, stream);
  };
  return measure(device, step, MeasureOptions{}).median_us;
}

void print_row(const hip::Device& device, const Engine& engine, int batch, int context) {
  const Step step(*device.api, engine, batch, context);
  const double extend =
      step_us(device, [&](int layer, hip::Stream stream) { engine.extend_attention(step.params(layer), stream); });
  const double verify = step_us(device, [&](int layer, hip::Stream stream) {
    engine.verify_shared_kv(step.params(layer), step.workspace.get(), step.workspace.bytes(), stream);
  });
  fmt::print("{:>8} {:>18.1f} {:>18.1f} {:>14.1f} {:>14.1f} {:>8.2f}x\n", context, extend, verify, extend / layers,
             verify / layers, extend / verify);
}

void run(const Options& options) {
  const int longest = *std::max_element(options.contexts.begin(), options.contexts.end());
  const hip::Device device = hip::open_device(options.device);
  const Engine engine(device.spec, draft_problem(), 32, longest);
  fmt::print("{} draft layers, head_dim 64, 8/2 heads, L 7, non-causal, batch {}\n{}\n\n", layers, options.batch,
             engine.description());
  fmt::print("{:>8} {:>18} {:>18} {:>14} {:>14} {:>9}   us{}\n", "context", "step extend", "step verify",
             "layer extend", "layer verify", "gain", device.estimated ? " (estimated)" : "");
  for (int context : options.contexts) print_row(device, engine, options.batch, context);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"One speculative step of a K3-like draft through both attention kernels"};
  app.add_option("--device", options.device, "Device, such as rocm:0, cuda:0 or sim:gfx950")->capture_default_str();
  app.add_option("--contexts", options.contexts, "Prefix lengths")->delimiter(',')->capture_default_str();
  app.add_option("--batch", options.batch, "Requests")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    run(options);
  } catch (const headtune::Failure& failure) {
    fmt::print(stderr, "draft_step: {}\n", failure.what());
    return static_cast<int>(failure.code());
  } catch (const std::exception& error) {
    fmt::print(stderr, "draft_step: {}\n", error.what());
    return 1;
  }
}
