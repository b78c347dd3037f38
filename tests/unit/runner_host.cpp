// The runner process of runner_test: what `headtune runner` does, without the rest of the tool.
#include <cstring>

#include "tuner/runner.h"

int main(int argc, char** argv) {
  for (int i = 1; i + 1 < argc; ++i)
    if (std::strcmp(argv[i], "--device") == 0) return headtune::serve_runner(argv[i + 1], {});
  return 2;
}
