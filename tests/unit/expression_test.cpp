#include "tuner/expression.h"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace headtune;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

long long value(const std::string& text) { return Expression(text).evaluate({{"A", 12}, {"B", 5}, {"ZERO", 0}}); }

}  // namespace

TEST_CASE("expression: precedence and associativity are C's") {
  CHECK(value("1 + 2 * 3") == 7);
  CHECK(value("(1 + 2) * 3") == 9);
  CHECK(value("20 - 5 - 3") == 12);
  CHECK(value("100 / 7 / 2") == 7);
  CHECK(value("A % B == 2 && !ZERO") == 1);
  CHECK(value("1 || 0 && 0") == 1);
  CHECK(value("1 < 2 == 1") == 1);
  CHECK(value("-A + 2") == -10);
  CHECK(value("!A == 0") == 1);
  CHECK(value("ZERO ? 1 : B ? 2 : 3") == 2);
  CHECK(value("A >= 12 && A <= 12 && A != 13") == 1);
}

TEST_CASE("expression: a part that is not reached may be undefined") {
  CHECK(value("ZERO == 0 || A / ZERO > 1") == 1);
  CHECK(value("ZERO && UNKNOWN") == 0);
  CHECK(value("1 ? 2 : A % ZERO") == 2);
}

TEST_CASE("expression: what is wrong is said with its place") {
  CHECK_THROWS_MATCHES(value("A +"), ExpressionError, MessageMatches(ContainsSubstring("column 4")));
  CHECK_THROWS_MATCHES(value("(A"), ExpressionError, MessageMatches(ContainsSubstring("expected ')'")));
  CHECK_THROWS_MATCHES(value("A B"), ExpressionError, MessageMatches(ContainsSubstring("expected an operator")));
  CHECK_THROWS_MATCHES(value("A = 3"), ExpressionError, MessageMatches(ContainsSubstring("column 3")));
  CHECK_THROWS_MATCHES(value("C + 1"), ExpressionError, MessageMatches(ContainsSubstring("unknown name 'C'")));
  CHECK_THROWS_MATCHES(value("A / ZERO"), ExpressionError, MessageMatches(ContainsSubstring("division by zero")));
  CHECK_THROWS_MATCHES(value(""), ExpressionError, MessageMatches(ContainsSubstring("expected a number")));
  CHECK_THROWS_AS(value("99999999999999999999"), ExpressionError);
  CHECK_THROWS_AS(value("9223372036854775807 + 1"), ExpressionError);
  CHECK_THROWS_AS(value(std::string(1000, '(')), ExpressionError);
  CHECK_THROWS_AS(value(std::string(1000, '!') + "1"), ExpressionError);
  CHECK_THROWS_AS(value(std::string(5000, ' ') + "1"), ExpressionError);
}
