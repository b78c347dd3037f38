// A wave with a random buffer, LDS and scratch, and random operands for every address form of vector memory.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <functional>

#include "tests/sim/machine.h"

namespace headtune::sim {

inline constexpr int kBytes = 4096;  ///< size of the test buffer
inline constexpr Arch kArchs[] = {Arch::gfx90a, Arch::gfx942, Arch::gfx950};

inline auto says(const std::string& text) {
  return Catch::Matchers::MessageMatches(Catch::Matchers::ContainsSubstring(text));
}

using Bytes = std::vector<std::uint8_t>;

// --- address forms --------------------------------------------------------------------------------------------------

/// Puts random addresses into registers and returns where each lane's bytes start in `space`.
struct Form {
  const char* prefix;  ///< of the mnemonic
  std::string vaddr, tail;
  std::vector<std::int64_t> at;
};

enum class Where { buffer, lds, scratch };

struct Fixture : Machine {
  explicit Fixture(Arch arch) : Machine(arch, kBytes) {
    base = memory.allocate(kBytes, "buffer");
    Bytes data(kBytes);
    for (auto& byte : data) byte = static_cast<std::uint8_t>(random());
    memory.write(base, data.data(), kBytes);
    for (auto& byte : scratch) byte = static_cast<std::byte>(random());
    for (int n = 0; n < kBytes; ++n) lds.data()[n] = static_cast<std::byte>(random());
    for (int n = 0; n < 102; ++n) wave->s[n] = static_cast<std::uint32_t>(random());
  }

  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random() % limit); }

  std::uint64_t random_exec() {
    const std::uint64_t masks[] = {~std::uint64_t{0}, random(), random() & random(), std::uint64_t{1} << below(64), 0};
    return masks[below(5)];
  }

  Bytes snapshot(Where where) {
    Bytes bytes(where == Where::scratch ? scratch.size() : kBytes);
    if (where == Where::buffer) memory.read(bytes.data(), base, kBytes);
    if (where == Where::lds) std::memcpy(bytes.data(), lds.data(), kBytes);
    if (where == Where::scratch) std::memcpy(bytes.data(), scratch.data(), bytes.size());
    return bytes;
  }

  void set_pair(int reg, int lane, std::uint64_t value) {
    v(reg)[lane] = static_cast<std::uint32_t>(value);
    v(reg + 1)[lane] = static_cast<std::uint32_t>(value >> 32);
  }

  /// A raw descriptor of `records` bytes in s[8:11].
  void describe(std::uint64_t address, std::uint32_t records, std::uint32_t stride = 0) {
    wave->s[8] = static_cast<std::uint32_t>(address);
    wave->s[9] = static_cast<std::uint32_t>(address >> 32) | stride << 16;
    wave->s[10] = records;
    wave->s[11] = 0x00020000;
  }

  std::uint64_t base;
};

inline int random_offset(Fixture& f, int bytes, int align) {
  return static_cast<int>(f.below(static_cast<std::uint32_t>((kBytes - bytes) / align))) * align;
}

inline Form global_pair(Fixture& f, int bytes, int align, const char* prefix = "global_") {
  Form form{prefix, "v[2:3]", prefix == std::string("flat_") ? "" : ", off", {}};
  const int offset =
      prefix == std::string("flat_") ? static_cast<int>(f.below(4000)) : static_cast<int>(f.below(8000)) - 4000;
  for (int lane = 0; lane < kLanes; ++lane) {
    form.at.push_back(random_offset(f, bytes, align));
    f.set_pair(2, lane, f.base + form.at.back() - offset);
  }
  form.tail += fmt::format(" offset:{}", offset);
  return form;
}

inline Form global_scalar(Fixture& f, int bytes, int align) {
  Form form{"global_", "v2", ", s[4:5]", {}};
  const int offset = -static_cast<int>(f.below(4096));
  f.wave->set_pair(4, f.base - 12345);
  for (int lane = 0; lane < kLanes; ++lane) {
    form.at.push_back(random_offset(f, bytes, align));
    f.v(2)[lane] = static_cast<std::uint32_t>(form.at.back() + 12345 - offset);
  }
  form.tail += fmt::format(" offset:{}", offset);
  return form;
}

