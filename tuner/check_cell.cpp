#include "tuner/check_cell.h"

#include "tuner/build_table.h"

namespace headtune {
namespace {

std::vector<CodeFigure> code_figures(const Evidence& evidence, const Binary& binary) {
  std::vector<CodeFigure> figures;
  for (const KernelResources& stored : evidence.kernels) {
    const auto found = binary.kernels.find(stored.kernel);
    if (found == binary.kernels.end()) continue;
    const KernelResources present = kernel_resources(found->first, found->second);
    for (const KernelFigure& figure : kernel_figures)
      figures.push_back(
          {stored.kernel + " " + figure.name, stored.*figure.member, present.*figure.member, figure.is_spill});
  }
  return figures;
}

/// What the simulator counted, where the baseline has it: it tells where an estimate's cycles went.
void add_counters(std::vector<CodeFigure>& figures, const PassTime& stored, const PassTime& present) {
  for (const auto& [name, count] : stored.counters)
    if (const auto found = present.counters.find(name); found != present.counters.end())
      figures.push_back({name, count, found->second, false});
}

}  // namespace

PassTime pass_of(const CellTime& stored) {
  return {stored.median_us, stored.low_us, stored.high_us, stored.samples, "", stored.counters};
}

Judgement judge_cell(const CheckSubject& subject, const CheckCell& cell, const Evidence& evidence, bool estimated,
                     const GateRule& rule) {
  if (subject.failed) {
    Judgement j;
    j.verdict = subject.failed->verdict, j.reason = subject.failed->reason, j.baseline_us = cell.baseline.median_us;
    return j;
  }
  const auto& passes = subject.passes.at(cell.shape);
  auto figures = code_figures(evidence, subject.binary);
  add_counters(figures, pass_of(cell.baseline), passes.front());
  if (estimated) return judge_estimated(cell.baseline.median_us, passes.front().median_us, figures);
  Judgement j = judge(pass_of(cell.baseline), passes, rule);
  if (const std::string changed = differences(figures); j.verdict == Verdict::regress && !changed.empty())
    j.reason += "; " + changed;
  return j;
}

}  // namespace headtune
