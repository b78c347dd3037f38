#include "tuner/sha256.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <fstream>
#include <stdexcept>

namespace headtune {

struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~State() { EVP_MD_CTX_free(context); }
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  if (!state_->context || EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr) != 1) {
    throw std::runtime_error("OpenSSL offers no SHA-256");
  }
}

Sha256::~Sha256() = default;

Sha256& Sha256::update(std::span<const std::byte> bytes) {
  EVP_DigestUpdate(state_->context, bytes.data(), bytes.size());
  return *this;
}

Sha256& Sha256::update(std::string_view text) { return update(std::as_bytes(std::span(text))); }

Sha256& Sha256::field(std::string_view text) { return update(fmt::format("{}:", text.size())).update(text); }

std::string Sha256::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  EVP_DigestFinal_ex(state_->context, digest.data(), &size);
  std::string text;
  for (unsigned i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

std::string sha256_hex(std::span<const std::byte> bytes) { return Sha256().update(bytes).hex(); }

std::string sha256_hex(std::string_view text) { return Sha256().update(text).hex(); }

std::string sha256_hex_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(fmt::format("cannot read {}", path.string()));
  Sha256 digest;
  std::array<char, 1 << 16> block;
  while (file.read(block.data(), block.size()), file.gcount() > 0) {
    digest.update(std::string_view(block.data(), static_cast<std::size_t>(file.gcount())));
  }
  return digest.hex();
}

}  // namespace headtune
