// A replayable launch in a folder: launch.json ("headtune-launch/1", docs/bundle.md) and the binary files it names.
// For bug reports, and for other people's emulators: everything that a card would see is in it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace headtune {

/// An 8-byte address in the kernel arguments that the replayer fills in.
struct BundlePointer {
  std::uint32_t offset = 0;  ///< in the kernel arguments
  std::string buffer;
  std::uint64_t byte_offset = 0;  ///< from the buffer's start
};

struct BundleLaunch {
  std::string code_object;  ///< file name
  std::string kernel;
  std::array<std::uint32_t, 3> grid{1, 1, 1};   ///< workgroups
  std::array<std::uint32_t, 3> block{1, 1, 1};  ///< threads
  std::uint32_t dynamic_lds = 0;                ///< bytes
  std::vector<std::byte> kernarg;               ///< complete, with hidden arguments; pointers are 0
  std::vector<BundlePointer> pointers;
};

struct BundleBuffer {
  std::uint64_t bytes = 0;
  std::string file;  ///< contents, or empty: every byte is `fill`
  std::uint8_t fill = 0;
};

/// What a buffer holds after the launches: a float32 for each of its elements; NaN entries are not compared.
struct BundleExpect {
  std::string buffer;
  std::string file;
  std::string dtype;  ///< of the buffer's elements: "f32", "bf16", "fp16"
  double rel_l2 = 0;  ///< bound on |actual - expected| / |expected|, Euclidean norms
};

struct Bundle {
  std::string arch;
  std::vector<BundleLaunch> launches;  ///< in order, each after the one before
  std::map<std::string, BundleBuffer> buffers;
  std::vector<BundleExpect> expect;
  std::map<std::string, std::vector<std::byte>> files;  ///< by name; every file that the above names
};

/// Creates the folder; throws UsageError when it cannot be written or holds a launch.json already.
void write_bundle(const Bundle& bundle, const std::filesystem::path& folder);

/// Reads and validates everything. Throws UsageError with what is wrong and where.
Bundle read_bundle(const std::filesystem::path& folder);

/// The description alone, without files; throws UsageError. `read_bundle` is this plus the files and their sizes.
Bundle parse_bundle(const std::string& launch_json);

/// Bytes of one element: 4, 2 or 0 for a type that is not known.
int bundle_element_bytes(const std::string& dtype);

/// Euclidean distance of `actual` (elements of `dtype`) from the float32 reference, relative to the reference's norm,
/// and how many entries were compared. A NaN or infinity where a number is expected counts as infinitely far.
struct BundleDistance {
  double rel_l2 = 0;
  std::uint64_t compared = 0;
  std::uint64_t worst = 0;  ///< index of the element that is furthest off
};
BundleDistance bundle_distance(const std::vector<std::byte>& actual, const std::string& dtype,
                               const std::vector<std::byte>& reference);

}  // namespace headtune
