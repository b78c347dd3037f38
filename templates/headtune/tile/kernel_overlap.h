// Overlap of a kernel with the one before it on a stream (NVIDIA sm_90: programmatic dependent launch). A kernel
// launched as dependent (Launch::dependent) starts once every workgroup of the one before has let it; elsewhere kernels
// follow one another and the words below do nothing.
#pragma once

#if !defined(__CUDACC__) && !defined(__HIP__)
#error "device code: compile with hipRTC, hipcc, NVRTC or nvcc"
#endif

#include <headtune/tile/macros.h>

namespace headtune::tile {

#if defined(__CUDACC__) && __CUDA_ARCH__ >= 900
inline constexpr bool kernels_overlap = true;
HEADTUNE_DEVICE void let_next_kernel_start() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
/// Returns when the kernel before has ended and what it wrote is visible.
HEADTUNE_DEVICE void wait_previous_kernel() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
#else
inline constexpr bool kernels_overlap = false;
HEADTUNE_DEVICE void let_next_kernel_start() {}
HEADTUNE_DEVICE void wait_previous_kernel() {}
#endif

}  // namespace headtune::tile
