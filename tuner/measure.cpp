#include "tuner/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tuner/clock.h"
#include "tuner/hip/buffer.h"

namespace headtune {
namespace {

/// What all candidates of one measurement share.
struct Bench {
  explicit Bench(const hip::Device& opened)
      : device(opened),
        api(*opened.api),
        stream(hip::make_stream(api)),
        start(hip::make_event(api)),
        stop(hip::make_event(api)) {}

  /// GPU time between the events around what `submit` enqueues, us.
  template <class Submit>
  double time(Submit&& submit) {
    check(api, api.event_record(start.get(), stream.get()), "hipEventRecord");
    submit();
    check(api, api.event_record(stop.get(), stream.get()), "hipEventRecord");
    check(api, api.event_synchronize(stop.get()), "hipEventSynchronize");
    float milliseconds = 0;
    check(api, api.event_elapsed_time(&milliseconds, start.get(), stop.get()), "hipEventElapsedTime");
    return milliseconds * 1000.0;
  }

  hip::Device device;
  const hip::Api& api;
  hip::Owned<hip::Stream> stream;
  hip::Owned<hip::Event> start, stop;
};

/// One candidate as a graph of calls that rotate through the pools.
class Subject {
 public:
  Subject(Bench& bench, const Enqueue& enqueue, const MeasureOptions& options)
      : bench_(bench), enqueue_(enqueue), options_(options), preheat_(options.preheat), rule_(options.stop) {
    calls_ = calls_for(first_call_us());
    graph_ = capture(calls_);
  }

  /// Until the samples agree.
  void preheat() {
    while (!preheat_.done()) preheat_.add(replay());
  }

  void sample() {
    const double us = replay();
    rule_.add(us, us * calls_);
  }

  bool done() const { return rule_.done(); }
  const StopRule& rule() const { return rule_; }
  Interval interval() const { return median_interval(rule_.samples()); }
  void drop() { outraced_ = true; }
  bool outraced() const { return outraced_; }

  Timing finish() {
    Timing timing;
    timing.samples_us = rule_.samples();
    timing.median_us = median(timing.samples_us);
    timing.interval = interval();
    timing.method = fmt::format("graph of {} calls, {} pools, cold", calls_, options_.pools);
    timing.settled = preheat_.settled();
    timing.drift = has_drift(timing.samples_us);
    timing.converged = rule_.converged();
    timing.outraced = outraced_;
    timing.gpu_us = spent_us_;
    if (!outraced_ && options_.overhead_limit < 1) timing.overhead_share = overhead_share(timing.median_us);
    return timing;
  }

 private:
  /// The second of two calls outside a graph: the first one may load code.
  double first_call_us() {
    double us = 0;
    for (int i = 0; i < 2; ++i) us = bench_.time([&] { enqueue_(bench_.stream.get(), i % options_.pools); });
    spent_us_ += us;
    return us;
  }

  /// Whole rounds over the pools, enough to fill sample_us.
  int calls_for(double call_us) const {
    const double wanted = std::max(1.0, options_.sample_us / std::max(call_us, 0.1));
    const int rounds = std::max(1, static_cast<int>(std::ceil(wanted / options_.pools)));
    const int limit = std::max(1, options_.max_calls / options_.pools);
    return std::min(rounds, limit) * options_.pools;
  }

  hip::Owned<hip::GraphExec> capture(int calls) {
    return hip::capture_graph(bench_.api, bench_.stream.get(), [&](hip::Stream stream) {
      for (int call = 0; call < calls; ++call) enqueue_(stream, call % options_.pools);
    });
  }

  double replay(const hip::Owned<hip::GraphExec>& graph) {
    const double us = bench_.time(
        [&] { check(bench_.api, bench_.api.graph_launch(graph.get(), bench_.stream.get()), "hipGraphLaunch"); });
    spent_us_ += us;
    return us;
  }
  double replay() { return replay(graph_) / calls_; }

  /// A sample is overhead + calls * t; a graph of twice the calls tells the two apart.
  double overhead_share(double call_us) {
    const auto doubled = capture(2 * calls_);
    std::vector<double> samples;
    for (int i = 0; i < 3; ++i) samples.push_back(replay(doubled));
    const double sample_us = call_us * calls_, pure_us = median(samples) - sample_us;
    return std::clamp(1 - pure_us / sample_us, 0.0, 1.0);
  }

