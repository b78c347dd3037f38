// One wave with its memories, for tests that execute single instructions given as text.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tuner/sim/decode.h"
#include "tuner/sim/memory.h"
#include "tuner/sim/state.h"

namespace headtune::sim {

inline constexpr std::uint32_t kTestScratch = 256;  ///< bytes per lane

struct Machine {
  explicit Machine(Arch arch_ = Arch::gfx950, std::uint32_t lds_bytes = 8192, bool check_races = false)
      : arch(arch_), lds(lds_bytes, check_races), scratch(kTestScratch * kLanes) {
    wave->reset();
    wave->arch = arch;
    wave->memory = &memory;
    wave->lds = &lds;
    wave->scratch = scratch.data();
    wave->scratch_per_lane = kTestScratch;
    wave->set_exec(~std::uint64_t{0});
    randomise();
  }

  /// Decodes and executes one line of disassembly.
  void execute(const std::string& text) {
    const Inst inst = decode_one({.pc = 0, .size = 8, .text = text}, arch);
    inst.handler(*wave, inst);
  }

  /// Random bits in every vector register.
  void randomise() {
    for (auto& lanes : wave->v)
      for (std::uint32_t& word : lanes) word = static_cast<std::uint32_t>(random());
  }

  std::uint32_t* v(int index) { return wave->v[index]; }
  std::uint32_t* a(int index) { return wave->v[kFirstAccumulation + index]; }

  Arch arch;
  Memory memory;
  Lds lds;
  std::vector<std::byte> scratch;
  std::mt19937_64 random{20261130};
  std::unique_ptr<Wave> wave = std::make_unique<Wave>();
};

inline const char* name_of(Arch arch) {
  return arch == Arch::gfx90a ? "gfx90a" : arch == Arch::gfx942 ? "gfx942" : "gfx950";
}

}  // namespace headtune::sim
