// The version of the kernels and tables; CMake checks that it agrees with the project's.
#pragma once

#define HEADTUNE_VERSION_MAJOR 0
#define HEADTUNE_VERSION_MINOR 1
#define HEADTUNE_VERSION_PATCH 0
#define HEADTUNE_VERSION_STRING "0.1.0"
