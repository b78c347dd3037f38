#include "tuner/judgement.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "tuner/stats.h"

namespace headtune {
namespace {

/// Tables keep nanoseconds.
constexpr double table_resolution_us = 0.0005;

std::string percent(double ratio) { return fmt::format("{:+.1f} %", 100 * (ratio - 1)); }

Judgement without_verdict(Judgement judgement, std::string reason) {
  judgement.verdict = Verdict::no_verdict;
  judgement.reason = std::move(reason);
  return judgement;
}

/// Why the baseline decides nothing; empty when it may.
std::string baseline_doubt(const PassTime& baseline, const GateRule& rule) {
  if (!(baseline.median_us > 0)) return "the baseline has no time here";
  if (baseline.samples < rule.min_samples)
    return fmt::format("too few samples in the baseline: {}, at least {} needed", baseline.samples, rule.min_samples);
  if (!baseline.doubt.empty()) return "the baseline is " + baseline.doubt;
  return "";
}

std::string pass_doubt(const PassTime& pass, const GateRule& rule) {
  if (pass.samples < rule.min_samples)
    return fmt::format("too few samples ({}, at least {} needed)", pass.samples, rule.min_samples);
  return pass.doubt;
}

double root_of_squares(double a, double b, double c) { return std::sqrt(a * a + b * b + c * c); }

std::vector<PassTime> trusted(std::span<const PassTime> passes, const GateRule& rule, std::string& first_doubt) {
  std::vector<PassTime> good;
  for (const PassTime& pass : passes) {
    const std::string doubt = pass_doubt(pass, rule);
    if (doubt.empty()) good.push_back(pass);
    if (first_doubt.empty()) first_doubt = doubt;
  }
  return good;
}

/// Median, spread and width of the passes, into the judgement.
void weigh(Judgement& j, const PassTime& baseline, std::span<const PassTime> passes, const GateRule& rule) {
  std::vector<double> medians, widths;
  for (const PassTime& pass : passes) medians.push_back(pass.median_us), widths.push_back(pass.half_width());
  const auto [least, most] = std::minmax_element(medians.begin(), medians.end());
  j.present_us = median(medians);
  j.noise_us = root_of_squares(*most - *least, median(widths), baseline.half_width());
  j.threshold_us = std::max({rule.floor_us, rule.relative * baseline.median_us, rule.noise_factor * j.noise_us});
}

std::string what_limits(const Judgement& j, const GateRule& rule) {
  if (j.threshold_us <= rule.floor_us) return "the absolute floor";
  return j.threshold_us <= rule.relative * j.baseline_us ? fmt::format("{:g} %", 100 * rule.relative)
                                                         : fmt::format("{:g} times the noise", rule.noise_factor);
}

}  // namespace

const char* name(Verdict verdict) {
  switch (verdict) {
    case Verdict::pass:
      return "pass";
    case Verdict::regress:
      return "regress";
    case Verdict::no_verdict:
      return "no-verdict";
  }
  return "unknown";
}

Judgement judge(const PassTime& baseline, std::span<const PassTime> passes, const GateRule& rule) {
  Judgement j;
  j.baseline_us = baseline.median_us;
  if (const std::string doubt = baseline_doubt(baseline, rule); !doubt.empty()) return without_verdict(j, doubt);
  std::string doubt;
  const auto good = trusted(passes, rule, doubt);
  if (!good.empty()) weigh(j, baseline, good, rule);
  if (static_cast<int>(good.size()) < rule.min_passes)
    return without_verdict(j, fmt::format("{} of {} passes can be trusted, at least {} needed{}{}", good.size(),
                                          passes.size(), rule.min_passes, doubt.empty() ? "" : ": ", doubt));
  const double change = j.present_us - j.baseline_us;
  if (change > j.threshold_us) {
    j.verdict = Verdict::regress;
    j.reason = fmt::format("slower by {:.2f} us ({}); {} allows {:.2f} us", change, percent(j.ratio()),
                           what_limits(j, rule), j.threshold_us);
    return j;
  }
  if (rule.noise_factor * j.noise_us > std::max(rule.floor_us, rule.max_threshold * j.baseline_us))
    return without_verdict(
        j, fmt::format("too noisy: {:g} times the noise is {:.1f} % of the baseline, above {:g} %", rule.noise_factor,
                       100 * rule.noise_factor * j.noise_us / j.baseline_us, 100 * rule.max_threshold));
  j.verdict = Verdict::pass;
  if (-change > j.threshold_us)
    j.reason = fmt::format("faster by {:.2f} us ({}): sweep again to keep the gate tight", -change, percent(j.ratio()));
  else if (change > rule.relative * j.baseline_us)
    j.reason = fmt::format("slower by {:.2f} us ({}), within {} ({:.2f} us)", change, percent(j.ratio()),
                           what_limits(j, rule), j.threshold_us);
  return j;
}

std::string differences(std::span<const CodeFigure> figures) {
  std::vector<std::string> parts;
  for (const CodeFigure& f : figures)
    if (f.stored != f.present) parts.push_back(fmt::format("{} {} -> {}", f.what, f.stored, f.present));
  return fmt::format("{}", fmt::join(parts, ", "));
}

Judgement judge_estimated(double baseline_us, double present_us, std::span<const CodeFigure> figures) {
  Judgement j;
  j.baseline_us = baseline_us, j.present_us = present_us, j.threshold_us = table_resolution_us;
  if (!(baseline_us > 0)) return without_verdict(j, "the baseline has no time here");
  const double change = present_us - baseline_us;
  // Beyond the resolution, since a table rounds what a database keeps whole.
  const bool slower = change > 1.001 * table_resolution_us, faster = -change > 1.001 * table_resolution_us;
  std::vector<std::string> reasons;
  if (slower) reasons.push_back(fmt::format("estimate slower by {:.3f} us ({})", change, percent(j.ratio())));
  if (faster)
    reasons.push_back(fmt::format("estimate faster by {:.3f} us ({}): sweep again to keep the gate exact", -change,
                                  percent(j.ratio())));
  if (const std::string named = differences(figures); !named.empty()) reasons.push_back(named);
  const bool grown = std::any_of(figures.begin(), figures.end(),
                                 [](const CodeFigure& f) { return f.must_not_grow && f.present > f.stored; });
  j.verdict = slower || grown ? Verdict::regress : Verdict::pass;
  j.reason = fmt::format("{}", fmt::join(reasons, "; "));
  return j;
}

Verdict overall(std::span<const Verdict> verdicts) {
  const auto any = [&](Verdict v) { return std::find(verdicts.begin(), verdicts.end(), v) != verdicts.end(); };
  if (any(Verdict::regress)) return Verdict::regress;
  return verdicts.empty() || any(Verdict::no_verdict) ? Verdict::no_verdict : Verdict::pass;
}

}  // namespace headtune
