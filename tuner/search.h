// Which configurations of a space are tried next. Pure: the space and the scores so far go in, indices of
// configurations come out; no device, no clock, no database. The same calls with the same seed give the same indices.
#pragma once

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "headtune/config.h"

namespace headtune {

enum class SearchKind {
  exhaustive,  ///< all, in the order of the space
  random,      ///< shuffled
  greedy,      ///< to the best neighbour while that is better, then from another random start
  guided       ///< the model's best first; the model learns from every score
};

const char* name(SearchKind kind);
/// Throws UsageError naming the kinds there are.
SearchKind parse_search(const std::string& name);

struct SearchSpace {
  std::vector<Config> configs;    ///< the legal ones
  std::vector<std::string> axes;  ///< knobs that the space lists values for; the others follow from them
  std::vector<double> guesses;    ///< log of an estimated time of each (search_guess.h); guided search only
};

class Search {
 public:
  Search(const SearchSpace& space, unsigned seed);
  virtual ~Search() = default;

  /// Up to `count` configurations to try, the most promising first. None is proposed twice, nor one that was told.
  /// Empty only when all have been proposed or told.
  std::vector<std::size_t> propose(std::size_t count);

  /// The score of a configuration, proposed or known from before: mean log time over the points, so that differences
  /// are selection's objective; infinity when it failed.
  void tell(std::size_t index, double score);

  /// Whether scores change what is proposed, so that batches should be small.
  virtual bool learns() const { return true; }

 protected:
  virtual std::size_t next() = 0;        ///< one that is open()
  virtual void told(std::size_t index);  ///< scores()[index] is new
  bool open(std::size_t index) const { return open_[index]; }
  const std::vector<double>& scores() const { return scores_; }  ///< NaN: not told
  std::size_t random_open();
  std::mt19937& random() { return random_; }

  const SearchSpace& space_;

 private:
  std::vector<bool> open_;
  std::size_t open_count_;
  std::vector<double> scores_;
  std::mt19937 random_;
};

/// `space` must outlive the search.
std::unique_ptr<Search> make_search(SearchKind kind, const SearchSpace& space, unsigned seed);

/// Configurations that differ from `index` in one axis, by the next legal value below or above.
std::vector<std::size_t> neighbours(const SearchSpace& space, std::size_t index);

}  // namespace headtune
