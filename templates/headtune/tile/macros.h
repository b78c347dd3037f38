// Compiler differences that every kernel header needs: function attributes and launch bounds.
// Compiles under hipRTC and NVRTC (no system headers), hipcc, nvcc, and a plain host compiler (launch geometry only).
#pragma once

#if defined(__HIP__) && !defined(__HIPCC_RTC__)
#include <hip/hip_runtime.h>
#endif

#if defined(__HIP__) || defined(__CUDACC__)
#define HEADTUNE_HOST_DEVICE __host__ __device__
#define HEADTUNE_DEVICE __device__ __forceinline__
#else
#define HEADTUNE_HOST_DEVICE
#endif

/// Launch bounds of a kernel: its waves per workgroup, and the waves per SIMD that its registers must leave room for.
/// AMD: at least 2 waves per SIMD also keeps the compiler from moving accumulators between VGPRs and AGPRs.
#if defined(__HIP__)
#define HEADTUNE_LAUNCH_BOUNDS(num_warps, waves_per_eu) \
  __attribute__((amdgpu_flat_work_group_size((num_warps)*64, (num_warps)*64), amdgpu_waves_per_eu(waves_per_eu)))
#elif defined(__CUDACC__)
#define HEADTUNE_LAUNCH_BOUNDS(num_warps, waves_per_eu) \
  __launch_bounds__((num_warps)*32, ((waves_per_eu)*4 >= (num_warps) ? (waves_per_eu)*4 / (num_warps) : 1))
#endif
