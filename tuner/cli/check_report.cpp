#include "tuner/cli/check_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "tuner/build_table.h"
#include "tuner/cli/parse.h"
#include "tuner/cli/problem_options.h"
#include "tuner/cli/report.h"

namespace headtune::cli {
namespace {

using nlohmann::json;

std::string problem_text(const Problem& problem) {
  return problem.num_kv_heads > 0 ? describe(problem) : fmt::format("head_dim {}", problem.head_dim);
}

/// Empty for a cell that names no point.
std::string point_text(const TimedShape& shape) {
  std::string text = shape.context ? "context " + count_text(shape.context) : "";
  if (shape.batch) text += fmt::format("{}batch {}", text.empty() ? "" : ", ", shape.batch);
  return text;
}

std::string us_text(double us, bool estimated) {
  if (!(us > 0)) return "-";
  return estimated ? fmt::format("{:.3f}", us) : fmt::format("{:.2f}", us);
}

/// What the present time may exceed the baseline by.
std::string threshold_text(const Judgement& j, bool estimated) {
  return estimated && j.present_us > 0 ? "exact" : us_text(j.threshold_us, false);
}

std::string ratio_text(const Judgement& j) { return j.ratio() > 0 ? fmt::format("{:.4f}", j.ratio()) : "-"; }

std::string number_text(int value) { return value ? count_text(value) : "-"; }

std::string rule_text(const CheckReport& report, const CheckFacts& facts) {
  if (report.environment.estimated) return "estimated times repeat exactly: slower, or more spills, is a regress";
  const GateRule& r = facts.rule;
  return fmt::format(
      "regress: slower by more than {:g} us, {:g} % and {:g} times the noise of {} passes and the stored interval",
      r.floor_us, 100 * r.relative, r.noise_factor, facts.passes);
}

std::string summary_text(const CheckReport& report) {
  const std::string counts =
      fmt::format("{} pass, {} regress, {} no-verdict, {} not asked for", report.count(Verdict::pass),
                  report.count(Verdict::regress), report.count(Verdict::no_verdict), report.not_asked.size());
  return fmt::format("{}: {}", name(report.verdict()), report.cells.empty() ? "nothing to compare; " + counts : counts);
}

std::string heading(const CheckedCell& checked) {
  const std::string config = checked.cell.baseline.median_us > 0 ? ": " + short_text(checked.config) : "";
  return problem_text(checked.cell.problem) + config;
}

std::string cell_line(const CheckedCell& checked, bool estimated) {
  const Judgement& j = checked.judgement;
  const TimedShape& shape = checked.cell.shape;
  std::string line =
      fmt::format("  {:<10} {:>7} {:>6} {:>11} {:>10} {:>8} {:>12}", name(j.verdict), number_text(shape.context),
                  shape.batch ? std::to_string(shape.batch) : "-", us_text(j.baseline_us, estimated),
                  us_text(j.present_us, estimated), ratio_text(j), threshold_text(j, estimated));
  if (!j.reason.empty()) line += "  " + j.reason;
  return line + "\n";
}

std::string cells_text(const CheckReport& report) {
  std::string text, present;
  for (const CheckedCell& checked : report.cells) {
    if (heading(checked) != present)
      text += (present = heading(checked)) + fmt::format("\n  {:<10} {:>7} {:>6} {:>11} {:>10} {:>8} {:>12}\n",
                                                         "verdict", "context", "batch", "baseline us", "present us",
                                                         "ratio", "threshold us");
    text += cell_line(checked, report.environment.estimated);
  }
  return text;
}

/// "  head_dim 64, ...: 1x16k 8x16k", as batch x context.
std::string not_asked_text(const CheckReport& report) {
  std::string text, present;
  for (const CheckCell& cell : report.not_asked) {
    if (problem_text(cell.problem) != present)
      text += (text.empty() ? "  " : "\n  ") + (present = problem_text(cell.problem)) + ":";
    text += fmt::format(" {}x{}", cell.shape.batch, count_text(cell.shape.context));
  }
  return text.empty() ? "" : fmt::format("not asked for (batch x context):\n{}\n", text);
}

std::string list_text(const std::string& title, const std::vector<std::string>& lines) {
  std::string text = lines.empty() ? "" : title + "\n";
  for (const std::string& line : lines) text += "  " + line + "\n";
  return text;
}

std::string regress_lines(const CheckReport& report) {
  std::string text;
  for (const CheckedCell& checked : report.cells)
    if (checked.judgement.verdict == Verdict::regress)
      text += fmt::format("regress: {}: {}\n", cell_text(checked.cell), checked.judgement.reason);
  return text;
}

json cell_json(const CheckCell& cell) {
  return {{"problem", problem_json(cell.problem)}, {"context", cell.shape.context}, {"batch", cell.shape.batch}};
}

json checked_json(const CheckedCell& checked) {
  json value = cell_json(checked.cell);
  const Judgement& j = checked.judgement;
  const auto time = [](double us) { return us > 0 ? json(us) : json(nullptr); };
  if (checked.cell.baseline.median_us > 0) value["config"] = config_json(checked.config);
  value["verdict"] = name(j.verdict), value["reason"] = j.reason;
  value["baseline_us"] = time(j.baseline_us), value["present_us"] = time(j.present_us),
  value["ratio"] = time(j.ratio());
  value["threshold_us"] = time(j.threshold_us), value["noise_us"] = j.noise_us;
  return value;
}

std::string junit_case(const CheckCell& cell, const std::string& body) {
  const std::string point = point_text(cell.shape);
  return fmt::format(R"(  <testcase classname="headtune.{}" name="{}")", xml_escaped(problem_text(cell.problem)),
                     xml_escaped(point.empty() ? "any" : point)) +
         (body.empty() ? "/>\n" : ">" + body + "</testcase>\n");
}

std::string junit_body(const CheckedCell& checked, bool estimated) {
  const Judgement& j = checked.judgement;
  if (j.verdict == Verdict::pass) return "";
  const char* element = j.verdict == Verdict::regress ? "failure" : "error";
  return fmt::format(
      R"(<{0} type="{1}" message="{2}">baseline {3} us, present {4} us, ratio {5}, threshold {6} us</{0}>)", element,
      name(j.verdict), xml_escaped(j.reason), us_text(j.baseline_us, estimated), us_text(j.present_us, estimated),
      ratio_text(j), threshold_text(j, estimated));
}

/// A cell of a Markdown table: one line, no bar.
std::string markdown_escaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|' || c == '\\' || c == '<') escaped += '\\';
    escaped += c == '\n' || c == '\r' ? ' ' : c;
  }
  return escaped;
}

}  // namespace

