// headtune-toolchain: the compile process. Reads one JSON request a line, answers one JSON line each
// (docs/toolchain.md). It may run under another root's loader, so it needs nothing but glibc at start; compilers are
// loaded when asked for.
#include <iostream>
#include <string>

#include "tuner/toolchain/service.h"

int main(int argc, char** argv) {
  std::vector<std::string> directories;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--lib-dir" && i + 1 < argc) {
      directories.emplace_back(argv[++i]);
    } else {
      std::cerr << "usage: headtune-toolchain [--lib-dir DIR]...   (JSON lines on standard input)\n";
      return argument == "--help" ? 0 : 2;
    }
  }
  return headtune::toolchain::serve(std::move(directories));
}
