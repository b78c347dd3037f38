#include "tuner/frozen.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "codegen/render.h"
#include "tables/tables.h"
#include "tuner/line_diff.h"
#include "tuner/op.h"

namespace headtune {
namespace {

using Kernels = std::map<std::string, KernelCode>;

struct Compiled {
  Kernels kernels;
  std::string error;  ///< empty when it compiled
};

Compiled compile(const FrozenVariant& v, const std::string& arch, Toolchain& toolchain,
                 const std::filesystem::path& templates) {
  const Binary binary = toolchain.compile({render(v.op, v.problem, v.config), arch, compile_options(arch, templates)});
  if (binary.status != CompileStatus::ok) return {{}, binary.log.empty() ? "the compiler died" : binary.log};
  return {machine_code(binary.code, toolchain.disassemble(binary.code, arch)), ""};
}

/// See FrozenCode.
FrozenCode kept_of(const std::string& op, const std::string& kernel, const KernelCode& code) {
  return {count_opcodes(code), kernel == find_op(op).kernels().front() ? code : KernelCode{}};
}

/// "v_add_u32 12 -> 13, v_mul_f32 0 -> 1": what a change is about when registers were dealt out anew.
std::string opcode_changes(const std::map<std::string, int>& before, const std::map<std::string, int>& after) {
  std::map<std::string, std::pair<int, int>> both;
  for (const auto& [opcode, count] : before) both[opcode].first = count;
  for (const auto& [opcode, count] : after) both[opcode].second = count;
  std::vector<std::string> changes;
  for (const auto& [opcode, counts] : both)
    if (counts.first != counts.second)
      changes.push_back(fmt::format("{} {} -> {}", opcode, counts.first, counts.second));
  if (changes.empty()) return "the same opcodes in another order or with other operands";
  return fmt::format("{}", fmt::join(changes, ", "));
}

std::string difference(const FrozenCode& before, const KernelCode& after) {
  const std::string hunks = before.lines.empty() ? "" : hunks_text(diff_lines(before.lines, after));
  return opcode_changes(before.opcodes, count_opcodes(after)) + "\n" + hunks;
}

FrozenFinding compare(const FrozenFile& file, FrozenFinding finding, const std::string& recorded, const Compiled& now) {
  const auto code = now.kernels.find(finding.kernel);
  if (code == now.kernels.end()) {
    finding.verdict = Frozen::changed;
    finding.detail = now.error.empty() ? "the kernel is gone\n" : "does not compile any more: " + now.error + "\n";
  } else if (digest(code->second) != recorded) {
    finding.verdict = Frozen::changed;
    const auto before = file.code.find(recorded);
    finding.detail = before == file.code.end() ? "the record has no instructions to compare with\n"
                                               : difference(before->second, code->second);
  }
  return finding;
}

std::string compilers_of(const FrozenFile& file, const std::string& arch) {
  std::vector<std::string> names;
  for (const FrozenRecord& record : file.records)
    if (record.arch == arch) names.push_back(record.compiler);
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

std::set<std::string> archs_of(const FrozenFile& file) {
  std::set<std::string> archs;
  for (const FrozenRecord& record : file.records) archs.insert(record.arch);
  return archs;
}

}  // namespace

std::vector<Problem> frozen_problems() { return {{576, 512, 12, 1, 8, true}, {256, 256, 8, 1, 4, true}}; }

std::vector<Config> table_configs(const Problem& problem, const Arch& arch, const std::vector<int>& contexts) {
  std::vector<Config> configs;
  for (const int context : contexts) {
    const Config config = tables::lookup(problem, {arch.name, arch.cu_count, arch.wave_size}, context).config;
    if (std::ranges::find(configs, config) == configs.end()) configs.push_back(config);
  }
  return configs;
}

void freeze(FrozenFile& file, const std::string& arch, std::vector<FrozenVariant> variants, Toolchain& toolchain,
            const std::filesystem::path& templates) {
  FrozenRecord record{arch, toolchain.version(arch), std::move(variants)};
  std::map<std::string, FrozenCode> code;
  for (FrozenVariant& variant : record.variants) {
    const Compiled compiled = compile(variant, arch, toolchain, templates);
    if (!compiled.error.empty()) throw UsageError(fmt::format("{}: does not compile: {}", arch, compiled.error));
    for (const auto& [name, kernel] : compiled.kernels) {
      variant.kernels[name] = digest(kernel);
      code[variant.kernels[name]] = kept_of(variant.op, name, kernel);
    }
  }
  file.put(std::move(record), code);
}

std::vector<FrozenFinding> check_frozen(const FrozenFile& file, const std::vector<std::string>& archs,
                                        Toolchain& toolchain, const std::filesystem::path& templates) {
  const std::set<std::string> wanted = archs.empty() ? archs_of(file) : std::set(archs.begin(), archs.end());
  std::vector<FrozenFinding> findings;
  for (const std::string& arch : wanted) {
    const std::string compiler = toolchain.version(arch);
    const FrozenRecord* record = file.find(arch, compiler);
    if (record == nullptr) {
      findings.push_back({Frozen::no_record,
                          arch,
                          {},
                          "",
                          fmt::format("no record of {}; recorded: {}", compiler, compilers_of(file, arch))});
      continue;
    }
    for (const FrozenVariant& variant : record->variants) {
      const Compiled now = compile(variant, arch, toolchain, templates);
      for (const auto& [kernel, recorded] : variant.kernels)
        findings.push_back(compare(file, {Frozen::same, arch, variant, kernel, ""}, recorded, now));
    }
  }
  return findings;
}

Exit verdict(const std::vector<FrozenFinding>& findings) {
  const auto any = [&](Frozen verdict) {
    return std::ranges::find(findings, verdict, &FrozenFinding::verdict) != findings.end();
  };
  if (any(Frozen::changed)) return Exit::regress;
  return any(Frozen::no_record) || findings.empty() ? Exit::no_verdict : Exit::ok;
}

}  // namespace headtune
