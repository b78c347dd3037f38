#include "tuner/merge_result.h"

#include <fmt/format.h>

#include <algorithm>

namespace headtune {
namespace {

bool proven(Status status) { return status >= Status::verified; }

bool same_time(const StoredTiming& a, const StoredTiming& b) {
  return a.median_us == b.median_us && a.low_us == b.low_us && a.high_us == b.high_us && a.samples_us == b.samples_us;
}

template <class A, class B>
bool same_point(const A& a, const B& b) {
  return a.context == b.context && a.batch == b.batch;
}

StoredTiming* find(std::vector<StoredTiming>& timings, const StoredTiming& point) {
  const auto found =
      std::find_if(timings.begin(), timings.end(), [&](const StoredTiming& t) { return same_point(t, point); });
  return found == timings.end() ? nullptr : &*found;
}

/// A retiming belongs to the time beside which it was taken.
void take_retiming(MergeResult& kept, const MergeResult& incoming, const StoredTiming& point) {
  std::erase_if(kept.retimings, [&](const StoredRetiming& r) { return same_point(r, point); });
  for (const StoredRetiming& retiming : incoming.retimings)
    if (same_point(retiming, point)) kept.retimings.push_back(retiming);
}

/// Of two times at one point.
bool incoming_time_counts(const StoredTiming& present, bool present_final, const StoredTiming& incoming,
                          bool incoming_final, OnConflict policy) {
  if (policy == OnConflict::newest) return true;
  // A time that was still moving decides nothing.
  if (trusted(incoming) != trusted(present)) return trusted(incoming);
  // Times of finalists were taken interleaved; screening times do not replace them, whichever is less.
  return incoming_final != present_final ? incoming_final : incoming.median_us < present.median_us;
}

std::vector<std::string> unite_times(MergeResult& kept, const MergeResult& incoming, OnConflict policy) {
  const bool kept_final = kept.variant.status == Status::timed;
  const bool incoming_final = incoming.variant.status == Status::timed;
  std::vector<std::string> conflicts;
  for (const StoredTiming& timing : incoming.timings) {
    StoredTiming* present = find(kept.timings, timing);
    if (present == nullptr) {
      kept.timings.push_back(timing);
    } else {
      if (same_time(*present, timing)) continue;
      conflicts.push_back(fmt::format("context {} batch {}: {:.3f} us and {:.3f} us", timing.context, timing.batch,
                                      present->median_us, timing.median_us));
      if (!incoming_time_counts(*present, kept_final, timing, incoming_final, policy)) continue;
      *present = timing;
    }
    take_retiming(kept, incoming, timing);
  }
  return conflicts;
}

/// Of two results that both verified.
std::vector<std::string> unite(MergeResult& kept, const MergeResult& incoming, OnConflict policy) {
  const auto conflicts = unite_times(kept, incoming, policy);
  if (kept.extend_below.empty() || (policy == OnConflict::newest && !incoming.extend_below.empty()))
    kept.extend_below = incoming.extend_below;
  StoredVariant& v = kept.variant;
  // Both passed; the worse error says more about the variant.
  if (incoming.variant.verify_error > v.verify_error)
    v.verify_error = incoming.variant.verify_error, v.verify_tolerance = incoming.variant.verify_tolerance;
  v.status = policy == OnConflict::newest && finished(incoming.variant.status)
                 ? incoming.variant.status
                 : std::max(v.status, incoming.variant.status);
  return conflicts;
}

/// Of a failure and another result.
bool incoming_status_counts(Status present, Status incoming, OnConflict policy) {
  if (policy == OnConflict::newest) return true;
  // A wrong result is not unseen by a lucky run; a crash or a timeout may have been the machine's.
  if (present == Status::verify_failed || incoming == Status::verify_failed) return incoming == Status::verify_failed;
  return proven(incoming);
}

}  // namespace

std::vector<std::string> reconcile(MergeResult& kept, const MergeResult& incoming, OnConflict policy) {
  const Status a = kept.variant.status, b = incoming.variant.status;
  if (proven(a) && proven(b)) return unite(kept, incoming, policy);
  if (failed(a) && failed(b) && a == b) return {};
  if (!failed(a) && !failed(b)) {  // one is only compiled: not a result yet
    if (b > a) kept = incoming;
    return {};
  }
  if (a == Status::compiled || b == Status::compiled) {  // the other failed later on the way
    if (a == Status::compiled) kept = incoming;
    return {};
  }
  const std::string conflict = fmt::format("{} and {}", name(a), name(b));
  if (incoming_status_counts(a, b, policy)) kept = incoming;
  return {conflict};
}

}  // namespace headtune
