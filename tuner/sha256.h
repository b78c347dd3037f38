// SHA-256 of bytes, text and files: the key of every cache and of the template hash.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace headtune {

/// Incremental digest.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  Sha256& update(std::span<const std::byte> bytes);
  Sha256& update(std::string_view text);
  /// Length first, then text: a list of fields cannot be confused with another split of the same characters.
  Sha256& field(std::string_view text);
  /// 64 lower-case hexadecimal digits; ends the digest.
  std::string hex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string sha256_hex(std::span<const std::byte> bytes);
std::string sha256_hex(std::string_view text);
/// Throws std::runtime_error when the file cannot be read.
std::string sha256_hex_of_file(const std::filesystem::path& path);

}  // namespace headtune