std::string cell_text(const CheckCell& cell) {
  const std::string point = point_text(cell.shape);
  return problem_text(cell.problem) + (point.empty() ? "" : ", " + point);
}

std::string check_text(const CheckReport& report, const CheckFacts& facts) {
  std::string text = fmt::format("baseline {}\ndevice {}\n{}\n", facts.baseline, environment_text(report.environment),
                                 rule_text(report, facts));
  text += cells_text(report) + not_asked_text(report);
  text += list_text("rows of other devices, not compared:", report.elsewhere);
  text += list_text(facts.allow_stale ? "stale rows, judged as allowed:" : "stale rows (--allow-stale judges them):",
                    report.stale);
  return text + regress_lines(report) + summary_text(report) + "\n";
}

json check_json(const CheckReport& report, const CheckFacts& facts) {
  json value = {{"verdict", name(report.verdict())},
                {"exit", static_cast<int>(exit_of(report.verdict()))},
                {"baseline", facts.baseline},
                {"environment", environment_text(report.environment)},
                {"estimated", report.environment.estimated},
                {"rule",
                 {{"floor_us", facts.rule.floor_us},
                  {"relative", facts.rule.relative},
                  {"noise_factor", facts.rule.noise_factor},
                  {"max_threshold", facts.rule.max_threshold},
                  {"passes", facts.passes}}},
                {"cells", json::array()},
                {"not_asked", json::array()},
                {"other_devices", report.elsewhere},
                {"stale", report.stale}};
  for (const CheckedCell& checked : report.cells) value["cells"].push_back(checked_json(checked));
  for (const CheckCell& cell : report.not_asked) value["not_asked"].push_back(cell_json(cell));
  return value;
}

std::string check_junit(const CheckReport& report, const CheckFacts& facts) {
  std::string cases;
  for (const CheckedCell& checked : report.cells)
    cases += junit_case(checked.cell, junit_body(checked, report.environment.estimated));
  for (const CheckCell& cell : report.not_asked) cases += junit_case(cell, R"(<skipped message="not asked for"/>)");
  // A suite without test cases looks green everywhere.
  const bool nothing = report.cells.empty();
  if (nothing)
    cases +=
        "  <testcase classname=\"headtune\" name=\"baseline\"><error type=\"no-verdict\" message=\"nothing to "
        "compare\"/></testcase>\n";
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuite name=\"headtune check {}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n"
      "{}  <system-out>{}</system-out>\n</testsuite>\n",
      xml_escaped(facts.baseline), report.cells.size() + report.not_asked.size() + nothing,
      report.count(Verdict::regress), report.count(Verdict::no_verdict) + nothing, report.not_asked.size(), cases,
      xml_escaped(environment_text(report.environment)));
}

std::string check_markdown(const CheckReport& report, const CheckFacts& facts) {
  std::string text =
      fmt::format("**headtune check: {}** ({}; {})\n\n", summary_text(report), markdown_escaped(facts.baseline),
                  markdown_escaped(environment_text(report.environment)));
  text +=
      "| verdict | problem | context | batch | baseline us | present us | ratio | threshold us | reason |\n"
      "|---|---|---:|---:|---:|---:|---:|---:|---|\n";
  for (const CheckedCell& checked : report.cells) {
    const Judgement& j = checked.judgement;
    const bool estimated = report.environment.estimated;
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", name(j.verdict),
                        problem_text(checked.cell.problem), number_text(checked.cell.shape.context),
                        number_text(checked.cell.shape.batch), us_text(j.baseline_us, estimated),
                        us_text(j.present_us, estimated), ratio_text(j), threshold_text(j, estimated),
                        markdown_escaped(j.reason));
  }
  return text;
}

std::string xml_escaped(const std::string& text) {
  std::string escaped = xml_content(text);
  std::ranges::replace_if(
      escaped, [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return escaped;
}

std::string xml_content(const std::string& text) {
  // Through JSON's UTF-8 check: a device's or a compiler's text may hold any bytes.
  const std::string valid =
      json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace)).get<std::string>();
  std::string escaped;
  for (const char c : valid) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '&')
      escaped += "&amp;";
    else if (c == '<')
      escaped += "&lt;";
    else if (c == '>')
      escaped += "&gt;";
    else if (c == '"')
      escaped += "&quot;";
    else if (c == '\r')
      escaped += ' ';
    else if (byte < 0x20 && c != '\n' && c != '\t')
      escaped += '?';
    else
      escaped += c;
  }
  return escaped;
}

}  // namespace headtune::cli
