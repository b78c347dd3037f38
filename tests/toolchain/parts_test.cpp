// The parts of the compile process that need no compiler.
#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <random>

#include "tuner/sha256.h"
#include "tuner/toolchain/amd_metadata.h"
#include "tuner/toolchain/elf_image.h"
#include "tuner/toolchain/ptxas_log.h"
#include "tuner/toolchain/wire.h"

using namespace headtune;

TEST_CASE("SHA-256 of known texts", "[toolchain]") {
  CHECK(sha256_hex(std::string_view("")) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256_hex(std::string_view("abc")) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(Sha256().update("a").update("bc").hex() == sha256_hex(std::string_view("abc")));
  CHECK(Sha256().field("ab").field("c").hex() != Sha256().field("a").field("bc").hex());
}

TEST_CASE("hexadecimal round trip and its errors", "[toolchain]") {
  std::mt19937 random(1);
  std::vector<std::byte> bytes(1000);
  for (auto& byte : bytes) byte = static_cast<std::byte>(random());
  CHECK(wire::from_hex(wire::to_hex(bytes)) == bytes);
  CHECK(wire::to_hex(std::vector{std::byte{0x0f}, std::byte{0xa0}}) == "0fa0");
  CHECK_THROWS(wire::from_hex("0"));
  CHECK_THROWS(wire::from_hex("0x"));
}

TEST_CASE("the resource report is read and taken out of an NVRTC log", "[toolchain]") {
  const auto log = toolchain::read_ptxas_log(
      "kernel.hip(3): warning: x\n"
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'k2' for 'sm_90'\n"
      "ptxas info    : Function properties for k2\n"
      "ptxas         .     400 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads\n"
      "ptxas info    : Used 40 registers, used 0 barriers, 400 bytes cumulative stack size\n"
      "ptxas info    : Compile time = 104.418 ms\n"
      "ptxas info    : Compiling entry function 'k' for 'sm_90'\n"
      "ptxas info    : Used 10 registers, used 1 barriers, 256 bytes smem\n");
  CHECK(log.rest == "kernel.hip(3): warning: x\n");
  REQUIRE(log.kernels.size() == 2);
  CHECK(log.kernels.at("k2").vgpr == 40);
  CHECK(log.kernels.at("k2").scratch_bytes == 400);
  CHECK(log.kernels.at("k2").vgpr_spills == 2);
  CHECK(log.kernels.at("k2").lds_bytes == 0);
  CHECK(log.kernels.at("k").vgpr == 10);
  CHECK(log.kernels.at("k").lds_bytes == 256);
}

TEST_CASE("images that are no ELF are refused, never read past their end", "[toolchain]") {
  CHECK_THROWS(toolchain::ElfImage({}));
  std::vector<std::byte> image(256, std::byte{0});
  CHECK_THROWS(toolchain::amd_resources(image));
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, "\177ELF\2\1\1", 7);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 3;
  std::mt19937_64 random(2);
  for (int i = 0; i < 2000; ++i) {
    for (auto& byte : image) byte = static_cast<std::byte>(random());
    header.e_shoff = random() % 200;
    std::memcpy(image.data(), &header, sizeof header);
    CHECK_THROWS(toolchain::amd_resources(image));
  }
}
