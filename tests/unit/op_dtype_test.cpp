#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <cmath>
#include <limits>

#include "tuner/dtype.h"
#include "tuner/error.h"

using namespace headtune;

namespace {

constexpr DType all_types[] = {DType::bf16, DType::fp16, DType::fp8_e4m3fn, DType::fp8_e4m3fnuz};

/// The nearest representable value by search over all bit patterns; ties to the even pattern.
std::uint16_t nearest(DType type, double value) {
  const int count = element_bytes(type) == 1 ? 256 : 65536;
  int best = -1;
  double best_error = 0;
  for (int bits = 0; bits < count; ++bits) {
    const double candidate = decode(type, static_cast<std::uint16_t>(bits));
    if (!std::isfinite(candidate) || std::signbit(candidate) != std::signbit(value)) continue;
    const double error = std::fabs(candidate - value);
    if (best < 0 || error < best_error || (error == best_error && bits % 2 == 0)) best = bits, best_error = error;
  }
  return static_cast<std::uint16_t>(best);
}

}  // namespace

TEST_CASE("dtype: every finite bit pattern survives a round trip") {
  const DType type = GENERATE(from_range(std::begin(all_types), std::end(all_types)));
  const int count = element_bytes(type) == 1 ? 256 : 65536;
  for (int bits = 0; bits < count; ++bits) {
    const float value = decode(type, static_cast<std::uint16_t>(bits));
    if (std::isnan(value)) continue;
    if (encode(type, value) != bits && !(value == 0 && element_bytes(type) == 1)) FAIL("bits " << bits);
  }
}

TEST_CASE("dtype: known values of each encoding") {
  CHECK(decode(DType::bf16, 0x3f80) == 1.0f);
  CHECK(decode(DType::fp16, 0x3c00) == 1.0f);
  CHECK(decode(DType::fp16, 0x7bff) == 65504.0f);
  CHECK(decode(DType::fp8_e4m3fn, 0x38) == 1.0f);
  CHECK(decode(DType::fp8_e4m3fn, 0x7e) == 448.0f);
  CHECK(decode(DType::fp8_e4m3fnuz, 0x40) == 1.0f);
  CHECK(decode(DType::fp8_e4m3fnuz, 0x7f) == 240.0f);
  CHECK(std::isnan(decode(DType::fp8_e4m3fn, 0x7f)));
  CHECK(std::isnan(decode(DType::fp8_e4m3fn, 0xff)));
  CHECK(std::isnan(decode(DType::fp8_e4m3fnuz, 0x80)));
  for (DType type : all_types) CHECK(std::isnan(decode(type, nan_bits(type))));
}

TEST_CASE("dtype: rounding is to nearest, ties to even") {
  const DType type = GENERATE(from_range(std::begin(all_types), std::end(all_types)));
  for (double value :
       {0.1, -0.3, 1.00390625, 1.01171875, 3.14159, 17.0, 18.0, 19.0, 200.5, 1e-3, 0.0078125, -0.01171875}) {
    CAPTURE(value);
    CHECK(encode(type, static_cast<float>(value)) == nearest(type, static_cast<float>(value)));
  }
}

TEST_CASE("dtype: out of range is infinity in 16 bits and the largest value in fp8") {
  CHECK(encode(DType::fp16, 65520.0f) == 0x7c00);
  CHECK(encode(DType::fp16, -1e30f) == 0xfc00);
  CHECK(encode(DType::bf16, std::numeric_limits<float>::infinity()) == 0x7f80);
  CHECK(encode(DType::fp8_e4m3fn, 1e9f) == 0x7e);
  CHECK(encode(DType::fp8_e4m3fnuz, -1e9f) == 0xff);
}

TEST_CASE("dtype: names are exact, a bare fp8 is refused") {  // T9
  for (DType type : all_types) CHECK(parse_dtype(to_string(type)) == type);
  CHECK_THROWS_AS(parse_dtype("fp8"), UsageError);
  CHECK_THROWS_AS(parse_dtype("float32"), UsageError);
}
