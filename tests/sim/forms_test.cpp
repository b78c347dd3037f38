// The ways an instruction can be modified: DPP, SDWA, MODE, division steps, indexed registers, control flow, bad text.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>

#include "tests/sim/machine.h"
#include "tests/sim/reference.h"
#include "tuner/sim/engine.h"
#include "tuner/sim/lane_plan.h"

using namespace headtune;
using namespace headtune::sim;
using Catch::Matchers::ContainsSubstring;

namespace {

/// v1 = 100 + lane, v2 = 7 in every lane.
struct Numbered : Machine {
  Numbered() {
    for (int lane = 0; lane < kLanes; ++lane) {
      v(1)[lane] = 100 + static_cast<std::uint32_t>(lane);
      v(2)[lane] = 7;
    }
  }
};

/// Lane that a DPP control reads, -1 outside; written per control from the ISA's figures.
int source_of(const std::string& control, int lane) {
  const int row = lane / 16 * 16, in = lane % 16;
  if (control == "row_shl:1") return in == 15 ? -1 : lane + 1;
  if (control == "row_shr:3") return in < 3 ? -1 : lane - 3;
  if (control == "row_ror:4") return row + (in + 12) % 16;
  if (control == "row_mirror") return row + 15 - in;
  if (control == "row_half_mirror") return lane / 8 * 8 + 7 - lane % 8;
  if (control == "quad_perm:[3,0,1,2]") return lane / 4 * 4 + (lane + 3) % 4;
  if (control == "row_newbcast:5") return row + 5;
  if (control == "row_bcast:15") return lane < 16 ? -1 : row - 1;
  if (control == "row_bcast:31") return lane < 32 ? -1 : 31;
  if (control == "wave_shr:1") return lane - 1;
  if (control == "wave_shl:1") return lane == 63 ? -1 : lane + 1;
  if (control == "wave_ror:1") return (lane + 63) % 64;
  return (lane + 1) % 64;  // wave_rol:1
}

}  // namespace

TEST_CASE("DPP moves lanes, masks rows and banks, and leaves or zeroes what has no source", "[sim]") {
  for (const std::string control :
       {"row_shl:1", "row_shr:3", "row_ror:4", "row_mirror", "row_half_mirror", "quad_perm:[3,0,1,2]", "row_newbcast:5",
        "row_bcast:15", "row_bcast:31", "wave_shr:1", "wave_shl:1", "wave_ror:1", "wave_rol:1"}) {
    for (const bool zero : {false, true}) {
      for (const std::uint64_t exec : {~0ull, 0xffffffffffff00ffull}) {
        INFO(control << (zero ? " bound_ctrl" : ""));
        Numbered machine;
        machine.wave->set_exec(exec);
        machine.execute("v_mov_b32_dpp v2, v1 " + control + " row_mask:0xb bank_mask:0x7" +
                        (zero ? " bound_ctrl:1" : ""));
        for (int lane = 0; lane < kLanes; ++lane) {
          const int from = source_of(control, lane);
          const bool valid = from >= 0 && (exec >> from & 1);
          const bool allowed = (exec >> lane & 1) && lane / 16 != 2 && lane % 16 / 4 != 3;
          const std::uint32_t want = !allowed ? 7 : valid ? 100 + static_cast<std::uint32_t>(from) : zero ? 0 : 7;
          REQUIRE(machine.v(2)[lane] == want);
        }
      }
    }
  }
}

TEST_CASE("DPP applies to the first source only", "[sim]") {
  Numbered machine;
  machine.execute("v_sub_u32_dpp v3, v1, v1 row_shl:1 row_mask:0xf bank_mask:0xf bound_ctrl:1");
  CHECK(machine.v(3)[0] == 1);
  CHECK(machine.v(3)[15] == 0u - 115u);
}