inline Form flat_aperture(Fixture& f, std::uint64_t aperture, int bytes, int align) {
  Form form{"flat_", "v[2:3]", " offset:12", {}};
  const bool is_private = aperture == kPrivateAperture;
  for (int lane = 0; lane < kLanes; ++lane) {
    const int offset =
        is_private
            ? static_cast<int>(f.below(static_cast<std::uint32_t>((kTestScratch - bytes - 12) / align))) * align + 12
            : random_offset(f, bytes + 16, std::max(align, std::min(bytes, 4))) / 4 * 4 + 12;
    form.at.push_back(is_private ? lane * kTestScratch + offset : offset);
    f.set_pair(2, lane, aperture + offset - 12);
  }
  return form;
}

inline Form scratch_form(Fixture& f, bool vector, bool scalar, int bytes) {
  Form form{"scratch_", vector ? "v2" : "off", scalar ? ", s6" : ", off", {}};
  const std::uint32_t offset = f.below(50), base = scalar ? f.below(60) : 0;
  f.wave->s[6] = base;
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::uint32_t moving = vector ? f.below(kTestScratch - 110 - bytes) : 0;
    f.v(2)[lane] = moving;
    form.at.push_back(lane * kTestScratch + moving + base + offset);
  }
  form.tail += fmt::format(" offset:{}", offset);
  return form;
}

inline Form buffer_form(Fixture& f, bool offen, bool idxen, int bytes, int align) {
  Form form{"buffer_", "off", ", s[8:11], s7", {}};
  const std::uint32_t stride = idxen ? 64 : 0, scalar = f.below(8) * 16, offset = f.below(4) * 16;
  f.describe(f.base, idxen ? kBytes / 64 : kBytes, stride);
  f.wave->s[7] = scalar;
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::uint32_t index = idxen ? f.below(32) : 0;
    const std::uint32_t moving = offen ? f.below(static_cast<std::uint32_t>((1500 - bytes) / align)) * align : 0;
    f.v(2)[lane] = idxen ? index : moving;
    f.v(3)[lane] = moving;
    form.at.push_back(scalar + offset + stride * index + moving);
  }
  if (offen || idxen) form.vaddr = offen && idxen ? "v[2:3]" : "v2";
  form.tail += fmt::format("{}{} offset:{}", idxen ? " idxen" : "", offen ? " offen" : "", offset);
  return form;
}

struct NamedForm {
  Where where;
  std::function<Form(Fixture&, int bytes, int align)> make;
};

inline const std::vector<NamedForm>& forms() {
  static const std::vector<NamedForm> all = {
      {Where::buffer, [](Fixture& f, int b, int a) { return global_pair(f, b, a); }},
      {Where::buffer, [](Fixture& f, int b, int a) { return global_scalar(f, b, a); }},
      {Where::buffer, [](Fixture& f, int b, int a) { return global_pair(f, b, a, "flat_"); }},
      {Where::lds, [](Fixture& f, int b, int a) { return flat_aperture(f, kSharedAperture, b, a); }},
      {Where::scratch, [](Fixture& f, int b, int a) { return flat_aperture(f, kPrivateAperture, b, a); }},
      {Where::scratch, [](Fixture& f, int b, int) { return scratch_form(f, false, false, b); }},
      {Where::scratch, [](Fixture& f, int b, int) { return scratch_form(f, true, false, b); }},
      {Where::scratch, [](Fixture& f, int b, int) { return scratch_form(f, false, true, b); }},
      {Where::scratch, [](Fixture& f, int b, int) { return scratch_form(f, true, true, b); }},
      {Where::buffer, [](Fixture& f, int b, int a) { return buffer_form(f, false, false, b, a); }},
      {Where::buffer, [](Fixture& f, int b, int a) { return buffer_form(f, true, false, b, a); }},
      {Where::buffer, [](Fixture& f, int b, int a) { return buffer_form(f, false, true, b, a); }},
      {Where::buffer, [](Fixture& f, int b, int a) { return buffer_form(f, true, true, b, a); }},
  };
  return all;
}

inline std::string tuple(char file, int first, int words) {
  return words == 1 ? fmt::format("{}{}", file, first) : fmt::format("{}[{}:{}]", file, first, first + words - 1);
}

inline int words_of(int bytes) { return std::max(1, bytes / 4); }

/// Buffers name the data before the address.
inline std::string store_text(const Form& form, const char* suffix, const std::string& data) {
  const bool is_buffer = form.prefix == std::string("buffer_");
  return fmt::format("{}{} {}, {}{}", form.prefix, suffix, is_buffer ? data : form.vaddr, is_buffer ? form.vaddr : data,
                     form.tail);
}

}  // namespace headtune::sim
