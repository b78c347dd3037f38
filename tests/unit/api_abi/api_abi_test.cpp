// The comparison itself happens when compare_*.cpp compile; here the versions that took part are reported.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "tests/unit/api_abi/correspond.h"
#include "tests/unit/api_abi/found.h"

using namespace headtune::abi;

namespace {

bool compared(int major_number) {
  return std::any_of(versions().begin(), versions().end(),
                     [&](const Version& version) { return version.major_number == major_number; });
}

void require_compared(int major_number) {
  if (!compared(major_number)) SKIP("no HIP " << major_number << " headers found; scripts/setup.sh fetches them");
  SUCCEED();
}

enum Colour { red };
struct Object;

}  // namespace

TEST_CASE("hip::Api has the ABI of the HIP 5 headers") { require_compared(5); }
TEST_CASE("hip::Api has the ABI of the HIP 6 headers") { require_compared(6); }

TEST_CASE("the cuda provider has the ABI of cuda.h") {
  const bool found = std::any_of(versions().begin(), versions().end(),
                                 [](const Version& version) { return version.major_number >= cuda_scale; });
  if (!found) SKIP("no cuda.h found");
  SUCCEED();
}

TEST_CASE("the comparison tells different calls apart") {
  CHECK(same_call<int (*)(int, void**), Colour (*)(Colour, Object**)>);
  CHECK(same_call<int (*)(const void*), int (*)(const Object*)>);
  CHECK_FALSE(same_call<int (*)(int), int (*)(int, int)>);
  CHECK_FALSE(same_call<int (*)(int), int (*)(long)>);
  CHECK_FALSE(same_call<int (*)(void*), int (*)(void**)>);
  CHECK_FALSE(same_call<int (*)(int*), int (*)(float*)>);
  CHECK_FALSE(same_call<int (*)(int), int (*)(Object*)>);
}
