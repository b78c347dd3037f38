#include "tuner/toolchain/ptxas_log.h"

#include <regex>
#include <sstream>

namespace headtune::toolchain {
namespace {

int number_before(const std::string& line, const char* unit) {
  std::smatch match;
  return std::regex_search(line, match, std::regex(std::string("(\\d+) ") + unit)) ? std::stoi(match[1]) : 0;
}

bool is_report(const std::string& line) {
  return line.rfind("ptxas info", 0) == 0 || (line.rfind("ptxas", 0) == 0 && line.find("stack frame") != line.npos);
}

/// Spills are reported in bytes; a register is four.
void read_line(const std::string& line, Resources& kernel) {
  if (line.find("stack frame") != line.npos) {
    kernel.scratch_bytes = number_before(line, "bytes stack frame");
    kernel.vgpr_spills = number_before(line, "bytes spill stores") / 4;
  } else if (line.find("Used ") != line.npos) {
    std::smatch match;
    if (std::regex_search(line, match, std::regex("Used (\\d+) registers"))) kernel.vgpr = std::stoi(match[1]);
    kernel.lds_bytes = number_before(line, "bytes smem");
  }
}

}  // namespace

PtxasLog read_ptxas_log(const std::string& log) {
  static const std::regex entry("Compiling entry function '([^']+)'");
  PtxasLog result;
  std::string current, line;
  for (std::istringstream lines(log); std::getline(lines, line);) {
    std::smatch match;
    if (!is_report(line)) {
      if (line.find_first_not_of(" \t\r\0") != line.npos) result.rest += line + "\n";
    } else if (std::regex_search(line, match, entry)) {
      current = match[1];
      result.kernels[current] = {};
    } else if (!current.empty()) {
      read_line(line, result.kernels[current]);
    }
  }
  return result;
}

}  // namespace headtune::toolchain
