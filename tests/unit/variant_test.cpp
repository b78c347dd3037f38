// VariantOf names the same constants as a rendered instance, with the same values.
#include "headtune/variant.h"

#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <map>
#include <regex>
#include <string>

#include "codegen/render.h"
#include "headtune/version.h"

using namespace headtune;

namespace {

/// Every knob another value, so that two mixed up would show.
constexpr Config numbered() {
  Config config;
  int value = 100;
  for (const Knob& knob : knobs) config.*knob.member = value++;
  return config;
}

struct Choice {
  static constexpr Problem problem{576, 512, 12, 3, 8, true, DType::fp16, DType::fp8_e4m3fn};
  static constexpr Config config = numbered();
};
using Variant = VariantOf<Choice, 64>;

#define CONSTANT(name) \
  { #name, Variant::name }
const std::map<std::string, int> constants = {
    CONSTANT(HEAD_DIM),           CONSTANT(V_HEAD_DIM),   CONSTANT(NUM_Q_HEADS),
    CONSTANT(KV_GROUP_NUM),       CONSTANT(HAS_KV_HEADS), CONSTANT(IS_CAUSAL),
    CONSTANT(EXTEND_LEN),         CONSTANT(DTYPE),        CONSTANT(KV_DTYPE),
    CONSTANT(INDEX_BITS),         CONSTANT(BLOCK_H),      CONSTANT(BLOCK_N),
    CONSTANT(NUM_WARPS),          CONSTANT(ROW_WARPS),    CONSTANT(LOAD_PATH),
    CONSTANT(NUM_STAGES),         CONSTANT(WAVES_PER_EU), CONSTANT(WORKGROUPS_PER_CU),
    CONSTANT(MIN_KEYS_PER_SPLIT), CONSTANT(MAX_SPLITS),   CONSTANT(STAGE2_WARPS),
    CONSTANT(STAGE2_ROWS),        CONSTANT(FUSE_COMBINE)};

}  // namespace

TEST_CASE("VariantOf has the constants of the rendered instance") {
  const std::string text = render("verify_shared_kv", Choice::problem, Choice::config, 64);
  static const std::regex constant("static constexpr int (\\w+) = (\\d+);");
  int count = 0;
  for (std::sregex_iterator match(text.begin(), text.end(), constant), end; match != end; ++match, ++count) {
    INFO((*match)[1].str() << ": a knob of config.h that variant.h or this test lacks?");
    const auto found = constants.find((*match)[1]);
    REQUIRE(found != constants.end());
    CHECK(std::to_string(found->second) == (*match)[2]);
  }
  CHECK(count == static_cast<int>(constants.size()));
}

TEST_CASE("the version macros agree with each other") {
  CHECK(fmt::format("{}.{}.{}", HEADTUNE_VERSION_MAJOR, HEADTUNE_VERSION_MINOR, HEADTUNE_VERSION_PATCH) ==
        HEADTUNE_VERSION_STRING);
}
