#include "tuner/line_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace headtune {
namespace {

using Lines = std::span<const std::string>;

/// Length of the longest common subsequence of what follows line i of `a` and line j of `b`.
class CommonLength {
 public:
  CommonLength(Lines a, Lines b) : columns_(b.size() + 1), length_((a.size() + 1) * columns_) {
    for (std::size_t i = a.size(); i-- > 0;)
      for (std::size_t j = b.size(); j-- > 0;)
        at(i, j) =
            a[i] == b[j] ? static_cast<std::uint16_t>(at(i + 1, j + 1) + 1) : std::max(at(i + 1, j), at(i, j + 1));
  }
  std::uint16_t& at(std::size_t i, std::size_t j) { return length_[i * columns_ + j]; }

 private:
  std::size_t columns_;
  std::vector<std::uint16_t> length_;
};

/// Both differ in their first and in their last line, or are empty.
void add_middle(Lines a, Lines b, std::vector<DiffLine>& result) {
  CommonLength common(a, b);
  std::size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    if (i < a.size() && j < b.size() && a[i] == b[j])
      result.push_back({' ', a[i]}), ++i, ++j;
    else if (j == b.size() || (i < a.size() && common.at(i + 1, j) >= common.at(i, j + 1)))
      result.push_back({'-', a[i++]});
    else
      result.push_back({'+', b[j++]});
  }
}

bool near_change(std::span<const DiffLine> lines, std::size_t i, std::size_t context) {
  const std::size_t first = i < context ? 0 : i - context, last = std::min(lines.size(), i + context + 1);
  return std::any_of(lines.begin() + static_cast<std::ptrdiff_t>(first),
                     lines.begin() + static_cast<std::ptrdiff_t>(last),
                     [](const DiffLine& line) { return line.sign != ' '; });
}

}  // namespace

std::vector<DiffLine> diff_lines(Lines before, Lines after) {
  const auto [a, b] = std::ranges::mismatch(before, after);
  const auto head = static_cast<std::size_t>(a - before.begin());
  std::size_t tail = 0;
  const std::size_t most = std::min(before.size(), after.size()) - head;
  while (tail < most && before[before.size() - 1 - tail] == after[after.size() - 1 - tail]) ++tail;
  std::vector<DiffLine> result;
  for (const std::string& line : before.first(head)) result.push_back({' ', line});
  add_middle(before.subspan(head, before.size() - head - tail), after.subspan(head, after.size() - head - tail),
             result);
  for (const std::string& line : before.last(tail)) result.push_back({' ', line});
  return result;
}

std::string hunks_text(std::span<const DiffLine> lines, int context, int most) {
  std::string text;
  int changed = 0, line_before = 0;
  bool in_hunk = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    line_before += lines[i].sign != '+';
    const bool shown = near_change(lines, i, static_cast<std::size_t>(context));
    changed += lines[i].sign != ' ';
    if (shown && changed <= most) {
      if (!in_hunk) text += fmt::format("@@ line {}\n", line_before);
      text += fmt::format("{}{}\n", lines[i].sign, lines[i].text);
    }
    in_hunk = shown;
  }
  return changed > most ? text + fmt::format("... {} more changed lines\n", changed - most) : text;
}

}  // namespace headtune
