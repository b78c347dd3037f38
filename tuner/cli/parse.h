// Text of command-line options -> values. Each function throws UsageError with one line that shows what is expected.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "headtune/arch.h"
#include "headtune/config.h"
#include "tuner/timing_inputs.h"

namespace headtune::cli {

/// "8k,16k,32768" -> {8192, 16384, 32768}; sorted, without repetition. `what` names the option in messages.
std::vector<int> parse_counts(const std::string& text, const std::string& what);

/// Every context at every batch, in the order of contexts.
std::vector<TimedShape> parse_shapes(const std::string& contexts, const std::string& batches);

/// "8/2" -> {8 query heads, 2 KV heads}.
std::pair<int, int> parse_heads(const std::string& text);

/// "4,256,4" (BLOCK_H, BLOCK_N, NUM_WARPS, ... in the order of config.h) or "BLOCK_H=4,NUM_WARPS=8"; knobs that are not
/// named keep their value in `base`.
Config parse_config(const std::string& text, Config base);

/// An architecture that headtune has kernels for.
const Arch& parse_arch(const std::string& name);

/// "8k" for 8192, else the number.
std::string count_text(long long count);

}  // namespace headtune::cli
