// The compiler of the scripted device.
#pragma once

#include "tuner/hip/fake_script.h"
#include "tuner/toolchain.h"

namespace headtune::hip {

/// What the script says about the variant that `job.source` renders: a module image of the scripted device, or an
/// error, crash or time-out. `read_fake_script` reads a script.
Binary fake_compile(const FakeScript& script, const CompileJob& job);

}  // namespace headtune::hip