TEST_CASE("SDWA selects, extends and places parts of registers", "[sim]") {
  Machine machine;
  for (int lane = 0; lane < kLanes; ++lane) {
    machine.v(1)[lane] = 0x80c0ff01;
    machine.v(2)[lane] = 0x12345678;
  }
  machine.execute("v_add_u32_sdwa v3, v1, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_2 src1_sel:WORD_1");
  CHECK(machine.v(3)[9] == 0xc0 + 0x1234);
  machine.execute(
      "v_add_u32_sdwa v3, sext(v1), v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:BYTE_0");
  CHECK(machine.v(3)[9] == 0x77);
  machine.execute("v_mov_b32_sdwa v2, v1 dst_sel:BYTE_3 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_0");
  CHECK(machine.v(2)[9] == 0x01345678);
  machine.execute("v_mov_b32_sdwa v2, v1 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:WORD_0");
  CHECK(machine.v(2)[9] == 0xff010000);
  machine.execute("v_mov_b32_sdwa v2, v1 dst_sel:BYTE_1 dst_unused:UNUSED_SEXT src0_sel:BYTE_2");
  CHECK(machine.v(2)[9] == 0xffffc000);
}

TEST_CASE("MODE decides rounding and denormals", "[sim]") {
  Machine machine;
  Wave& w = *machine.wave;
  const auto add = [&](float a, float b) {
    machine.v(1)[0] = static_cast<std::uint32_t>(ref::bits(a));
    machine.v(2)[0] = static_cast<std::uint32_t>(ref::bits(b));
    machine.execute("v_add_f32_e32 v3, v1, v2");
    return ref::f32(machine.v(3)[0]);
  };
  w.mode = mode::usual;
  CHECK(add(1.0f, 0x1p-24f) == 1.0f);
  w.mode = mode::usual | 1;
  CHECK(add(1.0f, 0x1p-30f) == 1.0f + 0x1p-23f);
  w.mode = mode::usual | 2;
  CHECK(add(-1.0f, -0x1p-30f) == -1.0f - 0x1p-23f);
  w.mode = mode::usual | 3;
  CHECK(add(1.0f, 0x1.8p-24f) == 1.0f);
  w.mode = mode::usual & ~mode::denorm32;
  CHECK(add(0x1p-130f, 0x1p-130f) == 0.0f);
  w.mode = (mode::usual & ~mode::denorm32) | 0x10;  // denormals kept on input, flushed on output
  CHECK(add(0x1p-130f, 0x1p-130f) == 0.0f);
  CHECK(add(0x1p-126f, -0x1p-127f) == 0.0f);
  machine.v(1)[0] = 0x3f800fff;  // just below the middle of two halves
  w.mode = mode::usual | 4;
  machine.execute("v_cvt_f16_f32_e32 v3, v1");
  CHECK(machine.v(3)[0] == 0x3c01);
  w.mode = mode::usual;
  machine.execute("v_cvt_f16_f32_e32 v3, v1");
  CHECK(machine.v(3)[0] == 0x3c00);
}

TEST_CASE("clamp turns NaN into zero only when MODE says so", "[sim]") {
  Machine machine;
  machine.v(1)[0] = 0x7fc00000;
  machine.execute("v_add_f32_e64 v3, v1, v1 clamp");
  CHECK(machine.v(3)[0] == 0);
  machine.wave->mode &= ~mode::dx10_clamp;
  machine.execute("v_add_f32_e64 v3, v1, v1 clamp");
  CHECK(std::isnan(ref::f32(machine.v(3)[0])));
}

TEST_CASE("the division steps together divide correctly rounded", "[sim]") {
  Machine machine;
  std::mt19937_64 random(3);
  const auto draw = [&]() -> std::uint32_t {
    constexpr std::uint32_t hard[] = {0,          0x80000000, 0x7f800000, 0x7fc00000, 1,
                                      0x00800000, 0x7f7fffff, 0x3f800000, 0x00000123};
    return random() % 4 ? static_cast<std::uint32_t>(random()) : hard[random() % 9];
  };
  for (int round = 0; round < 200; ++round) {
    for (int lane = 0; lane < kLanes; ++lane) {
      machine.v(0)[lane] = draw();
      machine.v(1)[lane] = draw();
    }
    // What the compiler emits for v0 / v1.
    for (const char* text :
         {"v_div_scale_f32 v2, s[0:1], v1, v1, v0", "v_div_scale_f32 v3, vcc, v0, v1, v0", "v_rcp_f32_e32 v4, v2",
          "v_fma_f32 v5, -v2, v4, 1.0", "v_fmac_f32_e32 v4, v5, v4", "v_mul_f32_e32 v5, v3, v4",
          "v_fma_f32 v6, -v2, v5, v3", "v_fmac_f32_e32 v5, v6, v4", "v_fma_f32 v2, -v2, v5, v3",
          "v_div_fmas_f32 v2, v2, v4, v5", "v_div_fixup_f32 v2, v2, v1, v0"})
      machine.execute(text);
    for (int lane = 0; lane < kLanes; ++lane) {
      const float n = ref::f32(machine.v(0)[lane]), d = ref::f32(machine.v(1)[lane]),
                  got = ref::f32(machine.v(2)[lane]);
      INFO(n << " / " << d << " = " << got << ", want " << n / d);
      REQUIRE((std::isnan(n / d) ? std::isnan(got) : ref::bits(got) == ref::bits(n / d)));
    }
  }
}

