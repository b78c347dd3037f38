// Compares the cuda provider's declarations of NVIDIA's driver API with cuda.h, at compile time.
// cuda.h maps plain names to the `_v2` functions, which the provider binds by their full names.
#include <cuda.h>

#include <cstddef>

#include "tests/unit/api_abi/correspond.h"
#include "tests/unit/api_abi/found.h"
#include "tuner/hip/api.h"
#include "tuner/hip/cuda_driver.h"

namespace headtune::abi {

#define SAME_CALL(member, name) static_assert(same_call<decltype(hip::cuda::Driver::member), decltype(&::name)>, #name)
SAME_CALL(init, cuInit);
SAME_CALL(driver_get_version, cuDriverGetVersion);
SAME_CALL(device_get_count, cuDeviceGetCount);
SAME_CALL(device_get, cuDeviceGet);
SAME_CALL(device_get_attribute, cuDeviceGetAttribute);
SAME_CALL(device_get_name, cuDeviceGetName);
SAME_CALL(device_get_pci_bus_id, cuDeviceGetPCIBusId);
SAME_CALL(device_total_mem, cuDeviceTotalMem);
SAME_CALL(primary_ctx_retain, cuDevicePrimaryCtxRetain);
SAME_CALL(ctx_set_current, cuCtxSetCurrent);
SAME_CALL(ctx_get_device, cuCtxGetDevice);
SAME_CALL(ctx_synchronize, cuCtxSynchronize);
SAME_CALL(get_error_string, cuGetErrorString);
SAME_CALL(mem_get_info, cuMemGetInfo);
SAME_CALL(mem_alloc, cuMemAlloc);
SAME_CALL(mem_free, cuMemFree);
SAME_CALL(memcpy_htod, cuMemcpyHtoD);
SAME_CALL(memcpy_dtoh, cuMemcpyDtoH);
SAME_CALL(memcpy_dtod, cuMemcpyDtoD);
SAME_CALL(memcpy_htod_async, cuMemcpyHtoDAsync);
SAME_CALL(memcpy_dtoh_async, cuMemcpyDtoHAsync);
SAME_CALL(memcpy_dtod_async, cuMemcpyDtoDAsync);
SAME_CALL(memset_d8, cuMemsetD8);
SAME_CALL(memset_d8_async, cuMemsetD8Async);
SAME_CALL(module_load_data, cuModuleLoadData);
SAME_CALL(module_unload, cuModuleUnload);
SAME_CALL(module_get_function, cuModuleGetFunction);
SAME_CALL(func_get_attribute, cuFuncGetAttribute);
SAME_CALL(func_set_attribute, cuFuncSetAttribute);
SAME_CALL(launch_kernel, cuLaunchKernel);
SAME_CALL(launch_kernel_ex, cuLaunchKernelEx);
static_assert(sizeof(hip::cuda::LaunchConfig) == sizeof(CUlaunchConfig));
static_assert(offsetof(hip::cuda::LaunchConfig, stream) == offsetof(CUlaunchConfig, hStream));
static_assert(offsetof(hip::cuda::LaunchConfig, attributes) == offsetof(CUlaunchConfig, attrs));
static_assert(offsetof(hip::cuda::LaunchConfig, attribute_count) == offsetof(CUlaunchConfig, numAttrs));
static_assert(sizeof(hip::cuda::LaunchAttribute) == sizeof(CUlaunchAttribute));
static_assert(offsetof(hip::cuda::LaunchAttribute, allowed) == offsetof(CUlaunchAttribute, value));
SAME_CALL(occupancy_max_active_blocks, cuOccupancyMaxActiveBlocksPerMultiprocessor);
SAME_CALL(stream_create, cuStreamCreate);
SAME_CALL(stream_destroy, cuStreamDestroy);
SAME_CALL(stream_synchronize, cuStreamSynchronize);
SAME_CALL(stream_begin_capture, cuStreamBeginCapture);
SAME_CALL(stream_end_capture, cuStreamEndCapture);
SAME_CALL(graph_instantiate, cuGraphInstantiateWithFlags);
SAME_CALL(graph_launch, cuGraphLaunch);
SAME_CALL(graph_exec_destroy, cuGraphExecDestroy);
SAME_CALL(graph_destroy, cuGraphDestroy);
SAME_CALL(event_create, cuEventCreate);
SAME_CALL(event_destroy, cuEventDestroy);
SAME_CALL(event_record, cuEventRecord);
SAME_CALL(event_synchronize, cuEventSynchronize);
SAME_CALL(event_elapsed_time, cuEventElapsedTime);

#undef SAME_CALL
// hip::Error and CUresult share these values, so the wrappers pass errors through.
#define SAME_VALUE(ours, theirs) static_assert(static_cast<int>(ours) == static_cast<int>(theirs), #theirs)
SAME_VALUE(hip::success, CUDA_SUCCESS);
SAME_VALUE(hip::error_invalid_value, CUDA_ERROR_INVALID_VALUE);
SAME_VALUE(hip::error_out_of_memory, CUDA_ERROR_OUT_OF_MEMORY);
SAME_VALUE(hip::error_not_initialized, CUDA_ERROR_NOT_INITIALIZED);
SAME_VALUE(hip::error_no_device, CUDA_ERROR_NO_DEVICE);
SAME_VALUE(hip::error_invalid_device, CUDA_ERROR_INVALID_DEVICE);
SAME_VALUE(hip::error_invalid_image, CUDA_ERROR_INVALID_IMAGE);
SAME_VALUE(hip::error_invalid_handle, CUDA_ERROR_INVALID_HANDLE);
SAME_VALUE(hip::error_not_found, CUDA_ERROR_NOT_FOUND);
SAME_VALUE(hip::error_illegal_address, CUDA_ERROR_ILLEGAL_ADDRESS);
SAME_VALUE(hip::error_launch_failure, CUDA_ERROR_LAUNCH_FAILED);
SAME_VALUE(hip::error_not_supported, CUDA_ERROR_NOT_SUPPORTED);
SAME_VALUE(hip::stream_capture_thread_local, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
SAME_VALUE(hip::function_attribute::max_threads_per_block, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME_VALUE(hip::function_attribute::static_lds_bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
SAME_VALUE(hip::function_attribute::scratch_bytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
SAME_VALUE(hip::function_attribute::registers, CU_FUNC_ATTRIBUTE_NUM_REGS);
SAME_VALUE(hip::function_attribute::max_dynamic_lds_bytes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
SAME_VALUE(hip::cuda::device_attribute(hip::attribute::clock_rate), CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
SAME_VALUE(hip::cuda::device_attribute(hip::attribute::l2_cache_size), CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
SAME_VALUE(hip::cuda::device_attribute(hip::attribute::compute_capability_major),
           CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME_VALUE(hip::cuda::device_attribute(hip::attribute::compute_capability_minor),
           CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
SAME_VALUE(hip::cuda::device_attribute(hip::attribute::max_threads_per_block),
           CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME_VALUE(hip::cuda::device_attribute(hip::attribute::max_threads_per_multiprocessor),
           CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
SAME_VALUE(hip::cuda::device_attribute(hip::attribute::memory_bus_width), CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
SAME_VALUE(hip::cuda::device_attribute(hip::attribute::memory_clock_rate), CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
SAME_VALUE(hip::cuda::device_attribute(hip::attribute::multiprocessor_count), CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
SAME_VALUE(hip::cuda::device_attribute(hip::attribute::pci_bus_id), CU_DEVICE_ATTRIBUTE_PCI_BUS_ID);
SAME_VALUE(hip::cuda::device_attribute(hip::attribute::pci_device_id), CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID);
SAME_VALUE(hip::cuda::device_attribute(hip::attribute::pci_domain_id), CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID);
SAME_VALUE(hip::cuda::device_attribute(hip::attribute::max_registers_per_block),
           CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
SAME_VALUE(hip::cuda::device_attribute(hip::attribute::max_lds_per_workgroup),
           CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
SAME_VALUE(hip::cuda::device_attribute(hip::attribute::max_lds_per_workgroup_optin),
           CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
SAME_VALUE(hip::cuda::device_attribute(hip::attribute::max_lds_per_cu),
           CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
SAME_VALUE(hip::cuda::device_attribute(hip::attribute::warp_size), CU_DEVICE_ATTRIBUTE_WARP_SIZE);
#undef SAME_VALUE

extern const Found HEADTUNE_ABI_FOUND;
const Found HEADTUNE_ABI_FOUND{CUDA_VERSION / 1000 * cuda_scale, CUDA_VERSION / 10 % 100};

}  // namespace headtune::abi
