// One loop over the cores.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace headtune {

/// Calls body(i) for i in [0, count), each once, on all cores. The first exception is thrown again here.
template <class Body>
void parallel_for(long long count, const Body& body) {
  std::atomic<long long> next = 0;
  std::exception_ptr error;
  std::mutex error_mutex;
  const auto work = [&] {
    try {
      for (long long i = next++; i < count; i = next++) body(i);
    } catch (...) {
      next = count;
      const std::lock_guard lock(error_mutex);
      if (!error) error = std::current_exception();
    }
  };
  const auto cores = static_cast<long long>(std::max(1u, std::thread::hardware_concurrency()));
  std::vector<std::thread> threads;
  for (long long t = 1; t < std::min(cores, count); ++t) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  if (error) std::rethrow_exception(error);
}

}  // namespace headtune
