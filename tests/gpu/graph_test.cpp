// T16: a graph captured once is replayed while the engine's buffers change under it.
#include <catch2/catch_test_macros.hpp>

#include "suite.h"
#include "tuner/hip/buffer.h"
#include "tuner/op_device.h"
#include "tuner/verify.h"

using namespace headtune;
using test::problem;

namespace {

/// Same shapes for every step: the pool and the tokens are fixed, the prefixes change.
Case step(const std::string& name, std::vector<int> prefix_lens, std::uint64_t seed) {
  Case shape = ragged_case(name, std::move(prefix_lens), 8);
  shape.layout.pool_slots = 6000;
  shape.planned_context = 2048;
  shape.seed = seed;
  return shape;
}

void replay(const std::string& op_name, const Problem& p, const Config& config) {
  const hip::Api& api = *test::device().api;
  const Op& op = find_op(op_name);
  const LoadedKernels kernels(api, test::compile(op_name, p, {config}).front().code, op.kernels());
  const Inputs captured = make_inputs(p, step("captured", {2048, 1500, 1000}, 1));
  const Plan plan = op.plan(p, config, test::device_arch(), 3, 2048);
  DeviceInputs inputs(api, captured);
  DeviceOutputs outputs(api, captured, plan);
  outputs.poison(0xff);
  VerifyParams params = inputs.params();
  outputs.bind(params);
  const hip::Owned<hip::Stream> stream = hip::make_stream(api);
  const auto graph = hip::capture_graph(api, stream.get(), [&](hip::Stream on) { kernels.launch(plan, params, on); });
  for (const Case& shape :
       {step("same lengths", {2048, 1500, 1000}, 1), step("longer", {2048, 2048, 440}, 2),
        step("shorter", {3, 0, 129}, 3), step("empty", {0, 0, 0}, 4), step("long again", {1, 2040, 2047}, 5)}) {
    const Inputs now = make_inputs(p, shape);
    inputs.overwrite(now);
    outputs.poison(0xff);
    REQUIRE(api.graph_launch(graph.get(), stream.get()) == hip::success);
    REQUIRE(api.stream_synchronize(stream.get()) == hip::success);
    CAPTURE(shape.name);
    CHECK(compare(now, reference(now), outputs.read_out(), 0xff).failure == "");
    CHECK(outputs.damage() == "");
  }
}

}  // namespace

TEST_CASE("T16 a graph captured once serves longer and shorter prefixes") {
  const Problem p = problem(16, 4, 64, 8, false);
  for (const std::string& op : op_names())
    for (const Config& config : test::sample_configs(op, p)) replay(op, p, config);
}
