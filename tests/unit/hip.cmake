# Tests of tuner/hip. The ABI comparison is compiled once per set of HIP headers on this machine.
file(GLOB hip_header_folders LIST_DIRECTORIES true
     "$ENV{HOME}/.local/share/headtune/hip-headers/*/usr/include" "$ENV{XDG_DATA_HOME}/headtune/hip-headers/*/usr/include"
     "/opt/rocm*/include" "/usr/include")
set(HEADTUNE_HIP_HEADERS "${hip_header_folders}" CACHE STRING "Folders with hip/hip_runtime_api.h to compare with")

function(abi_comparison name source include_folder)
  add_library(${name} OBJECT ${source})
  target_link_libraries(${name} PRIVATE headtune_project)
  target_include_directories(${name} SYSTEM PRIVATE "${include_folder}")
  target_compile_definitions(${name} PRIVATE __HIP_PLATFORM_AMD__ HEADTUNE_ABI_FOUND=${name})
endfunction()

set(abi_objects)
foreach(folder IN LISTS HEADTUNE_HIP_HEADERS)
  if(EXISTS "${folder}/hip/hip_version.h")
    list(LENGTH abi_objects index)
    abi_comparison(abi_hip_${index} api_abi/compare_hip.cpp "${folder}")
    list(APPEND abi_objects $<TARGET_OBJECTS:abi_hip_${index}>)
    message(STATUS "ABI test: HIP headers in ${folder}")
  endif()
endforeach()
if(NOT abi_objects)
  message(STATUS "ABI test: no HIP headers found (scripts/setup.sh fetches them); its cases will be skipped")
endif()
find_path(HEADTUNE_CUDA_INCLUDE cuda.h HINTS /usr/local/cuda/include)
if(HEADTUNE_CUDA_INCLUDE)
  abi_comparison(abi_cuda api_abi/compare_cuda.cpp "${HEADTUNE_CUDA_INCLUDE}")
  list(APPEND abi_objects $<TARGET_OBJECTS:abi_cuda>)
else()
  message(STATUS "ABI test: no cuda.h found; its case will be skipped")
endif()
headtune_test(api_abi_test api_abi/api_abi_test.cpp ${abi_objects} LABEL unit)

foreach(name fake kfd provider)
  headtune_test(hip_${name}_test hip_${name}_test.cpp LINK headtune_hip LABEL unit)
endforeach()
foreach(name environment measure stats)
  headtune_test(${name}_test ${name}_test.cpp LINK headtune_measure LABEL unit)
endforeach()
headtune_test(device_work_test device_work_test.cpp LINK headtune_device_work LABEL unit)
add_executable(runner_host runner_host.cpp)
target_link_libraries(runner_host PRIVATE headtune_runner)
headtune_test(runner_test runner_test.cpp LINK headtune_runner LABEL unit)
target_compile_definitions(runner_test PRIVATE HEADTUNE_RUNNER_HOST="$<TARGET_FILE:runner_host>")
add_dependencies(runner_test runner_host)

# A shared library in the place of libamdhip64, for the rocm provider's tests.
add_library(rocm_double SHARED rocm_double.cpp)
target_link_libraries(rocm_double PRIVATE headtune_project)
set_target_properties(rocm_double PROPERTIES PREFIX "lib" OUTPUT_NAME amdhip64 SUFFIX ".so.6"
                      LIBRARY_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/rocm_double/lib")
headtune_test(hip_rocm_test hip_rocm_test.cpp LINK headtune_measure LABEL unit)
target_compile_definitions(hip_rocm_test PRIVATE HEADTUNE_ROCM_DOUBLE="${CMAKE_CURRENT_BINARY_DIR}/rocm_double")
add_dependencies(hip_rocm_test rocm_double)

# The same for libcuda.so.1, which the provider finds by name.
add_library(cuda_double SHARED cuda_double.cpp)
target_link_libraries(cuda_double PRIVATE headtune_project)
set_target_properties(cuda_double PROPERTIES PREFIX "lib" OUTPUT_NAME cuda SUFFIX ".so.1"
                      LIBRARY_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/cuda_double")
add_executable(hip_cuda_test hip_cuda_test.cpp)
target_link_libraries(hip_cuda_test PRIVATE headtune_measure Catch2::Catch2WithMain)
catch_discover_tests(hip_cuda_test PROPERTIES SKIP_RETURN_CODE 4 LABELS unit
                     ENVIRONMENT "LD_LIBRARY_PATH=${CMAKE_CURRENT_BINARY_DIR}/cuda_double")
add_dependencies(hip_cuda_test cuda_double)
