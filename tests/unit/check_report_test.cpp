// Reports for CI servers: escaping and what each verdict becomes.
#include "tuner/cli/check_report.h"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "tests/unit/gate_tables.h"

namespace headtune {
namespace {

using namespace test;
using namespace cli;
using Catch::Matchers::ContainsSubstring;

CheckedCell checked(Verdict verdict, const std::string& reason) {
  CheckedCell c;
  c.cell = {problem_of(tuned_row(64).row), {1, 8192}, 0, cell_time(8192, 1, 20), ""};
  c.judgement = {verdict, 20, 24, 1, 0.1, reason};
  return c;
}

const CheckFacts facts{"t.json", 5, {}, false};

CheckReport report_of(std::vector<CheckedCell> cells) { return {mi355x(), std::move(cells), {}, {}, {}}; }

}  // namespace

TEST_CASE("XML text holds what XML can hold") {
  CHECK(xml_escaped("a<b>&\"c\"") == "a&lt;b&gt;&amp;&quot;c&quot;");
  CHECK(xml_escaped(std::string("x\x01y\nz\x00w", 7)) == "x?y z?w");
  CHECK(xml_content("x <\n\ty\r\n\x01") == "x &lt;\n\ty \n?");
  CHECK(xml_escaped("\xff") == "\xEF\xBF\xBD");
  CHECK(xml_escaped("µs") == "µs");
}

TEST_CASE("JUnit: a regress fails, a missing verdict is an error, what was not asked for is skipped") {
  CheckReport report = report_of({checked(Verdict::pass, ""), checked(Verdict::regress, "slower <by> \"4 us\""),
                                  checked(Verdict::no_verdict, "too noisy")});
  report.not_asked.push_back(report.cells[0].cell);
  const std::string xml = check_junit(report, facts);
  CHECK_THAT(xml, ContainsSubstring(R"(tests="4" failures="1" errors="1" skipped="1")"));
  CHECK_THAT(xml, ContainsSubstring(R"(<failure type="regress" message="slower &lt;by&gt; &quot;4 us&quot;">)"));
  CHECK_THAT(xml, ContainsSubstring(R"(<error type="no-verdict" message="too noisy">)"));
  CHECK_THAT(xml, ContainsSubstring(R"(<skipped message="not asked for"/>)"));
}

TEST_CASE("JUnit: nothing to compare is an error, not an empty suite") {
  CHECK_THAT(check_junit(report_of({}), facts), ContainsSubstring(R"(tests="1" failures="0" errors="1")"));
}

TEST_CASE("Markdown is one table, whatever a reason holds") {
  const std::string text = check_markdown(report_of({checked(Verdict::regress, "a|b\nc")}), facts);
  CHECK_THAT(text, ContainsSubstring("a\\|b c |\n"));
  CHECK_THAT(text, ContainsSubstring("| regress | head_dim 64, 8/2 heads, L 7, non-causal, bf16 | 8k | 1 |"));
}

TEST_CASE("text ends with the cells that regressed and the verdict") {
  const std::string text = check_text(report_of({checked(Verdict::regress, "slower")}), facts);
  CHECK_THAT(text,
             ContainsSubstring("regress: head_dim 64, 8/2 heads, L 7, non-causal, bf16, context 8k, batch 1: slower\n"
                               "regress: 0 pass, 1 regress, 0 no-verdict, 0 not asked for\n"));
  CHECK_THAT(check_text(report_of({}), facts), ContainsSubstring("no-verdict: nothing to compare"));
}

}  // namespace headtune
