#include "benchmarks/recorded.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>
#include <sstream>
#include <stdexcept>

#include "tuner/search_guess.h"
#include "tuner/trials.h"

namespace headtune {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

/// "# ; gfx950 256; 64 64 8 2 7 0; axes LOAD_PATH ..."
void read_facts(const std::string& line, RecordedSweep& sweep) {
  const auto fields = split(line, ';');
  std::istringstream device(fields.at(1)), problem(fields.at(2)), axes(fields.at(3));
  std::string arch, word;
  int cu_count = 0;
  device >> arch >> cu_count;
  const Arch* known = find_arch(arch.c_str());
  if (!known) throw std::runtime_error("unknown architecture " + arch);
  sweep.arch = *known, sweep.arch.cu_count = cu_count;
  Problem& p = sweep.problem;
  problem >> p.head_dim >> p.v_head_dim >> p.num_q_heads >> p.num_kv_heads >> p.extend_len >> p.is_causal;
  for (axes >> word; axes >> word;) sweep.space.axes.push_back(word);
}

TimedShape shape_of(const std::string& text) {
  const auto parts = split(text, 'x');
  return {std::stoi(parts.at(0)), std::stoi(parts.at(1))};
}

int Config::*member_of(const std::string& column) {
  for (const Knob& knob : knobs)
    if (column == knob.name) return knob.member;
  return nullptr;
}

void read_row(const std::string& line, const std::vector<std::string>& columns, RecordedSweep& sweep) {
  const auto values = split(line, ',');
  Config config;
  double sum = 0;
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (const auto member = member_of(columns[i]))
      config.*member = std::stoi(values.at(i));
    else
      sum += std::log(std::stod(values.at(i)));
  sweep.space.configs.push_back(config);
  sweep.space.guesses.push_back(guess(sweep.problem, config, sweep.arch, sweep.shapes));
  sweep.scores.push_back(sum / static_cast<double>(sweep.shapes.size()));
}

}  // namespace

RecordedSweep read_recorded(const std::filesystem::path& file) {
  RecordedSweep sweep;
  sweep.name = file.stem().string();
  std::ifstream in(file);
  std::string line;
  int number = 0;
  try {
    std::getline(in, line), ++number;
    read_facts(line, sweep);
    std::getline(in, line), ++number;
    const auto columns = split(line, ',');
    for (const std::string& column : columns)
      if (!member_of(column)) sweep.shapes.push_back(shape_of(column));
    while (std::getline(in, line)) ++number, read_row(line, columns, sweep);
  } catch (const std::exception& error) {
    throw std::runtime_error(file.string() + ":" + std::to_string(number) + ": " + error.what());
  }
  return sweep;
}

std::vector<double> replay_search(const RecordedSweep& sweep, SearchKind kind, unsigned seed) {
  const double optimum = *std::min_element(sweep.scores.begin(), sweep.scores.end());
  Trials trials({kind, seed, {}}, sweep.space);
  std::vector<double> curve;
  double best = std::numeric_limits<double>::infinity();
  for (auto batch = trials.next_batch(); !batch.empty(); batch = trials.next_batch())
    for (const std::size_t index : batch) {
      trials.finished(index, sweep.scores[index]);
      best = std::min(best, sweep.scores[index]);
      curve.push_back(std::exp(optimum - best));
    }
  return curve;
}

}  // namespace headtune
