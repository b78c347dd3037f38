// The results database: SQLite, one schema version, every result committed at once. Its triggers, not only this code,
// keep unverified, failed or estimated-beside-measured rows from winning (store_schema.cpp).
//
// Every member throws UsageError with one line when the file cannot be read or written; what was committed stays.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "codegen/tuned_table.h"
#include "headtune/config.h"
#include "tuner/toolchain.h"

namespace SQLite {
class Database;
class Statement;
}  // namespace SQLite

namespace headtune {

/// How far a variant came, or how it ended.
enum class Status {
  compile_error,
  compile_crashed,
  compile_timed_out,
  compiled,  ///< compiled and not yet run, or with --device none
  verify_failed,
  crashed,  ///< the runner process died
  timed_out,
  device_fault,
  unavailable,  ///< does not fit the device's memory, or the like
  verified,
  outraced,  ///< dropped from the race: its interval lay above the best's
  timed
};

const char* name(Status status);
Status parse_status(const std::string& name);
/// Whether a sweep that goes on leaves the variant alone.
bool finished(Status status);
bool failed(Status status);

/// What results are keyed on: a change of any field but the name starts new rows.
struct StoredEnvironment {
  std::string provider, arch, features;  ///< "rocm", "gfx942", ":sramecc+:xnack-"
  int cu_count = 0, wave_size = 0, lds_bytes = 0;
  std::string driver, runtime, compiler;
  bool estimated = false;
  std::string device_name;  ///< shown, never keyed

  friend bool operator==(const StoredEnvironment&, const StoredEnvironment&) = default;
};

struct StoredProblem {
  std::string op;
  Problem problem;
};

struct StoredVariant {
  std::int64_t id = 0;
  std::int64_t environment = 0;
  std::int64_t problem = 0;
  Config config;
  std::string defines;  ///< every constant that reaches the compiler, "HEAD_DIM=64 ..."
  std::string template_hash;
  Status status = Status::compiled;
  std::string reason;
  std::map<std::string, Resources> resources;
  double compile_seconds = 0;
  std::optional<double> verify_error;
  double verify_tolerance = 0;

  int registers() const;  ///< VGPR + AGPR of the hungriest kernel
};

struct StoredTiming {
  int context = 0, batch = 0;
  std::string method;
  double median_us = 0, low_us = 0, high_us = 0;
  long long floor_bytes = 0;
  int clock_mhz = 0;  ///< 0: not readable
  std::string flags;
  bool estimated = false;
  std::vector<double> samples_us;
  std::map<std::string, long long> counters = {};  ///< simulated devices: as Timing::counters
};

/// Whether it may decide anything: the device had settled and the samples had no trend.
bool trusted(const StoredTiming& timing);

/// A winner at one point as the sweep runs it, beside itself as a user of its table row does; one interleaved race.
struct StoredRetiming {
  int context = 0, batch = 0;
  double swept_us = 0, swept_low_us = 0, swept_high_us = 0;
  double table_us = 0, table_low_us = 0, table_high_us = 0;
};

/// Configurations that may not be compiled, for one reason.
struct PrunedReason {
  std::string reason;
  int count = 0;
  Config example;
};

/// What the last sweep of a problem looked at.
struct StoredSpace {
  int legal = 0;                     ///< configurations that may be compiled
  std::string search;                ///< "exhaustive", "guided, seed 1, budget 30"
  std::vector<PrunedReason> pruned;  ///< most frequent first

  int pruned_count() const;
};

struct StoredWinner {
  std::int64_t variant = 0;
  int context_min = 0, context_max = 0;
  std::string reason;
};

enum class Access { create, read_only };

class Store {
 public:
  /// Creates the file when absent (Access::create). Refuses what is not a headtune database, a damaged one, and one of
  /// a newer schema.
  Store(const std::filesystem::path& file, Access access);
  ~Store();

  const std::filesystem::path& file() const { return file_; }

  /// The row's id; adds it when new.
  std::int64_t add(const StoredEnvironment& environment);
  std::int64_t add(const StoredProblem& problem);

  /// Writes a variant's result with its times in one transaction, replacing an earlier one with the same key and its
  /// times. Returns its id.
  std::int64_t put(const StoredVariant& variant, const std::vector<StoredTiming>& timings = {});
  void set_status(std::int64_t variant, Status status, const std::string& reason);
  void put_timing(std::int64_t variant, const StoredTiming& timing);
  /// Replaces the winners of these problems in one environment.
  void put_winners(std::int64_t environment, const std::vector<std::int64_t>& problems,
                   const std::vector<StoredWinner>& winners);
  /// Replaces what an earlier sweep of the problem said.
  void put_space(std::int64_t environment, std::int64_t problem, const StoredSpace& space);
  void put_retiming(std::int64_t variant, const StoredRetiming& retiming);
  void put_extend_below(std::int64_t variant, const ExtendBelow& found);
  void erase(std::int64_t variant);
  /// Bounds the file's size; tests fill the disk with it.
  void limit_pages(int pages);

  std::optional<StoredVariant> find(const StoredVariant& key) const;
  std::map<std::int64_t, StoredEnvironment> environments() const;
  std::map<std::int64_t, StoredProblem> problems() const;
  /// In the fixed order of their defines.
  std::vector<StoredVariant> variants(std::int64_t environment, std::int64_t problem) const;
  /// By context and batch.
  std::vector<StoredTiming> timings(std::int64_t variant) const;
  std::vector<StoredWinner> winners(std::int64_t environment, std::int64_t problem) const;
  std::optional<StoredSpace> space(std::int64_t environment, std::int64_t problem) const;
  /// By context and batch.
  std::vector<StoredRetiming> retimings(std::int64_t variant) const;
  /// By batch.
  std::vector<ExtendBelow> extend_below(std::int64_t variant) const;

 private:
  void create_schema();
  void check_schema(Access access);

  std::filesystem::path file_;
  std::unique_ptr<SQLite::Database> database_;
};

/// Whether SQLite's write-ahead log is unsafe there: NFS, SMB, 9p and their like.
bool on_network_file_system(const std::filesystem::path& file);

/// Held while a sweep runs: a second sweep on the same database waits, since two would disturb each other's times.
/// The system frees it when the process dies.
class SweepLock {
 public:
  /// Calls `waiting` once before it blocks.
  template <class F>
  SweepLock(const std::filesystem::path& database, F waiting) : SweepLock(database) {
    if (!try_lock()) waiting(), lock();
  }
  ~SweepLock();
  SweepLock(const SweepLock&) = delete;
  SweepLock& operator=(const SweepLock&) = delete;

 private:
  explicit SweepLock(const std::filesystem::path& database);
  bool try_lock();
  void lock();
  int descriptor_ = -1;
};

}  // namespace headtune