TEST_CASE("the double division steps divide correctly rounded", "[sim]") {
  Machine machine;
  std::mt19937_64 random(4);
  const auto draw = [&]() -> std::uint64_t {
    constexpr std::uint64_t hard[] = {
        0, 1ull << 63, 0x7ffull << 52, 0x3ffull << 52, 0x0010000000000000, 0x7fefffffffffffff};
    return random() % 4 ? random() : hard[random() % 6];
  };
  for (int round = 0; round < 100; ++round) {
    for (int lane = 0; lane < kLanes; ++lane)
      for (int r = 0; r < 4; r += 2) {
        const std::uint64_t bits = draw();
        machine.v(r)[lane] = static_cast<std::uint32_t>(bits);
        machine.v(r + 1)[lane] = static_cast<std::uint32_t>(bits >> 32);
      }
    for (const char* text :
         {"v_div_scale_f64 v[4:5], s[0:1], v[2:3], v[2:3], v[0:1]", "v_rcp_f64_e32 v[6:7], v[4:5]",
          "v_fma_f64 v[8:9], -v[4:5], v[6:7], 1.0", "v_fma_f64 v[6:7], v[6:7], v[8:9], v[6:7]",
          "v_fma_f64 v[8:9], -v[4:5], v[6:7], 1.0", "v_fma_f64 v[6:7], v[6:7], v[8:9], v[6:7]",
          "v_div_scale_f64 v[8:9], vcc, v[0:1], v[2:3], v[0:1]", "v_mul_f64 v[10:11], v[8:9], v[6:7]",
          "v_fma_f64 v[4:5], -v[4:5], v[10:11], v[8:9]", "v_div_fmas_f64 v[4:5], v[4:5], v[6:7], v[10:11]",
          "v_div_fixup_f64 v[4:5], v[4:5], v[2:3], v[0:1]"})
      machine.execute(text);
    for (int lane = 0; lane < kLanes; ++lane) {
      const auto pair = [&](int r) {
        return ref::f64(machine.v(r)[lane] | std::uint64_t{machine.v(r + 1)[lane]} << 32);
      };
      const double n = pair(0), d = pair(2), got = pair(4), want = n / d;
      INFO(n << " / " << d << " = " << got << ", want " << want);
      const bool tiny = std::fabs(want) < 0x1p-1021;  // scaled back after rounding: may be rounded twice
      REQUIRE((std::isnan(want) ? std::isnan(got) : tiny ? std::fabs(got - want) <= 0x1p-1074 : got == want));
    }
  }
}

TEST_CASE("32 six-bit floats survive the way there and back", "[sim]") {
  for (const std::string format : {"fp6", "bf6"}) {
    Machine machine;
    for (int n = 0; n < 32; ++n)
      for (int lane = 0; lane < kLanes; ++lane)
        machine.v(n)[lane] =
            static_cast<std::uint32_t>(ref::bits(static_cast<float>((n + lane) % 8) * (n % 2 ? -0.5f : 0.5f)));
    for (int lane = 0; lane < kLanes; ++lane) machine.v(60)[lane] = 0x40000000;  // scale 2
    machine.execute("v_cvt_scalef32_2xpk16_" + format + "_f32 v[40:45], v[0:15], v[16:31], v60");
    machine.execute("v_cvt_scalef32_pk32_f32_" + format + " v[64:95], v[40:45], v60");
    for (int n = 0; n < 16; ++n)
      for (int lane = 0; lane < kLanes; ++lane) {
        REQUIRE(machine.v(64 + 2 * n)[lane] == machine.v(n)[lane]);
        REQUIRE(machine.v(64 + 2 * n + 1)[lane] == machine.v(16 + n)[lane]);
      }
  }
}

