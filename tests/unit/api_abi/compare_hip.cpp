// Compares hip::Api with one version of AMD's HIP headers, at compile time. Built once per header version found.
#include <hip/hip_runtime_api.h>
#include <hip/hip_version.h>

#include "tests/unit/api_abi/correspond.h"
#include "tests/unit/api_abi/found.h"
#include "tuner/hip/api.h"

namespace headtune::abi {

#define SAME_CALL(member, name) static_assert(same_call<decltype(hip::Api::member), decltype(&::name)>, #name)
SAME_CALL(init, hipInit);
SAME_CALL(driver_get_version, hipDriverGetVersion);
SAME_CALL(runtime_get_version, hipRuntimeGetVersion);
SAME_CALL(get_device_count, hipGetDeviceCount);
SAME_CALL(set_device, hipSetDevice);
SAME_CALL(get_device, hipGetDevice);
SAME_CALL(device_get_attribute, hipDeviceGetAttribute);
SAME_CALL(device_get_name, hipDeviceGetName);
SAME_CALL(device_get_pci_bus_id, hipDeviceGetPCIBusId);
SAME_CALL(device_total_mem, hipDeviceTotalMem);
SAME_CALL(device_synchronize, hipDeviceSynchronize);
SAME_CALL(get_error_string, hipGetErrorString);
SAME_CALL(get_last_error, hipGetLastError);
SAME_CALL(mem_get_info, hipMemGetInfo);
// hipMalloc has C++ overloads for typed pointers; the cast picks the C function.
static_assert(
    same_call<decltype(hip::Api::malloc), decltype(static_cast<hipError_t (*)(void**, size_t)>(&::hipMalloc))>);
SAME_CALL(free, hipFree);
SAME_CALL(memcpy, hipMemcpy);
SAME_CALL(memcpy_async, hipMemcpyAsync);
SAME_CALL(memset, hipMemset);
SAME_CALL(memset_async, hipMemsetAsync);
SAME_CALL(module_load_data, hipModuleLoadData);
SAME_CALL(module_unload, hipModuleUnload);
SAME_CALL(module_get_function, hipModuleGetFunction);
SAME_CALL(func_get_attribute, hipFuncGetAttribute);
SAME_CALL(func_set_attribute, hipFuncSetAttribute);
SAME_CALL(module_launch_kernel, hipModuleLaunchKernel);
SAME_CALL(module_occupancy_max_active_blocks, hipModuleOccupancyMaxActiveBlocksPerMultiprocessor);
SAME_CALL(stream_create, hipStreamCreate);
SAME_CALL(stream_destroy, hipStreamDestroy);
SAME_CALL(stream_synchronize, hipStreamSynchronize);
SAME_CALL(stream_begin_capture, hipStreamBeginCapture);
SAME_CALL(stream_end_capture, hipStreamEndCapture);
SAME_CALL(graph_instantiate, hipGraphInstantiate);
SAME_CALL(graph_launch, hipGraphLaunch);
SAME_CALL(graph_exec_destroy, hipGraphExecDestroy);
SAME_CALL(graph_destroy, hipGraphDestroy);
SAME_CALL(event_create, hipEventCreate);
SAME_CALL(event_destroy, hipEventDestroy);
SAME_CALL(event_record, hipEventRecord);
SAME_CALL(event_synchronize, hipEventSynchronize);
SAME_CALL(event_elapsed_time, hipEventElapsedTime);

#undef SAME_CALL
#define SAME_VALUE(ours, theirs) static_assert(static_cast<int>(ours) == static_cast<int>(theirs), #theirs)
SAME_VALUE(hip::success, hipSuccess);
SAME_VALUE(hip::error_invalid_value, hipErrorInvalidValue);
SAME_VALUE(hip::error_out_of_memory, hipErrorOutOfMemory);
SAME_VALUE(hip::error_not_initialized, hipErrorNotInitialized);
SAME_VALUE(hip::error_no_device, hipErrorNoDevice);
SAME_VALUE(hip::error_invalid_device, hipErrorInvalidDevice);
SAME_VALUE(hip::error_invalid_image, hipErrorInvalidImage);
SAME_VALUE(hip::error_invalid_handle, hipErrorInvalidHandle);
SAME_VALUE(hip::error_not_found, hipErrorNotFound);
SAME_VALUE(hip::error_illegal_address, hipErrorIllegalAddress);
SAME_VALUE(hip::error_launch_failure, hipErrorLaunchFailure);
SAME_VALUE(hip::error_not_supported, hipErrorNotSupported);
SAME_VALUE(hip::memcpy_host_to_device, hipMemcpyHostToDevice);
SAME_VALUE(hip::memcpy_device_to_host, hipMemcpyDeviceToHost);
SAME_VALUE(hip::memcpy_device_to_device, hipMemcpyDeviceToDevice);
SAME_VALUE(hip::stream_capture_thread_local, hipStreamCaptureModeThreadLocal);
SAME_VALUE(hip::attribute::clock_rate, hipDeviceAttributeClockRate);
SAME_VALUE(hip::attribute::l2_cache_size, hipDeviceAttributeL2CacheSize);
SAME_VALUE(hip::attribute::compute_capability_major, hipDeviceAttributeComputeCapabilityMajor);
SAME_VALUE(hip::attribute::compute_capability_minor, hipDeviceAttributeComputeCapabilityMinor);
SAME_VALUE(hip::attribute::max_threads_per_block, hipDeviceAttributeMaxThreadsPerBlock);
SAME_VALUE(hip::attribute::max_threads_per_multiprocessor, hipDeviceAttributeMaxThreadsPerMultiProcessor);
SAME_VALUE(hip::attribute::memory_bus_width, hipDeviceAttributeMemoryBusWidth);
SAME_VALUE(hip::attribute::memory_clock_rate, hipDeviceAttributeMemoryClockRate);
SAME_VALUE(hip::attribute::multiprocessor_count, hipDeviceAttributeMultiprocessorCount);
SAME_VALUE(hip::attribute::pci_bus_id, hipDeviceAttributePciBusId);
SAME_VALUE(hip::attribute::pci_device_id, hipDeviceAttributePciDeviceId);
SAME_VALUE(hip::attribute::pci_domain_id, hipDeviceAttributePciDomainID);
SAME_VALUE(hip::attribute::max_registers_per_block, hipDeviceAttributeMaxRegistersPerBlock);
SAME_VALUE(hip::attribute::max_lds_per_workgroup, hipDeviceAttributeMaxSharedMemoryPerBlock);
SAME_VALUE(hip::attribute::max_lds_per_workgroup_optin, hipDeviceAttributeSharedMemPerBlockOptin);
SAME_VALUE(hip::attribute::max_lds_per_cu, hipDeviceAttributeSharedMemPerMultiprocessor);
SAME_VALUE(hip::attribute::amd_max_lds_per_cu, hipDeviceAttributeMaxSharedMemoryPerMultiprocessor);
SAME_VALUE(hip::attribute::warp_size, hipDeviceAttributeWarpSize);
SAME_VALUE(hip::function_attribute::max_threads_per_block, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME_VALUE(hip::function_attribute::static_lds_bytes, HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
SAME_VALUE(hip::function_attribute::scratch_bytes, HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
SAME_VALUE(hip::function_attribute::registers, HIP_FUNC_ATTRIBUTE_NUM_REGS);
SAME_VALUE(hip::function_attribute::max_dynamic_lds_bytes, HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
SAME_VALUE(hip::function_attribute::max_dynamic_lds_bytes, hipFuncAttributeMaxDynamicSharedMemorySize);
#undef SAME_VALUE

// Reaching this point means that every assertion above held for these headers.
extern const Found HEADTUNE_ABI_FOUND;
const Found HEADTUNE_ABI_FOUND{HIP_VERSION_MAJOR, HIP_VERSION_MINOR};

}  // namespace headtune::abi
