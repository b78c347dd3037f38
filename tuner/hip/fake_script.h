// The parsed script of the fake provider and the question it answers: how does this variant behave?
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/hip/fake.h"

namespace headtune::hip {

/// Integer constants of a rendered source ("static constexpr int BLOCK_H = 4;").
using Constants = std::map<std::string, int>;
Constants parse_constants(std::string_view source);

struct FakeVariant {
  Constants match;
  std::string compile = "ok";
  std::map<std::string, int> resources;
  double time_us = 10;
  double us_per_kkey = 0;  ///< per 1024 keys of all requests
  double stage2_us = 0;
  double us_per_split = 0;
  std::map<std::string, double> times;  ///< "BATCHxCONTEXT" -> us, instead of the two above
  std::string output = "right";
  int output_context = -1;  ///< -1: everywhere
  std::string fault = "none";
};

struct FakeScript {
  FakeDevice device;
  unsigned seed = 1;
  double noise = 0;
  double clock_from = 1, clock_to = 1;
  int clock_submissions = 1;
  bool clock_repeats = false;
  double gap_us = 0, gap_noise = 0;
  std::string log;
  std::vector<FakeVariant> variants;

  /// The first variant that matches, or a default one.
  const FakeVariant& variant(const Constants& constants) const;
};

/// Throws UsageError with file and place; unknown keys and words are refused.
FakeScript read_fake_script(const std::string& file);
FakeScript parse_fake_script(const std::string& json, const std::string& file);

/// A module image of the scripted device: this line, then the rendered source, then a NUL.
inline constexpr std::string_view fake_magic = "headtune-fake\n";

}  // namespace headtune::hip
