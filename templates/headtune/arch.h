// The one map from a GPU's architecture name to its family and limits, for host and device code. C++17, no dependency.
// Figures of the common part of each architecture; a device's own counts, where known, replace them.
// Sources: AMD ISA and ROCm documents, LLVM's AMDGPU usage guide, NVIDIA's tuning guides. `?` = unconfirmed.
#pragma once

#include <headtune/config.h>

namespace headtune {

/// Kernels differ by family: each has its own matrix instructions (one file under tile/ each).
enum class Family : int { unknown = 0, cdna2 = 2, cdna3 = 3, cdna4 = 4, nvidia = 80 };

struct Arch {
  const char* name;  ///< without feature flags: "gfx942", "sm_90"
  Family family;
  int wave_size;  ///< lanes of a wave (warp)
  int cu_count;   ///< compute units (SMs)
  int xcd_count;  ///< dies; workgroup i runs on die i % xcd_count
  int simds_per_cu;
  int waves_per_simd;  ///< resident waves, at most
  int registers;       ///< 32-bit registers per lane of a whole SIMD; AMD: VGPR and AGPR together
  int lds_bytes;       ///< LDS (shared memory) that one workgroup may use
  int lds_banks;
  double clock_ghz;
  long long l2_bytes;   ///< of the whole device
  long long llc_bytes;  ///< last-level cache: MALL where there is one, else L2; cold timing rotates past twice this
  double hbm_tb_per_s;
  double bf16_tflop_per_s;  ///< dense
};

inline constexpr long long kib = 1024, mib = 1024 * 1024;

inline constexpr Arch archs[] = {
    // name, family, wave, CUs, dies, SIMDs, waves, regs, LDS, banks, GHz, L2, LLC, HBM, bf16
    {"gfx90a", Family::cdna2, 64, 110, 1, 4, 8, 512, 64 * kib, 32, 1.7, 8 * mib, 8 * mib, 1.6, 191},
    {"gfx942", Family::cdna3, 64, 304, 8, 4, 8, 512, 64 * kib, 32, 2.1, 32 * mib, 256 * mib, 5.3, 1307},
    {"gfx950", Family::cdna4, 64, 256, 8, 4, 8, 512, 160 * kib, 64, 2.4, 32 * mib, 256 * mib, 8.0, 2517},
    {"sm_80", Family::nvidia, 32, 108, 1, 4, 16, 512, 163 * kib, 32, 1.41, 40 * mib, 40 * mib, 2.0, 312},
    {"sm_86", Family::nvidia, 32, 84, 1, 4, 12, 512, 99 * kib, 32, 1.7, 6 * mib, 6 * mib, 0.77, 75},
    {"sm_89", Family::nvidia, 32, 142, 1, 4, 12, 512, 99 * kib, 32, 2.5, 96 * mib, 96 * mib, 0.86, 181},
    {"sm_90", Family::nvidia, 32, 132, 1, 4, 16, 512, 227 * kib, 32, 1.98, 60 * mib, 60 * mib, 4.8, 989},
    {"sm_100", Family::nvidia, 32, 148, 1, 4, 16, 512, 227 * kib, 32, 1.97, 126 * mib, 126 * mib, 8.0, 2250},
    {"sm_120", Family::nvidia, 32, 188, 1, 4, 12, 512, 99 * kib, 32, 2.4, 128 * mib, 128 * mib, 1.8, 250},
};

/// Whether `name` is `base`, alone or followed by feature flags ("gfx942:sramecc+:xnack-") or a variant letter
/// ("sm_90a").
constexpr bool is_arch(const char* name, const char* base) {
  while (*base != '\0' && *name == *base) ++name, ++base;
  if (*base != '\0') return false;
  const bool variant_letter = (*name == 'a' || *name == 'f') && name[1] == '\0';
  return *name == '\0' || *name == ':' || variant_letter;
}

/// The entry for an architecture name, or nullptr.
constexpr const Arch* find_arch(const char* name) {
  for (const Arch& arch : archs)
    if (is_arch(name, arch.name)) return &arch;
  return nullptr;
}

/// Whether the matrix cores and converters of an architecture read this element type.
constexpr bool supports(const Arch& arch, DType type) {
  if (type == DType::fp8_e4m3fnuz) return arch.family == Family::cdna3;
  if (type == DType::fp8_e4m3fn)
    return arch.family == Family::cdna4 ||
           (arch.family == Family::nvidia && !is_arch(arch.name, "sm_80") && !is_arch(arch.name, "sm_86"));
  return arch.family != Family::unknown;
}

constexpr int element_bytes(DType type) { return type == DType::bf16 || type == DType::fp16 ? 2 : 1; }

/// The family that the current device pass compiles for.
#if defined(__gfx90a__)
inline constexpr Family device_family = Family::cdna2;
#elif defined(__gfx942__)
inline constexpr Family device_family = Family::cdna3;
#elif defined(__gfx950__)
inline constexpr Family device_family = Family::cdna4;
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
inline constexpr Family device_family = Family::nvidia;
#else
inline constexpr Family device_family = Family::unknown;  // host pass
#endif

/// Lanes of a wave in the current device pass.
inline constexpr int device_wave_size = device_family == Family::nvidia ? 32 : 64;

}  // namespace headtune
