// Compiles on a thread of its own while the caller works on what is finished: the next variants compile during device
// work.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "tuner/toolchain.h"

namespace headtune {

/// As Toolchain::compile_all; the scripted device brings its own.
using CompileAll =
    std::function<void(std::span<const CompileJob>, const std::function<void(std::size_t, Binary)>& done)>;

/// Compiles one variant and waits for it.
Binary compile_one(const CompileAll& compile, const CompileJob& job);

class CompileQueue {
 public:
  CompileQueue(CompileAll compile, std::vector<CompileJob> jobs);
  /// Ends the compile thread after the jobs that are running.
  ~CompileQueue();
  CompileQueue(const CompileQueue&) = delete;
  CompileQueue& operator=(const CompileQueue&) = delete;

  /// Index of a job and its result, in the order of completion; nothing when all are out. Returns early, with nothing,
  /// when the user interrupts. Rethrows what the compiler threw.
  std::optional<std::pair<std::size_t, Binary>> next();

 private:
  void work(const CompileAll& compile);
  void deliver(std::size_t index, Binary binary);

  std::vector<CompileJob> jobs_;
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<std::pair<std::size_t, Binary>> finished_;
  std::exception_ptr error_;
  bool ended_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace headtune
