// Picks the best instruction-set build of the handlers and looks handlers up by name.
#include <string>
#include <unordered_map>

#include "tuner/sim/decode.h"

namespace headtune::sim {
namespace {

using Index = std::unordered_map<std::string_view, const OpEntry*>;

void add(Index& index, std::span<const OpEntry> table) {
  for (const OpEntry& entry : table) index.emplace(entry.name, &entry);
}

#define HEADTUNE_SIM_ADD(family) add(index, build::family());

#if defined(__x86_64__)
bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
void add_avx2(Index& index) {
  namespace build = avx2;
  HEADTUNE_SIM_FAMILIES(HEADTUNE_SIM_ADD)
}
#endif

void add_generic(Index& index) {
  namespace build = generic;
  HEADTUNE_SIM_FAMILIES(HEADTUNE_SIM_ADD)
}

Index make_index(InstructionSet set) {
  Index index;
#if defined(__x86_64__)
  if (set != InstructionSet::generic && has_avx2())
    add_avx2(index);
  else
#endif
    add_generic(index);
  return index;
}

InstructionSet wanted = InstructionSet::avx2;

}  // namespace

void use_instruction_set(InstructionSet set) { wanted = set; }

const OpEntry* find_op(std::string_view name) {
  static const Index indices[] = {make_index(InstructionSet::generic), make_index(InstructionSet::avx2)};
  const Index& index = indices[static_cast<int>(wanted)];
  const auto found = index.find(name);
  return found == index.end() ? nullptr : found->second;
}

}  // namespace headtune::sim