  Bench& bench_;
  const Enqueue& enqueue_;
  const MeasureOptions& options_;
  Preheat preheat_;
  StopRule rule_;
  int calls_ = 1;
  hip::Owned<hip::GraphExec> graph_;
  double spent_us_ = 0;
  bool outraced_ = false;
};

/// While it lives, simulated and scripted devices model time and leave results alone.
class TimingOnly {
 public:
  explicit TimingOnly(const hip::Device& device) : set_(device.set_timing_only) {
    if (set_) set_(true);
  }
  ~TimingOnly() {
    if (set_) set_(false);
  }
  TimingOnly(const TimingOnly&) = delete;
  TimingOnly& operator=(const TimingOnly&) = delete;

 private:
  void (*set_)(bool);
};

/// A model's times have no noise and no cache state: one call says everything.
Timing estimate(const hip::Device& device, Bench& bench, const Enqueue& enqueue) {
  Timing timing;
  if (device.take_counters) device.take_counters();
  timing.median_us = bench.time([&] { enqueue(bench.stream.get(), 0); });
  timing.samples_us = {timing.median_us};
  timing.interval = {timing.median_us, timing.median_us};
  timing.method = "estimated";
  timing.gpu_us = timing.median_us;
  if (device.take_counters) timing.counters = device.take_counters();
  return timing;
}

/// Drops candidates that are slower than the best with the confidence of both intervals.
void drop_losers(std::vector<Subject>& subjects, std::size_t min_samples) {
  double best_high = std::numeric_limits<double>::infinity();
  for (const Subject& subject : subjects)
    if (!subject.outraced() && subject.rule().samples().size() >= min_samples)
      best_high = std::min(best_high, subject.interval().high);
  for (Subject& subject : subjects)
    if (subject.rule().samples().size() >= min_samples && subject.interval().low > best_high) subject.drop();
}

/// Round after round over those still running. A candidate that is done keeps sampling while a rival is not, so that
/// all samples of the race share the same clocks.
void run_race(std::vector<Subject>& subjects, const MeasureOptions& options) {
  const auto running = [](const Subject& s) { return !s.outraced() && !s.done(); };
  while (std::any_of(subjects.begin(), subjects.end(), running)) {
    for (Subject& subject : subjects)
      if (!subject.outraced() && !subject.rule().exhausted()) subject.sample();
    if (options.drop_losers) drop_losers(subjects, options.stop.min_samples);
  }
}

}  // namespace

std::string Timing::flags(double overhead_limit) const {
  std::string text;
  const auto add = [&](bool set, const char* flag) {
    if (set) text += (text.empty() ? "" : " ") + std::string(flag);
  };
  add(!settled, "unsettled");
  add(drift, "drift");
  add(!converged && !outraced, "wide");
  add(overhead_share > overhead_limit, "launch_overhead");
  add(throttled, "throttled");
  return text;
}

int pool_count(long long bytes_per_call, long long llc_bytes) {
  if (bytes_per_call <= 0) return 1;
  if (bytes_per_call > 2 * llc_bytes) return 1;  // a call evicts its own data before the next one starts
  return static_cast<int>(2 * llc_bytes / bytes_per_call) + 1;
}

Timing measure(const hip::Device& device, const Enqueue& enqueue, const MeasureOptions& options) {
  return race(device, {&enqueue, 1}, options).front();
}

std::vector<Timing> race(const hip::Device& device, std::span<const Enqueue> candidates,
                         const MeasureOptions& options) {
  Bench bench(device);
  const TimingOnly timing_only(device);
  std::vector<Timing> timings;
  if (device.estimated) {
    for (const Enqueue& enqueue : candidates) timings.push_back(estimate(device, bench, enqueue));
    return timings;
  }
  std::vector<Subject> subjects;
  subjects.reserve(candidates.size());
  for (const Enqueue& enqueue : candidates) subjects.emplace_back(bench, enqueue, options);
  for (Subject& subject : subjects) subject.preheat();
  ClockReader clock(device);
  run_race(subjects, options);
  const int mhz = clock.mhz();
  const bool throttled = clock.throttled();
  for (Subject& subject : subjects) {
    timings.push_back(subject.finish());
    timings.back().clock_mhz = mhz;
    timings.back().throttled = throttled;
  }
  return timings;
}

}  // namespace headtune
