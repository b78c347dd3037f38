# Settings of headtune's own build; never imposed on consumers of the kernels.
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
# Static where the distribution has it: the tool then runs on machines without these packages.
find_library(SQLite3_LIBRARY NAMES libsqlite3.a sqlite3)
set(OPENSSL_USE_STATIC_LIBS ON)
find_package(SQLiteCpp REQUIRED)
find_package(fmt REQUIRED)
find_package(Threads REQUIRED)

option(HEADTUNE_WARNINGS_AS_ERRORS "Treat warnings as errors" OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

option(HEADTUNE_BUILD_ENGINE "Build libheadtune.so, the C interface for engines" ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ${HEADTUNE_BUILD_ENGINE})  # the shared library is made of the tuner's static ones

add_library(headtune_project INTERFACE)
target_compile_features(headtune_project INTERFACE cxx_std_20)
target_compile_options(headtune_project INTERFACE -Wall -Wextra $<$<BOOL:${HEADTUNE_WARNINGS_AS_ERRORS}>:-Werror>)
target_include_directories(headtune_project INTERFACE "${PROJECT_SOURCE_DIR}")
# Header-only {fmt}: the binaries then run on machines without the package (Debian ships no static libfmt).
target_link_libraries(headtune_project INTERFACE fmt::fmt-header-only)

# headtune_library(NAME SOURCES... [LINK LIBS...]): a static library of the tuner.
function(headtune_library name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC headtune_project ${ARG_LINK})
endfunction()
