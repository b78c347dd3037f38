// Handlers against a second statement of their meaning: one instruction, random operands, every lane checked.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace headtune::sim {

/// How a case's operand is drawn and how its result is compared.
enum class Kindof : std::uint8_t { bits, f16, bf16, f32, f64 };

/// One lane's inputs: sources as 64 raw bits, the old destination, the lane's bit of the mask operand, the lane number.
struct Args {
  std::uint64_t a = 0, b = 0, c = 0;
  std::uint64_t old = 0;
  bool carry = false;
  int lane = 0;
};

struct Result {
  std::uint64_t value = 0;
  bool flag = false;
};

/// `text` is the instruction with $d $a $b $c for the vector operands (pairs where wide), $m for a scalar pair that is
/// written and $n for one that is read.
struct OpCase {
  const char* text;
  Kindof sources;
  Kindof result;
  std::function<Result(const Args&)> expect;
  bool wide_a = false, wide_b = false, wide_c = false, wide_d = false;
  double ulps = 0;  ///< tolerance of float results
  const char* arch = "gfx950";
};

std::vector<OpCase> integer_cases();
std::vector<OpCase> carry_cases();
std::vector<OpCase> real_cases();
std::vector<OpCase> real64_cases();
std::vector<OpCase> half_cases();
std::vector<OpCase> convert_cases();
std::vector<OpCase> small_float_cases();
std::vector<OpCase> packed_cases();

}  // namespace headtune::sim
