#include "tuner/compile_queue.h"

#include <chrono>

#include "tuner/interrupt.h"

namespace headtune {
namespace {

/// Leaves compile_all from its callback.
struct Stop {};

}  // namespace

Binary compile_one(const CompileAll& compile, const CompileJob& job) {
  Binary binary;
  compile({&job, 1}, [&](std::size_t, Binary result) { binary = std::move(result); });
  return binary;
}

CompileQueue::CompileQueue(CompileAll compile, std::vector<CompileJob> jobs)
    : jobs_(std::move(jobs)), thread_([this, compile = std::move(compile)] { work(compile); }) {}

CompileQueue::~CompileQueue() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  thread_.join();
}

void CompileQueue::work(const CompileAll& compile) {
  std::exception_ptr error;
  try {
    if (!jobs_.empty()) compile(jobs_, [this](std::size_t index, Binary binary) { deliver(index, std::move(binary)); });
  } catch (const Stop&) {
  } catch (...) {
    error = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  error_ = error;
  ended_ = true;
  ready_.notify_one();
}

void CompileQueue::deliver(std::size_t index, Binary binary) {
  const std::lock_guard lock(mutex_);
  if (stopping_) throw Stop{};
  finished_.emplace_back(index, std::move(binary));
  ready_.notify_one();
}

std::optional<std::pair<std::size_t, Binary>> CompileQueue::next() {
  std::unique_lock lock(mutex_);
  // A signal does not wake a condition variable, hence the period.
  while (finished_.empty() && !ended_ && !interrupted()) ready_.wait_for(lock, std::chrono::milliseconds(50));
  if (interrupted()) return std::nullopt;
  if (finished_.empty() && error_) std::rethrow_exception(error_);
  if (finished_.empty()) return std::nullopt;
  auto result = std::move(finished_.front());
  finished_.pop_front();
  return result;
}

}  // namespace headtune
