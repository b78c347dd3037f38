// Loads and stores as text, every address form and width, against a statement about one lane; faults.
#include <catch2/catch_test_macros.hpp>

#include "tests/sim/memory_fixture.h"

namespace headtune::sim {
namespace {

// --- the statement --------------------------------------------------------------------------------------------------

using Words = std::vector<std::uint32_t>;

struct Width {
  const char* suffix;
  int bytes;
  std::function<Words(const std::uint8_t*, std::uint32_t)> loaded;  ///< memory, old register -> registers
};

std::uint32_t little(const std::uint8_t* at, int bytes) {
  std::uint32_t value = 0;
  for (int n = bytes; n-- > 0;) value = value << 8 | at[n];
  return value;
}

Width whole(const char* suffix, int words) {
  return {suffix, 4 * words, [=](const std::uint8_t* at, std::uint32_t) {
            Words result;
            for (int n = 0; n < words; ++n) result.push_back(little(at + 4 * n, 4));
            return result;
          }};
}

/// `position`: 0 whole register, 1 low half, 2 high half.
Width narrow(const char* suffix, int bytes, bool is_signed, int position) {
  return {suffix, bytes, [=](const std::uint8_t* at, std::uint32_t old) {
            std::int64_t value = little(at, bytes);
            if (is_signed && value >> (8 * bytes - 1)) value -= std::int64_t{1} << (8 * bytes);
            const auto word = static_cast<std::uint32_t>(value);
            if (position == 0) return Words{word};
            return Words{position == 1 ? (old & 0xffff0000u) + (word & 0xffffu) : (old & 0xffffu) + (word << 16)};
          }};
}

const std::vector<Width>& loads() {
  static const std::vector<Width> all = {
      whole("load_dword", 1),
      whole("load_dwordx2", 2),
      whole("load_dwordx3", 3),
      whole("load_dwordx4", 4),
      narrow("load_ubyte", 1, false, 0),
      narrow("load_sbyte", 1, true, 0),
      narrow("load_ushort", 2, false, 0),
      narrow("load_sshort", 2, true, 0),
      narrow("load_ubyte_d16", 1, false, 1),
      narrow("load_sbyte_d16", 1, true, 1),
      narrow("load_short_d16", 2, false, 1),
      narrow("load_ubyte_d16_hi", 1, false, 2),
      narrow("load_sbyte_d16_hi", 1, true, 2),
      narrow("load_short_d16_hi", 2, false, 2),
  };
  return all;
}

struct StoreWidth {
  const char* suffix;
  int bytes, shift;
};

constexpr StoreWidth kStores[] = {{"store_dword", 4, 0},        {"store_dwordx2", 8, 0},      {"store_dwordx3", 12, 0},
                                  {"store_dwordx4", 16, 0},     {"store_byte", 1, 0},         {"store_short", 2, 0},
                                  {"store_byte_d16_hi", 1, 16}, {"store_short_d16_hi", 2, 16}};

}  // namespace

TEST_CASE("loads of every width and address form", "[sim]") {
  for (const Arch arch : kArchs)
    for (const Width& width : loads())
      for (const NamedForm& named : forms()) {
        Fixture f(arch);
        const Form form = named.make(f, width.bytes, 1);
        const std::uint64_t exec = f.random_exec();
        f.wave->set_exec(exec);
        const bool accumulation = f.below(2);
        const int to = accumulation ? kFirstAccumulation + 20 : 20, words = words_of(width.bytes);
        std::vector<Words> old(kLanes);
        for (int lane = 0; lane < kLanes; ++lane)
          for (int n = 0; n < 4; ++n) old[lane].push_back(f.wave->v[to + n][lane]);
        const std::string text = fmt::format("{}{} {}, {}{}", form.prefix, width.suffix,
                                             tuple(accumulation ? 'a' : 'v', 20, words), form.vaddr, form.tail);
        INFO(name_of(arch) << " " << text);
        f.execute(text);
        const Bytes memory = f.snapshot(named.where);
        for (int lane = 0; lane < kLanes; ++lane) {
          Words expected = old[lane];
          if (exec >> lane & 1) {
            const Words loaded = width.loaded(&memory[form.at[lane]], old[lane][0]);
            std::copy(loaded.begin(), loaded.end(), expected.begin());
          }
          for (int n = 0; n < 4; ++n) REQUIRE(f.wave->v[to + n][lane] == expected[n]);
        }
        REQUIRE(f.wave->access.load);
        REQUIRE(f.wave->access.bytes == static_cast<std::uint32_t>(width.bytes));
        REQUIRE(f.wave->access.lanes == exec);
      }
}

TEST_CASE("stores of every width and address form", "[sim]") {
  for (const Arch arch : kArchs)
    for (const StoreWidth& width : kStores)
      for (const NamedForm& named : forms()) {
        Fixture f(arch);
        const Form form = named.make(f, width.bytes, 1);
        const std::uint64_t exec = f.random_exec();
        f.wave->set_exec(exec);
        const bool accumulation = f.below(2);
        const int from = accumulation ? kFirstAccumulation + 20 : 20;
        Bytes expected = f.snapshot(named.where);
        for (int lane = 0; lane < kLanes; ++lane) {
          if (!(exec >> lane & 1)) continue;
          for (int byte = 0; byte < width.bytes; ++byte) {
            const int bit = 8 * byte + width.shift;
            expected[form.at[lane] + byte] = static_cast<std::uint8_t>(f.wave->v[from + bit / 32][lane] >> (bit % 32));
          }
        }
        const std::string text =
            store_text(form, width.suffix, tuple(accumulation ? 'a' : 'v', 20, words_of(width.bytes)));
        INFO(name_of(arch) << " " << text);
        f.execute(text);
        REQUIRE(f.snapshot(named.where) == expected);
        REQUIRE(f.wave->access.store);
      }
}

// --- buffer bounds --------------------------------------------------------------------------------------------------

TEST_CASE("raw buffers read zero and drop stores past num_records, dword by dword", "[sim]") {
  Fixture f(Arch::gfx950);
  f.describe(f.base, 100);
  for (int lane = 0; lane < kLanes; ++lane) f.v(2)[lane] = 4 * lane;
  const Bytes before = f.snapshot(Where::buffer);
  f.execute("buffer_load_dwordx4 v[20:23], v2, s[8:11], 0 offen");
  for (int lane = 0; lane < kLanes; ++lane)
    for (int n = 0; n < 4; ++n) {
      const int at = 4 * lane + 4 * n;
      REQUIRE(f.v(20 + n)[lane] == (at + 4 <= 100 ? little(&before[at], 4) : 0));
    }
  for (int n = 0; n < 4; ++n) std::fill_n(f.v(20 + n), kLanes, 0x01010101u * (n + 1));
  f.wave->set_exec(std::uint64_t{1} << 23 | std::uint64_t{1} << 40);
  f.execute("buffer_store_dwordx4 v[20:23], v2, s[8:11], 0 offen");
  Bytes expected = before;
  std::fill_n(&expected[92], 4, std::uint8_t{1});
  std::fill_n(&expected[96], 4, std::uint8_t{2});
  REQUIRE(f.snapshot(Where::buffer) == expected);
}

TEST_CASE("structured buffers check the index", "[sim]") {
  Fixture f(Arch::gfx942);
  f.describe(f.base, 10, 16);
  for (int lane = 0; lane < kLanes; ++lane) f.v(2)[lane] = lane;
  const Bytes before = f.snapshot(Where::buffer);
  f.execute("buffer_load_dword v20, v2, s[8:11], 0 idxen offset:4");
  for (int lane = 0; lane < kLanes; ++lane)
    REQUIRE(f.v(20)[lane] == (lane < 10 ? little(&before[16 * lane + 4], 4) : 0));
}

TEST_CASE("out-of-range buffer atomics change nothing and return zero", "[sim]") {
  Fixture f(Arch::gfx950);
  f.describe(f.base, 8);
  const Bytes before = f.snapshot(Where::buffer);
  f.wave->set_exec(2);
  f.v(2)[1] = 8;
  f.execute("buffer_atomic_add v20, v2, s[8:11], 0 offen sc0");
  REQUIRE(f.v(20)[1] == 0);
  REQUIRE(f.snapshot(Where::buffer) == before);
}

TEST_CASE("a descriptor larger than its allocation does not hide a wild access", "[sim]") {
  Fixture f(Arch::gfx950);
  f.describe(f.base, 0xffffffff);
  for (int lane = 0; lane < kLanes; ++lane) f.v(2)[lane] = kBytes - 252 + 4 * lane;
  REQUIRE_THROWS_MATCHES(f.execute("buffer_load_dword v20, v2, s[8:11], 0 offen"), Fault,
                         says("past the end of buffer"));
}

TEST_CASE("gfx90a reaches scratch through the private segment's descriptor", "[sim]") {
  Fixture f(Arch::gfx90a);
  f.describe(kScratchDescriptorBase, 0xffffffff);
  f.wave->s[32] = 48 * kLanes;  // the stack pointer counts bytes of the whole wave
  for (int lane = 0; lane < kLanes; ++lane) f.v(2)[lane] = 16;
  f.execute("buffer_store_dword v20, v2, s[8:11], s32 offen offset:4");
  for (int lane = 0; lane < kLanes; ++lane) {
    std::uint32_t word;
    std::memcpy(&word, &f.scratch[lane * kTestScratch + 68], 4);
    REQUIRE(word == f.v(20)[lane]);
  }
  REQUIRE(f.wave->access.space == Space::scratch);
  REQUIRE_THROWS_MATCHES(f.execute("buffer_load_dword v20, v2, s[8:11], s32 offen offset:400"), Fault,
                         says("private memory"));
}

// --- memory to LDS --------------------------------------------------------------------------------------------------

TEST_CASE("loads straight into LDS write at M0 plus offset plus lane", "[sim]") {
  struct ToLds {
    Arch arch;
    const char *global, *buffer;
    int bytes, written;
    bool is_signed;
  };
  const ToLds all[] = {
      {Arch::gfx942, "global_load_lds_dword", "buffer_load_dword", 4, 4, false},
      {Arch::gfx942, "global_load_lds_ubyte", "buffer_load_ubyte", 1, 4, false},
      {Arch::gfx942, "global_load_lds_sbyte", "buffer_load_sbyte", 1, 4, true},
      {Arch::gfx942, "global_load_lds_ushort", "buffer_load_ushort", 2, 4, false},
      {Arch::gfx942, "global_load_lds_sshort", "buffer_load_sshort", 2, 4, true},
      {Arch::gfx950, "global_load_lds_dwordx3", "buffer_load_dwordx3", 12, 12, false},
      {Arch::gfx950, "global_load_lds_dwordx4", "buffer_load_dwordx4", 16, 16, false},
  };
  for (const ToLds& c : all)
    for (const bool buffer : {false, true}) {
      Fixture f(c.arch);
      const std::uint64_t exec = f.random();
      f.wave->set_exec(exec);
      f.wave->s[sreg::m0] = 256;
      f.describe(f.base, kBytes);
      Bytes expected = f.snapshot(Where::lds);
      const Bytes before = expected, memory = f.snapshot(Where::buffer);
      for (int lane = 0; lane < kLanes; ++lane) {
        const int at = random_offset(f, c.bytes + 8, 1);
        f.set_pair(2, lane, buffer ? at : f.base + at);
        if (!(exec >> lane & 1)) continue;
        Bytes value(&memory[at + 8], &memory[at + 8] + c.bytes);
        value.resize(c.written, c.is_signed && value.back() & 0x80 ? 0xff : 0);
        std::copy(value.begin(), value.end(), &expected[256 + 8 + lane * c.written]);
      }
      f.execute(buffer ? fmt::format("{} v2, s[8:11], 0 offen offset:8 lds", c.buffer)
                       : fmt::format("{} v[2:3], off offset:8", c.global));
      INFO((buffer ? c.buffer : c.global));
      REQUIRE(f.wave->access.to_lds);
      REQUIRE(f.snapshot(Where::lds) == before);
      f.execute("s_waitcnt vmcnt(0)");
      REQUIRE(f.snapshot(Where::lds) == expected);
    }
}

TEST_CASE("loads straight into LDS land when vmcnt says so, in order with other vector memory", "[sim]") {
  Fixture f(Arch::gfx950);
  const Bytes memory = f.snapshot(Where::buffer), before = f.snapshot(Where::lds);
  for (int lane = 0; lane < kLanes; ++lane) f.set_pair(2, lane, f.base + 4 * lane);
  const auto load = [&](std::uint32_t place) {
    f.wave->s[sreg::m0] = place;
    f.execute("global_load_lds_dword v[2:3], off");
  };
  const auto landed = [&](std::uint32_t place) {
    return std::equal(&memory[0], &memory[256], &f.snapshot(Where::lds)[place]);
  };
  load(0);
  f.execute("global_load_dword v20, v[2:3], off");
  load(512);
  f.execute("global_store_dword v[2:3], v20, off");
  f.execute("s_waitcnt vmcnt(4)");
  f.execute("s_waitcnt lgkmcnt(0)");
  REQUIRE(f.snapshot(Where::lds) == before);
  f.execute("s_waitcnt vmcnt(2)");
  REQUIRE((landed(0) && !landed(512)));
  f.execute("s_waitcnt vmcnt(1) lgkmcnt(0)");
  REQUIRE(landed(512));
  load(1024);
  f.execute("s_endpgm");
  REQUIRE(landed(1024));
}

TEST_CASE("a load straight into LDS races with whoever reads its place before and after it lands", "[sim]") {
  Memory memory;
  const std::uint64_t from = memory.allocate(256);
  memory.fill(from, 1, 256);
  for (const bool lands : {false, true}) {
    Lds lds(1024, true);
    Machine loading(Arch::gfx950, 1024);
    loading.wave->lds = &lds;
    loading.wave->memory = &memory;
    for (int lane = 0; lane < kLanes; ++lane) {
      loading.v(2)[lane] = static_cast<std::uint32_t>(from + 4 * static_cast<unsigned>(lane));
      loading.v(3)[lane] = static_cast<std::uint32_t>(from >> 32);
    }
    loading.wave->s[sreg::m0] = 0;
    loading.execute("global_load_lds_dword v[2:3], off");
    if (lands) {
      lds.pass_barrier();
      loading.execute("s_waitcnt vmcnt(0)");
    }
    REQUIRE_THROWS_MATCHES(lds.note(0, 4, Use::load, 1, 0), Fault, says("LDS race"));
    lds.pass_barrier();
    REQUIRE_NOTHROW(lds.note(0, 4, Use::load, 1, 0));
  }
}

// --- scalar loads ---------------------------------------------------------------------------------------------------

TEST_CASE("scalar loads", "[sim]") {
  for (const int words : {1, 2, 4, 8, 16})
    for (const char* form : {"s[4:5], 0x40", "s[4:5], s7", "s[4:5], s7 offset:0x10", "s[4:5], -0x20", "s[4:5], m0"}) {
      Fixture f(Arch::gfx950);
      f.wave->set_pair(4, f.base + 100);
      f.wave->s[7] = 0x23;
      f.wave->s[sreg::m0] = 8;
      const std::string text = form;
      const int offset = text.ends_with("0x40")    ? 0x40
                         : text.ends_with("-0x20") ? -0x20
                         : text.ends_with("m0")    ? 8
                         : text.ends_with("s7")    ? 0x20
                                                   : 0x30;
      const Bytes memory = f.snapshot(Where::buffer);
      f.execute(fmt::format("s_load_dword{} {}, {}", words == 1 ? "" : fmt::format("x{}", words), tuple('s', 16, words),
                            form));
      for (int n = 0; n < words; ++n) REQUIRE(f.wave->s[16 + n] == little(&memory[100 + offset + 4 * n], 4));
      REQUIRE(f.wave->access.space == Space::scalar);
    }
}

TEST_CASE("scalar buffer loads read zero past the end", "[sim]") {
  Fixture f(Arch::gfx942);
  f.describe(f.base, 40);
  const Bytes memory = f.snapshot(Where::buffer);
  f.execute("s_buffer_load_dwordx4 s[16:19], s[8:11], 0x20");
  for (int n = 0; n < 4; ++n) REQUIRE(f.wave->s[16 + n] == (n < 2 ? little(&memory[32 + 4 * n], 4) : 0));
}

// --- faults ---------------------------------------------------------------------------------------------------------

TEST_CASE("a lane outside every allocation faults with its number and address; inactive lanes do not", "[sim]") {
  Fixture f(Arch::gfx950);
  for (int lane = 0; lane < kLanes; ++lane) f.set_pair(2, lane, f.base + 4 * lane);
  f.set_pair(2, 37, f.base + kBytes);
  try {
    f.execute("global_load_dword v20, v[2:3], off");
    FAIL("no fault");
  } catch (const Fault& fault) {
    REQUIRE(fault.lane == 37);
    REQUIRE(fault.address == f.base + kBytes);
  }
  f.wave->set_exec(~(std::uint64_t{1} << 37));
  REQUIRE_NOTHROW(f.execute("global_load_dword v20, v[2:3], off"));
  REQUIRE_NOTHROW(f.execute("global_store_dword v[2:3], v20, off"));
}

TEST_CASE("what a kernel stored may be read, what nobody stored may not", "[sim]") {
  Machine machine;
  const std::uint64_t a = machine.memory.allocate(512, "output");
  for (int lane = 0; lane < kLanes; ++lane) {
    machine.v(2)[lane] = static_cast<std::uint32_t>(a + 8 * lane);
    machine.v(3)[lane] = static_cast<std::uint32_t>((a + 8 * lane) >> 32);
  }
  machine.execute("global_store_dword v[2:3], v20, off");
  REQUIRE_NOTHROW(machine.execute("global_load_dword v21, v[2:3], off"));
  REQUIRE_THROWS_MATCHES(machine.execute("global_load_dword v21, v[2:3], off offset:4"), Fault, says("never-written"));
  REQUIRE_THROWS_MATCHES(machine.execute("global_atomic_add v[2:3], v20, off offset:4"), Fault, says("never-written"));
  machine.wave->set_pair(4, a);
  REQUIRE_THROWS_MATCHES(machine.execute("s_load_dwordx2 s[8:9], s[4:5], 0x0"), Fault, says("never-written"));
  machine.memory.release(a);
  REQUIRE_THROWS_MATCHES(machine.execute("global_load_dword v21, v[2:3], off"), Fault, says("after free"));
}

TEST_CASE("nothing happens when no lane is active", "[sim]") {
  Machine machine;
  machine.wave->set_exec(0);
  for (const char* text : {"global_load_dword v20, v[2:3], off", "global_store_dwordx4 v[2:3], v[20:23], off",
                           "flat_load_dword v20, v[2:3]", "global_atomic_add v[2:3], v4, off",
                           "scratch_load_dword v20, v2, off", "ds_read_b32 v20, v2", "ds_write_b64 v2, v[20:21]"})
    REQUIRE_NOTHROW(machine.execute(text));
}

}  // namespace headtune::sim
