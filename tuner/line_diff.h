// The difference of two texts, line by line.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace headtune {

struct DiffLine {
  char sign = ' ';  ///< '-' only before, '+' only after, ' ' both
  std::string text;
};

/// A longest common subsequence and what surrounds it. Needs 2 bytes of memory for every pair of lines between the
/// first and the last difference.
std::vector<DiffLine> diff_lines(std::span<const std::string> before, std::span<const std::string> after);

/// The changed places, each under its line number in `before`, with `context` equal lines around; ends after `most`
/// changed lines and says how many follow. Empty when nothing changed.
std::string hunks_text(std::span<const DiffLine> lines, int context = 2, int most = 40);

}  // namespace headtune
