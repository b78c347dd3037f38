#include "tuner/cli/frozen_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "tuner/cli/check_report.h"
#include "tuner/cli/problem_options.h"
#include "tuner/cli/report.h"

namespace headtune::cli {
namespace {

using nlohmann::json;
using Findings = std::vector<FrozenFinding>;

long count(const Findings& findings, Frozen verdict) {
  return std::ranges::count(findings, verdict, &FrozenFinding::verdict);
}

const char* word(Frozen verdict) {
  switch (verdict) {
    case Frozen::same:
      return "same";
    case Frozen::changed:
      return "changed";
    case Frozen::no_record:
      return "no-verdict";
  }
  return "";
}

const char* word(Exit verdict) {
  return verdict == Exit::ok ? "pass" : verdict == Exit::regress ? "regress" : "no-verdict";
}

std::string summary(const Findings& findings) {
  return fmt::format("{}: {} same, {} changed, {} without a record", word(verdict(findings)),
                     count(findings, Frozen::same), count(findings, Frozen::changed),
                     count(findings, Frozen::no_record));
}

/// "gfx950 verify_shared_kv_stage1, head_dim 576/512, ..., 6,32,8 LOAD_PATH=1"
std::string title(const FrozenFinding& finding) {
  if (finding.verdict == Frozen::no_record) return finding.arch;
  return fmt::format("{} {}, {}, {}", finding.arch, finding.kernel, describe(finding.variant.problem),
                     short_text(finding.variant.config));
}

json finding_json(const FrozenFinding& finding) {
  json value = {{"arch", finding.arch}, {"verdict", word(finding.verdict)}, {"detail", finding.detail}};
  if (finding.verdict == Frozen::no_record) return value;
  value["kernel"] = finding.kernel;
  value["problem"] = problem_json(finding.variant.problem);
  value["config"] = config_json(finding.variant.config);
  return value;
}

std::string junit_body(const FrozenFinding& finding) {
  if (finding.verdict == Frozen::same) return "/>\n";
  const bool changed = finding.verdict == Frozen::changed;
  return fmt::format("><{0} type=\"{1}\" message=\"{2}\">{3}</{0}></testcase>\n", changed ? "failure" : "error",
                     word(finding.verdict), changed ? "the machine code changed" : xml_escaped(finding.detail),
                     changed ? "\n" + xml_content(finding.detail) : "");
}

}  // namespace

std::string findings_text(const Findings& findings) {
  std::string text;
  for (const FrozenFinding& finding : findings) {
    text += fmt::format("{}: {}", word(finding.verdict), title(finding));
    if (finding.verdict == Frozen::no_record) text += ": " + finding.detail;
    text += "\n";
    if (finding.verdict == Frozen::changed) text += finding.detail;
  }
  return text + summary(findings) + "\n";
}

json findings_json(const Findings& findings) {
  json all = json::array();
  for (const FrozenFinding& finding : findings) all.push_back(finding_json(finding));
  return {{"verdict", word(verdict(findings))}, {"findings", all}};
}

std::string findings_junit(const Findings& findings) {
  std::string cases;
  for (const FrozenFinding& finding : findings)
    cases += fmt::format("  <testcase classname=\"headtune.frozen.{}\" name=\"{}\"", xml_escaped(finding.arch),
                         xml_escaped(title(finding))) +
             junit_body(finding);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites><testsuite name=\"headtune frozen paths\" tests=\"{}\" "
      "failures=\"{}\" errors=\"{}\">\n{}</testsuite></testsuites>\n",
      findings.size(), count(findings, Frozen::changed), count(findings, Frozen::no_record), cases);
}

std::string findings_markdown(const Findings& findings) {
  std::string text = fmt::format("**Frozen paths: {}**\n", summary(findings));
  for (const FrozenFinding& finding : findings) {
    if (finding.verdict == Frozen::no_record) text += fmt::format("\n{}: {}\n", title(finding), finding.detail);
    if (finding.verdict == Frozen::changed)
      text += fmt::format("\n{}\n\n```diff\n{}```\n", title(finding), finding.detail);
  }
  return text;
}

}  // namespace headtune::cli
