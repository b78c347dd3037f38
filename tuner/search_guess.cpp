#include "tuner/search_guess.h"

#include <cmath>

#include "tuner/guess_combine.h"
#include "tuner/guess_walk.h"

namespace headtune {
namespace {

constexpr double launch_us = 2;

double guess_us(const Problem& problem, const Config& config, const Arch& arch, const TimedShape& shape) {
  const GuessGeometry geometry = guess_geometry(problem, config, arch, shape);
  return launch_us + walk_cycles(problem, config, arch, geometry) / cycles_per_us(arch) +
         combine_us(problem, config, arch, shape, geometry);
}

}  // namespace

double guess(const Problem& problem, const Config& config, const Arch& arch, std::span<const TimedShape> shapes) {
  double sum = 0;
  for (const TimedShape& shape : shapes) sum += std::log(guess_us(problem, config, arch, shape));
  return shapes.empty() ? 0 : sum / static_cast<double>(shapes.size());
}

}  // namespace headtune
