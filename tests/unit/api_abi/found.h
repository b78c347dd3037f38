// Which header versions the ABI test was compiled against.
#pragma once

#include <vector>

namespace headtune::abi {

/// Major versions of CUDA are registered times this, HIP's as they are.
inline constexpr int cuda_scale = 1000;

struct Version {
  int major_number, minor_number;
};

inline std::vector<Version>& versions() {
  static std::vector<Version> list;
  return list;
}

/// Registers one header version when the program starts.
struct Found {
  Found(int major_number, int minor_number) { versions().push_back({major_number, minor_number}); }
};

}  // namespace headtune::abi
