// What a compiler or a device said of a variant, as the store keeps it.
#pragma once

#include <string>
#include <vector>

#include "tuner/device_work.h"
#include "tuner/space.h"
#include "tuner/store.h"

namespace headtune {

Status status_of(const Binary& binary);
Status status_of(RunStatus status);

/// The compiler's first error, or how it ended; empty when ok.
std::string reason_of(const Binary& binary);

StoredTiming stored(const ShapeTiming& shape, const Problem& problem, bool estimated);

/// What a verified variant's error was held against.
double error_bound(const Problem& problem);

/// Constants of the rendered source, without its layout: "HEAD_DIM=64 BLOCK_H=4 ...", and the compiler's options but
/// for paths.
std::string defines_of(const std::string& source, const std::vector<std::string>& options);

/// Reasons with their numbers of configurations, most frequent first.
std::vector<PrunedReason> by_reason(const std::vector<Pruned>& pruned);

}  // namespace headtune
