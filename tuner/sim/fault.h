// What stops a simulated wave: a fault of the program under test, with the place it happened.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace headtune::sim {

/// Thrown by handlers with only `what`, lane and address; the engine adds the instruction, the launcher the kernel.
struct Fault : std::runtime_error {
  explicit Fault(const std::string& what, int lane_ = -1, std::uint64_t address_ = 0)
      : std::runtime_error(what), lane(lane_), address(address_) {}
  int lane;               ///< -1: not of one lane
  std::uint64_t address;  ///< memory address; 0: none
  std::uint64_t pc = 0;   ///< in the ELF image
  std::string text;       ///< the disassembled instruction
};

/// A code object that cannot be executed: malformed, or with an instruction or operand that the simulator lacks.
struct BadCode : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace headtune::sim
