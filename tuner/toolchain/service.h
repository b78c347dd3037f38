// The request loop of the compile process.
#pragma once

#include <string>
#include <vector>

namespace headtune::toolchain {

/// Serves standard input until its end; answers go to standard output, which compilers cannot reach.
int serve(std::vector<std::string> library_directories);

}  // namespace headtune::toolchain
