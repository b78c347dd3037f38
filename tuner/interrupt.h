// Ctrl-C: asks the running command to stop after what it has at hand. A second one ends the process at once.
#pragma once

#include "tuner/error.h"

namespace headtune {

/// From now on SIGINT and SIGTERM set the flag instead of ending the process.
void catch_interrupts();
bool interrupted();

struct Interrupted : Failure {
  explicit Interrupted(const std::string& message) : Failure(Exit::interrupted, message) {}
};

}  // namespace headtune
