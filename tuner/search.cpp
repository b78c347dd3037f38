#include "tuner/search.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

#include "tuner/error.h"
#include "tuner/search_model.h"

namespace headtune {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

constexpr std::pair<SearchKind, const char*> kind_names[] = {{SearchKind::exhaustive, "exhaustive"},
                                                             {SearchKind::random, "random"},
                                                             {SearchKind::greedy, "greedy"},
                                                             {SearchKind::guided, "guided"}};

class Exhaustive final : public Search {
 public:
  using Search::Search;
  bool learns() const override { return false; }

 private:
  std::size_t next() override {
    while (!open(at_)) ++at_;
    return at_;
  }
  std::size_t at_ = 0;
};

class Random final : public Search {
 public:
  Random(const SearchSpace& space, unsigned seed) : Search(space, seed), order_(space.configs.size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::shuffle(order_.begin(), order_.end(), random());
  }
  bool learns() const override { return false; }

 private:
  std::size_t next() override {
    while (!open(order_[at_])) ++at_;
    return order_[at_];
  }
  std::vector<std::size_t> order_;
  std::size_t at_ = 0;
};

/// Local search. A neighbour whose score is still out counts as tried: proposals must not wait for it.
class Greedy final : public Search {
 public:
  using Search::Search;

 private:
  std::size_t next() override {
    for (const std::size_t neighbour : shuffled(centre_))
      if (open(neighbour)) return neighbour;
    climbing_ = false;  // a local optimum: the next score, whatever it is, starts a new climb
    return random_open();
  }

  void told(std::size_t index) override {
    const double score = scores()[index];
    if (climbing_ && !(score < scores()[*centre_])) return;
    if (std::isfinite(score)) centre_ = index, climbing_ = true;
  }

  std::vector<std::size_t> shuffled(const std::optional<std::size_t>& centre) {
    if (!centre) return {};
    std::vector<std::size_t> around = neighbours(space_, *centre);
    std::shuffle(around.begin(), around.end(), random());
    return around;
  }

  std::optional<std::size_t> centre_;
  bool climbing_ = false;
};

class Guided final : public Search {
 public:
  Guided(const SearchSpace& space, unsigned seed) : Search(space, seed), model_(space) {}

 private:
  std::size_t next() override {
    if (stale_) model_.fit(scores());
    stale_ = false;
    std::size_t best = random_open();  // the seed decides among equals
    double promise = model_.promise(best);
    for (std::size_t i = 0; i < space_.configs.size(); ++i)
      if (open(i) && model_.promise(i) < promise) best = i, promise = model_.promise(i);
    model_.expect(best);
    return best;
  }
  void told(std::size_t) override { stale_ = true; }

  SearchModel model_;
  bool stale_ = true;
};

const Knob& knob_of(const std::string& axis) {
  for (const Knob& knob : knobs)
    if (axis == knob.name) return knob;
  throw UsageError("no knob named " + axis);
}

}  // namespace

const char* name(SearchKind kind) {
  for (const auto& [value, text] : kind_names)
    if (value == kind) return text;
  return "unknown";
}

SearchKind parse_search(const std::string& name) {
  std::vector<std::string> known;
  for (const auto& [value, text] : kind_names) {
    if (name == text) return value;
    known.emplace_back(text);
  }
  throw UsageError(fmt::format("unknown search '{}': use {}", name, fmt::join(known, ", ")));
}

Search::Search(const SearchSpace& space, unsigned seed)
    : space_(space),
      open_(space.configs.size(), true),
      open_count_(space.configs.size()),
      scores_(space.configs.size(), unknown),
      random_(seed) {}

std::vector<std::size_t> Search::propose(std::size_t count) {
  std::vector<std::size_t> proposed;
  while (proposed.size() < count && open_count_ > 0) {
    const std::size_t index = next();
    open_[index] = false, --open_count_;
    proposed.push_back(index);
  }
  return proposed;
}

void Search::tell(std::size_t index, double score) {
  if (open_[index]) open_[index] = false, --open_count_;
  scores_[index] = score;
  told(index);
}

void Search::told(std::size_t) {}

std::size_t Search::random_open() {
  auto skip = std::uniform_int_distribution<std::size_t>(0, open_count_ - 1)(random_);
  for (std::size_t i = 0;; ++i)
    if (open_[i] && skip-- == 0) return i;
}

std::unique_ptr<Search> make_search(SearchKind kind, const SearchSpace& space, unsigned seed) {
  switch (kind) {
    case SearchKind::exhaustive:
      return std::make_unique<Exhaustive>(space, seed);
    case SearchKind::random:
      return std::make_unique<Random>(space, seed);
    case SearchKind::greedy:
      return std::make_unique<Greedy>(space, seed);
    case SearchKind::guided:
      return std::make_unique<Guided>(space, seed);
  }
  return nullptr;
}

std::vector<std::size_t> neighbours(const SearchSpace& space, std::size_t index) {
  std::vector<int Config::*> members;
  for (const std::string& axis : space.axes) members.push_back(knob_of(axis).member);
  const Config& centre = space.configs[index];
  std::map<std::pair<std::size_t, bool>, std::size_t> nearest;  // axis and direction -> configuration
  for (std::size_t i = 0; i < space.configs.size(); ++i) {
    const Config& other = space.configs[i];
    std::vector<std::size_t> apart;
    for (std::size_t axis = 0; axis < members.size(); ++axis)
      if (other.*members[axis] != centre.*members[axis]) apart.push_back(axis);
    if (apart.size() != 1) continue;
    const auto member = members[apart[0]];
    const auto distance = [&](std::size_t j) { return std::abs(space.configs[j].*member - centre.*member); };
    const auto [found, fresh] = nearest.emplace(std::pair(apart[0], other.*member > centre.*member), i);
    if (!fresh && distance(i) < distance(found->second)) found->second = i;
  }
  std::vector<std::size_t> found;
  for (const auto& [direction, neighbour] : nearest) found.push_back(neighbour);
  return found;
}

}  // namespace headtune
