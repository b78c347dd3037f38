#include "tuner/dtype.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "tuner/error.h"

namespace headtune {
namespace {

struct Format {
  const char* name;
  int exponent_bits, mantissa_bits, bias;
  bool has_infinity;
  std::uint16_t nan;
  float largest;
};

constexpr std::array<Format, 4> formats = {{
    {"bf16", 8, 7, 127, true, 0x7fff, 3.38953139e38f},
    {"fp16", 5, 10, 15, true, 0x7fff, 65504.0f},
    {"fp8_e4m3fn", 4, 3, 7, false, 0x7f, 448.0f},
    {"fp8_e4m3fnuz", 4, 3, 8, false, 0x80, 240.0f},
}};

const Format& format(DType type) { return formats[static_cast<std::size_t>(type)]; }

int sign_shift(const Format& f) { return f.exponent_bits + f.mantissa_bits; }

bool is_nan(const Format& f, std::uint16_t bits) {
  if (!f.has_infinity) return f.nan == 0x80 ? bits == 0x80 : (bits & 0x7f) == 0x7f;
  const int magnitude = bits & ((1 << sign_shift(f)) - 1);
  return magnitude > ((1 << f.exponent_bits) - 1) << f.mantissa_bits;
}

float decode_slowly(const Format& f, std::uint16_t bits) {
  if (is_nan(f, bits)) return std::numeric_limits<float>::quiet_NaN();
  const int exponent = (bits >> f.mantissa_bits) & ((1 << f.exponent_bits) - 1);
  const int mantissa = bits & ((1 << f.mantissa_bits) - 1);
  const float sign = bits >> sign_shift(f) ? -1.0f : 1.0f;
  if (f.has_infinity && exponent == (1 << f.exponent_bits) - 1) return sign * std::numeric_limits<float>::infinity();
  const int significand = exponent ? mantissa + (1 << f.mantissa_bits) : mantissa;
  return sign * std::ldexp(static_cast<float>(significand), (exponent ? exponent : 1) - f.bias - f.mantissa_bits);
}

std::vector<float> decode_table(const Format& f) {
  std::vector<float> table(std::size_t{2} << sign_shift(f));
  for (std::size_t bits = 0; bits < table.size(); ++bits)
    table[bits] = decode_slowly(f, static_cast<std::uint16_t>(bits));
  return table;
}

const std::vector<float>& decode_table(DType type) {
  static const std::array<std::vector<float>, 4> tables = {decode_table(formats[0]), decode_table(formats[1]),
                                                           decode_table(formats[2]), decode_table(formats[3])};
  return tables[static_cast<std::size_t>(type)];
}

/// Bits of a finite magnitude, rounded to nearest even; may round up into the exponent above.
int encode_magnitude(const Format& f, float magnitude) {
  int exponent = 0;
  std::frexp(magnitude, &exponent);  // magnitude = m * 2^exponent, m in [0.5, 1)
  const int lowest = 1 - f.bias;     // exponent of the smallest normal value
  const int scale = std::max(exponent - 1, lowest);
  const auto significand =
      static_cast<int>(std::nearbyint(std::ldexp(static_cast<double>(magnitude), f.mantissa_bits - scale)));
  return significand + ((scale - lowest) << f.mantissa_bits);  // the implicit bit adds 1 to the exponent field
}

}  // namespace

std::uint16_t encode(DType type, float value) {
  const Format& f = format(type);
  if (std::isnan(value)) return f.nan;
  const int sign = std::signbit(value) ? 1 << sign_shift(f) : 0;
  const float magnitude = std::fabs(value);
  if (magnitude == 0) return static_cast<std::uint16_t>(f.has_infinity ? sign : 0);  // fp8 zero: fnuz has no -0
  if (!f.has_infinity && magnitude >= f.largest)
    return static_cast<std::uint16_t>(sign | encode_magnitude(f, f.largest));
  const int infinity = ((1 << f.exponent_bits) - 1) << f.mantissa_bits;
  const int rounded = std::isinf(magnitude) ? infinity : encode_magnitude(f, magnitude);
  const int bits = f.has_infinity ? std::min(rounded, infinity) : rounded;
  return static_cast<std::uint16_t>(bits == 0 && !f.has_infinity ? 0 : sign | bits);
}

float decode(DType type, std::uint16_t bits) { return decode_table(type)[bits]; }

std::uint16_t nan_bits(DType type) { return format(type).nan; }

double unit_roundoff(DType type) { return std::ldexp(1.0, -1 - format(type).mantissa_bits); }

std::string to_string(DType type) { return format(type).name; }

DType parse_dtype(std::string_view text) {
  for (std::size_t i = 0; i < formats.size(); ++i)
    if (text == formats[i].name) return static_cast<DType>(i);
  if (text == "fp8")
    throw UsageError(
        "dtype fp8 is ambiguous: say fp8_e4m3fn or fp8_e4m3fnuz, the encoding that the cache was written in");
  throw UsageError(fmt::format("unknown dtype '{}': use bf16, fp16, fp8_e4m3fn or fp8_e4m3fnuz", text));
}

void decode_row(const std::byte* base, DType type, long long index, int count, float* to) {
  const float* table = decode_table(type).data();
  for (int i = 0; i < count; ++i) to[i] = table[load_bits(base, type, index + i)];
}

}  // namespace headtune
