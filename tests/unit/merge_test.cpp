// Merging databases: what is taken over, what a conflict becomes, who wins afterwards.
#include "tuner/merge.h"

#include <stdlib.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <fstream>
#include <iterator>

#include "tests/unit/gate_tables.h"
#include "tuner/error.h"

namespace headtune {
namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

struct Folder {
  std::filesystem::path path;
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "headtune-merge-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
};

const Problem problem{64, 64, 8, 2, 7, false};

/// A database under construction.
struct Input {
  std::filesystem::path file;
  StoredEnvironment device;

  std::int64_t put(int block_n, Status status, std::vector<StoredTiming> timings = {}) const {
    Store store(file, Access::create);
    StoredVariant v;
    v.environment = store.add(device), v.problem = store.add(StoredProblem{"verify_shared_kv", problem});
    v.config.block_n = block_n;
    v.defines = "BLOCK_N=" + std::to_string(block_n), v.template_hash = present_hash, v.status = status;
    if (status >= Status::verified) v.verify_error = 1e-3, v.verify_tolerance = 5e-3;
    const std::int64_t id = store.put(v);
    for (const StoredTiming& timing : timings) store.put_timing(id, timing);
    return id;
  }
  void win(std::int64_t variant) const {
    Store store(file, Access::create);
    store.put_winners(store.add(device), {store.add(StoredProblem{"verify_shared_kv", problem})},
                      {{variant, 8192, 8192, "best"}});
  }
  StoredTiming at(double us, int context = 8192) const {
    return {context, 1, "graph", us, us - 0.01, us + 0.01, 1 << 20, 0, "", device.estimated, {us, us, us}};
  }
};

std::string bytes(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Merged {
  std::vector<StoredVariant> variants;
  std::vector<std::vector<StoredTiming>> timings;
  int winner = 0;  ///< BLOCK_N
  MergeReport report;
};

Merged merged(const Folder& folder, const std::vector<std::filesystem::path>& inputs, OnConflict policy,
              const StoredEnvironment& device = mi355x()) {
  std::filesystem::remove(folder.path / "out.db");
  Store out(folder.path / "out.db", Access::create);
  Merged result;
  result.report = merge(out, inputs, policy);
  const auto environment = out.add(device), id = out.add(StoredProblem{"verify_shared_kv", problem});
  result.variants = out.variants(environment, id);
  for (const StoredVariant& v : result.variants) {
    result.timings.push_back(out.timings(v.id));
    for (const StoredWinner& w : out.winners(environment, id))
      if (w.variant == v.id) result.winner = v.config.block_n;
  }
  return result;
}

}  // namespace

TEST_CASE("databases of different problems are copied with their winners, and stay as they are") {
  const Folder folder;
  const Input a{folder.path / "a.db", mi355x()};
  StoredEnvironment other = mi355x();
  other.cu_count = 128;
  const Input b{folder.path / "b.db", other};
  a.win(a.put(64, Status::timed, {a.at(20)}));
  b.win(b.put(128, Status::timed, {b.at(30)}));
  const std::string a_bytes = bytes(a.file), b_bytes = bytes(b.file);
  const Merged m = merged(folder, {a.file, b.file}, OnConflict::fail);
  CHECK(m.report.variants == 2);
  CHECK(m.report.conflicts == 0);
  CHECK(m.report.problems_kept == 2);
  CHECK(m.winner == 64);
  CHECK(bytes(a.file) == a_bytes);
  CHECK(bytes(b.file) == b_bytes);
}

TEST_CASE("two times of one variant are a conflict, resolved as asked") {
  const Folder folder;
  const Input a{folder.path / "a.db", mi355x()}, b{folder.path / "b.db", mi355x()};
  a.win(a.put(64, Status::timed, {a.at(20)}));
  a.put(128, Status::timed, {a.at(22)});
  b.put(64, Status::timed, {b.at(25)});
  b.win(b.put(128, Status::timed, {b.at(21)}));
  const std::vector<std::filesystem::path> ab = {a.file, b.file}, ba = {b.file, a.file};

  const Merged fastest = merged(folder, ab, OnConflict::fastest);
  CHECK(fastest.report.conflicts == 2);
  CHECK(fastest.winner == 64);
  CHECK(fastest.report.rechosen.size() == 1);
  CHECK(merged(folder, ba, OnConflict::fastest).winner == 64);

  CHECK(merged(folder, ab, OnConflict::newest).winner == 128);
  CHECK(merged(folder, ba, OnConflict::newest).winner == 64);

  CHECK_THROWS_MATCHES(merged(folder, ab, OnConflict::fail), UsageError,
                       MessageMatches(ContainsSubstring("a.db") && ContainsSubstring("b.db") &&
                                      ContainsSubstring("context 8192 batch 1") && ContainsSubstring("us and")));
  CHECK_THROWS_AS(parse_on_conflict("slowest"), UsageError);
}

TEST_CASE("points that only one input has are united without conflict") {
  const Folder folder;
  const Input a{folder.path / "a.db", mi355x()}, b{folder.path / "b.db", mi355x()};
  a.win(a.put(64, Status::timed, {a.at(20)}));
  b.put(64, Status::timed, {b.at(20), b.at(40, 16384)});
  const Merged m = merged(folder, {a.file, b.file}, OnConflict::fail);
  CHECK(m.report.conflicts == 0);
  REQUIRE(m.timings.size() == 1);
  CHECK(m.timings[0].size() == 2);
}

TEST_CASE("a wrong result outweighs any time, a crash does not") {
  const Folder folder;
  const Input a{folder.path / "a.db", mi355x()}, b{folder.path / "b.db", mi355x()};
  const bool wrong_first = GENERATE(false, true);
  a.put(64, Status::timed, {a.at(20)});
  b.put(64, Status::verify_failed);
  a.put(128, Status::timed, {a.at(20)});
  b.put(128, Status::crashed);
  const auto files = wrong_first ? std::vector{b.file, a.file} : std::vector{a.file, b.file};
  const Merged m = merged(folder, files, OnConflict::fastest);
  REQUIRE(m.variants.size() == 2);
  CHECK(m.variants[0].config.block_n == 128);  // in the order of defines
  CHECK(m.variants[0].status == Status::timed);
  CHECK(m.variants[1].status == Status::verify_failed);
  CHECK(m.timings[1].empty());
  CHECK(merged(folder, {a.file, b.file}, OnConflict::newest).variants[0].status == Status::crashed);
}

TEST_CASE("times of the race stand before screening times") {
  const Folder folder;
  const Input a{folder.path / "a.db", mi355x()}, b{folder.path / "b.db", mi355x()};
  a.put(64, Status::timed, {a.at(20)});
  b.put(64, Status::outraced, {b.at(19)});
  const Merged m = merged(folder, {a.file, b.file}, OnConflict::fastest);
  CHECK(m.variants[0].status == Status::timed);
  CHECK(m.timings[0][0].median_us == 20);
}

TEST_CASE("estimated winners do not come along beside measured times of the same device") {
  const Folder folder;
  StoredEnvironment sim = mi355x();
  sim.provider = "sim", sim.estimated = true;
  const Input a{folder.path / "a.db", sim}, b{folder.path / "b.db", mi355x()};
  a.win(a.put(64, Status::timed, {a.at(20)}));
  b.win(b.put(128, Status::timed, {b.at(30)}));
  const bool estimated_last = GENERATE(false, true);
  const auto files = estimated_last ? std::vector{b.file, a.file} : std::vector{a.file, b.file};
  CHECK(merged(folder, files, OnConflict::fail).winner == 128);
  const Merged estimated = merged(folder, files, OnConflict::fail, sim);
  CHECK(estimated.variants.size() == 1);
  CHECK(estimated.winner == 0);
  CHECK(estimated.report.dethroned.size() == 1);
}

}  // namespace headtune
