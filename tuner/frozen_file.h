// The record of frozen code paths: what the compiler made of chosen variants, by architecture and compiler version.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "headtune/config.h"
#include "tuner/machine_code.h"

namespace headtune {

/// One compiled instance and the digests of its kernels by name.
struct FrozenVariant {
  std::string op;
  Problem problem;
  Config config;
  std::map<std::string, std::string> kernels;
};

/// What one compiler made for one architecture.
struct FrozenRecord {
  std::string arch;      ///< "gfx950"
  std::string compiler;  ///< as Toolchain::version says
  std::vector<FrozenVariant> variants;
};

/// What is kept of a kernel to show a difference. Whole texts would take 600 kB for three architectures: only an
/// operator's first kernel, the one that reads the cache, keeps its lines.
struct FrozenCode {
  std::map<std::string, int> opcodes;
  KernelCode lines;  ///< empty: counted only
};

struct FrozenFile {
  std::vector<FrozenRecord> records;
  std::map<std::string, FrozenCode> code;  ///< by digest; equal code is kept once

  const FrozenRecord* find(const std::string& arch, const std::string& compiler) const;
  /// Replaces the record of the same architecture and compiler and drops code that no record names any more.
  void put(FrozenRecord record, const std::map<std::string, FrozenCode>& code);
};

/// The same records give the same bytes.
std::string frozen_json(const FrozenFile& file);
/// Throws UsageError naming file and place.
FrozenFile parse_frozen(const std::string& text, const std::string& file_name);
FrozenFile read_frozen(const std::filesystem::path& file);

}  // namespace headtune
