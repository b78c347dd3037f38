#include "tuner/cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace headtune::cli {
namespace {

using Clock = std::chrono::steady_clock;

/// A log gets a line when something has changed, but not more often.
constexpr std::chrono::seconds plain_period{5};

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// "1:05 left" from the rate so far; empty until there is one.
std::string left_text(const SweepCounts& counts, double seconds) {
  const int worked = counts.timed + counts.failed, waiting = counts.total - counts.done();
  if (worked == 0 || waiting <= 0) return "";
  const int left = static_cast<int>(seconds / worked * waiting + 0.5);
  return fmt::format(", {:.1f}/s, {}:{:02} left", worked / seconds, left / 60, left % 60);
}

}  // namespace

std::string counts_text(const SweepCounts& c) {
  std::string text = fmt::format("{} configurations: {} pruned", c.total, c.pruned);
  const std::pair<int, const char*> others[] = {{c.resumed, "known"},     {c.compiled, "compiled"},
                                                {c.verified, "verified"}, {c.timed, "timed"},
                                                {c.failed, "failed"},     {c.untried, "not tried"}};
  for (const auto& [count, name] : others)
    if (count > 0) text += fmt::format(", {} {}", count, name);
  return text;
}

Progress::Progress(bool quiet) : quiet_(quiet), terminal_(::isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  // Left by an error or Ctrl-C: the message that follows is the only line.
  if (!quiet_ && !title_.empty() && terminal_) fmt::print(stderr, "\r\x1b[2K");
}

void Progress::begin(const std::string& title) {
  title_ = title;
  start_ = Clock::now();
  shown_ = {};
  last_ = {};
}

std::string Progress::line(const SweepCounts& counts, const std::string& what) const {
  return fmt::format("{}: {}{}{}", title_, counts_text(counts), left_text(counts, seconds_since(start_)),
                     what.empty() ? "" : "  " + what);
}

void Progress::step(const SweepCounts& counts, const std::string& what) {
  last_ = counts;
  if (quiet_ || title_.empty()) return;
  if (terminal_) {
    // Erase the line, never wrap it: a wrapped line cannot be taken back.
    fmt::print(stderr, "\r\x1b[2K{:.150}", line(counts, what));
  } else if (Clock::now() - shown_ >= plain_period) {
    fmt::print(stderr, "{}\n", line(counts, what));
  } else {
    return;
  }
  std::fflush(stderr);
  shown_ = Clock::now();
}

void Progress::end() {
  if (!quiet_ && !title_.empty())
    fmt::print(stderr, "{}{}: {}, {:.1f} s\n", terminal_ ? "\r\x1b[2K" : "", title_, counts_text(last_),
               seconds_since(start_));
  title_.clear();
}

}  // namespace headtune::cli