TEST_CASE("the segments of 2 / pi for argument reduction add up", "[sim]") {
  Machine machine;
  long double sum = 0;
  for (int n = 0; n < 2; ++n) {
    machine.execute("v_trig_preop_f64 v[2:3], 1.0, " + std::to_string(n));
    sum += ref::f64(machine.v(2)[9] | std::uint64_t{machine.v(3)[9]} << 32);
  }
  CHECK(std::fabs(sum - 0.6366197723675813430755350534900574L) < 0x1p-64L);
}

TEST_CASE("four masked differences go to four registers", "[sim]") {
  Machine machine;
  for (int lane = 0; lane < kLanes; ++lane) {
    machine.v(2)[lane] = 0x04030201;
    machine.v(3)[lane] = 0x08070605;
    machine.v(4)[lane] = 0x00000a00;  // only byte 1 counts
    for (int n = 0; n < 4; ++n) machine.v(6 + n)[lane] = 100;
  }
  machine.execute("v_mqsad_u32_u8 v[10:13], v[2:3], v4, v[6:9]");
  for (int n = 0; n < 4; ++n) CHECK(machine.v(10 + n)[5] == 108u - static_cast<std::uint32_t>(n));
}

TEST_CASE("stochastic halves truncate after the random bits are added", "[sim]") {
  Machine machine;
  machine.v(1)[0] = 0x3f801000;  // 1 + half a step of a half
  machine.v(2)[0] = 0x7fffffff;
  machine.v(3)[0] = 0xaaaa0000;
  machine.execute("v_cvt_sr_f16_f32 v3, v1, v2");
  CHECK(machine.v(3)[0] == 0xaaaa3c00);
  machine.v(2)[0] = 0x80000000;
  machine.execute("v_cvt_sr_f16_f32 v3, v1, v2");
  CHECK(machine.v(3)[0] == 0xaaaa3c01);
}

TEST_CASE("swap exchanges registers in the active lanes", "[sim]") {
  Numbered machine;
  machine.wave->set_exec(0xf0);
  machine.execute("v_swap_b32 v1, v2");
  CHECK(machine.v(1)[4] == 7);
  CHECK(machine.v(2)[4] == 104);
  CHECK(machine.v(1)[3] == 103);
}

TEST_CASE("accumulation registers are operands like any other", "[sim]") {
  Numbered machine;
  machine.execute("v_accvgpr_write_b32 a255, v1");
  machine.execute("v_add_u32_e32 v3, a255, v2");
  CHECK(machine.v(3)[63] == 170);
}

TEST_CASE("unknown text is refused by name", "[sim]") {
  Machine machine;
  CHECK_THROWS_WITH(machine.execute("v_frobnicate_b32 v0, v1"), ContainsSubstring("v_frobnicate_b32"));
  CHECK_THROWS_WITH(machine.execute("v_mov_b32_e32 v0, q7"), ContainsSubstring("q7"));
  CHECK_THROWS_WITH(machine.execute("v_mov_b32_e32 v0, v256"), ContainsSubstring("v256"));
  CHECK_THROWS_WITH(machine.execute("v_mov_b32_e32 v0, v1 wobble:3"), ContainsSubstring("wobble"));
  CHECK_THROWS_WITH(machine.execute("v_and_b32_e64 v0, v1, v2 clamp"), ContainsSubstring("clamp"));
}

TEST_CASE("the decoder survives any text", "[sim]") {
  std::mt19937_64 random(8);
  const std::string letters = "v s[]:,|-()0123456789xabcdef_+ \t#;/.quadpermop_sl";
  for (int round = 0; round < 20000; ++round) {
    std::string text =
        round % 2 ? "v_add_f32_e64 v0, v1, v2 op_sel:[0,1] row_shl:1" : "ds_swizzle_b32 v0, v1 offset:swizzle(SWAP,16)";
    for (int edits = 0; edits < 4; ++edits) text[random() % text.size()] = letters[random() % letters.size()];
    try {
      decode_one({.pc = 0, .size = 4, .text = text}, Arch::gfx950);
    } catch (const BadCode&) {
    }
  }
  SUCCEED();
}

