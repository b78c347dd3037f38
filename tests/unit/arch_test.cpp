#include "headtune/arch.h"

#include <catch2/catch_test_macros.hpp>

using namespace headtune;

TEST_CASE("arch: a target with feature flags or a variant letter is its base architecture") {
  CHECK(find_arch("gfx942:sramecc+:xnack-")->family == Family::cdna3);
  CHECK(find_arch("gfx90a")->family == Family::cdna2);
  CHECK(find_arch("gfx950")->family == Family::cdna4);
  CHECK(find_arch("sm_90a")->name == find_arch("sm_90")->name);
}

TEST_CASE("arch: names that only look alike are unknown") {
  for (const char* name :
       {"", "gfx", "gfx9", "gfx94", "gfx9421", "gfx90", "gfx950x", "sm_9", "sm_900", "GFX950", "sm_90ab"})
    CHECK(find_arch(name) == nullptr);
}

TEST_CASE("arch: LDS and wave size are those of the hardware") {
  CHECK(find_arch("gfx942")->lds_bytes == 65536);
  CHECK(find_arch("gfx950")->lds_bytes == 163840);
  CHECK(find_arch("sm_90")->lds_bytes == 232448);
  for (const Arch& arch : archs) CHECK(arch.wave_size == (arch.family == Family::nvidia ? 32 : 64));
}

TEST_CASE("arch: each fp8 encoding is native to its own architectures") {
  CHECK(supports(*find_arch("gfx942"), DType::fp8_e4m3fnuz));
  CHECK_FALSE(supports(*find_arch("gfx942"), DType::fp8_e4m3fn));
  CHECK(supports(*find_arch("gfx950"), DType::fp8_e4m3fn));
  CHECK_FALSE(supports(*find_arch("gfx950"), DType::fp8_e4m3fnuz));
  CHECK_FALSE(supports(*find_arch("gfx90a"), DType::fp8_e4m3fn));
  CHECK_FALSE(supports(*find_arch("sm_80"), DType::fp8_e4m3fn));
  CHECK(supports(*find_arch("sm_90"), DType::fp8_e4m3fn));
}

static_assert(device_family == Family::unknown, "the host pass has no device family");