TEST_CASE("s_waitcnt keeps its counters for the timing model", "[sim]") {
  const auto waits = [](const char* text) {
    return decode_one({.pc = 0, .size = 4, .text = text}, Arch::gfx950).waits;
  };
  CHECK(waits("s_waitcnt vmcnt(3) lgkmcnt(0)").vmcnt == 3);
  CHECK(waits("s_waitcnt vmcnt(3) lgkmcnt(0)").lgkmcnt == 0);
  CHECK(waits("s_waitcnt lgkmcnt(1)").vmcnt == 63);
  CHECK(waits("s_waitcnt 0").expcnt == 0);
}

TEST_CASE("the scoreboard lists what is read and written", "[sim]") {
  const Inst inst = decode_one({.pc = 0, .size = 8, .text = "v_fmac_f32_e32 v3, s4, a7"}, Arch::gfx950);
  CHECK(inst.writes == std::vector<std::uint16_t>{3});
  CHECK(inst.reads == std::vector<std::uint16_t>{3, kScalarRegister + 4, kFirstAccumulation + 7});
  const Inst add = decode_one({.pc = 0, .size = 4, .text = "s_addc_u32 s0, s1, 5"}, Arch::gfx950);
  CHECK(add.writes == std::vector<std::uint16_t>{kScalarRegister, kScalarRegister + sreg::scc});
  CHECK(add.reads == std::vector<std::uint16_t>{kScalarRegister + 1, kScalarRegister + sreg::scc});
}

namespace {

/// A program from text lines, four bytes apart, run by one wave to its end.
struct Routine {
  explicit Routine(const std::vector<std::string>& lines) {
    std::vector<Instruction> text;
    for (const std::string& line : lines) text.push_back({.pc = 4 * text.size(), .size = 4, .text = line});
    CodeObject object;
    object.text_end = 4 * lines.size();
    program = std::make_unique<Program>(std::move(object), text);
    program->set_base(0x1000);
    machine.wave->program = program.get();
  }
  std::unique_ptr<Program> program;
  Machine machine;
};

}  // namespace

TEST_CASE("loops, calls and returns change the program counter", "[sim]") {
  Routine loop({"s_mov_b32 s0, 0", "s_add_u32 s0, s0, 1", "s_cmp_lt_u32 s0, 10", "s_cbranch_scc1 65533", "s_endpgm"});
  CHECK(run(*loop.machine.wave, 1000) == Stop::ended);
  CHECK(loop.machine.wave->s[0] == 10);
  CHECK(loop.machine.wave->instructions == 32);

  Routine call({"s_getpc_b64 s[4:5]", "s_add_u32 s4, s4, 12", "s_swappc_b64 s[30:31], s[4:5]", "s_endpgm",
                "s_mov_b32 s7, 42", "s_setpc_b64 s[30:31]"});
  CHECK(run(*call.machine.wave, 1000) == Stop::ended);
  CHECK(call.machine.wave->s[7] == 42);
  CHECK(call.machine.wave->pair(30) == 0x100c);

  Routine endless({"s_branch 65535", "s_endpgm"});
  CHECK(run(*endless.machine.wave, 50) == Stop::running);
  Routine wild({"s_setpc_b64 s[0:1]", "s_endpgm"});
  CHECK_THROWS_AS(run(*wild.machine.wave, 50), Fault);
  Routine waits({"s_barrier", "s_endpgm"});
  CHECK(run(*waits.machine.wave, 50) == Stop::barrier);
  CHECK(run(*waits.machine.wave, 50) == Stop::ended);
}

TEST_CASE("a fault carries the instruction and its address", "[sim]") {
  Routine routine({"s_nop 0", "s_trap 2", "s_endpgm"});
  try {
    run(*routine.machine.wave, 10);
    FAIL("no fault");
  } catch (const Fault& fault) {
    CHECK(fault.pc == 4);
    CHECK(fault.text == "s_trap 2");
  }
}

TEST_CASE("indexed vector registers count from m0", "[sim]") {
  Routine routine({"s_mov_b32 s0, 3", "s_set_gpr_idx_on s0, gpr_idx(SRC0)", "v_mov_b32_e32 v0, v1", "s_set_gpr_idx_off",
                   "s_set_gpr_idx_on s0, gpr_idx(DST)", "v_mov_b32_e32 v10, v2", "s_set_gpr_idx_off", "s_endpgm"});
  Wave& w = *routine.machine.wave;
  w.v[4][5] = 77;
  w.v[2][5] = 88;
  run(w, 100);
  CHECK(w.v[0][5] == 77);
  CHECK(w.v[13][5] == 88);
}
