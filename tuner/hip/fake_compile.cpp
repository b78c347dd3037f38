#include "tuner/hip/fake_compile.h"

#include <regex>

namespace headtune::hip {
namespace {

Resources resources_of(const FakeVariant& variant) {
  const auto value = [&](const char* name) {
    const auto found = variant.resources.find(name);
    return found == variant.resources.end() ? 0 : found->second;
  };
  Resources resources;
  resources.vgpr = value("vgpr");
  resources.agpr = value("agpr");
  resources.sgpr = value("sgpr");
  resources.lds_bytes = value("lds_bytes");
  resources.scratch_bytes = value("scratch_bytes");
  resources.vgpr_spills = value("vgpr_spills");
  resources.max_workgroup_size = 1024;
  return resources;
}

/// Names of the kernels that a source defines.
std::vector<std::string> kernel_names(const std::string& source) {
  static const std::regex definition(R"((\w+)\s*\(\s*const\s+headtune::\w+Params)");
  std::vector<std::string> names;
  for (std::sregex_iterator match(source.begin(), source.end(), definition), end; match != end; ++match)
    names.push_back((*match)[1]);
  return names;
}

Binary compiled(const CompileJob& job, const FakeVariant& variant) {
  Binary binary;
  binary.status = CompileStatus::ok;
  const std::string text = std::string(fake_magic) + job.source;
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  binary.code.assign(bytes, bytes + text.size());
  for (const std::string& name : kernel_names(job.source)) binary.kernels[name] = resources_of(variant);
  return binary;
}

Binary failed(CompileStatus status, const char* log, int signal) {
  Binary binary;
  binary.status = status;
  binary.log = log;
  binary.signal = signal;
  return binary;
}

}  // namespace

Binary fake_compile(const FakeScript& script, const CompileJob& job) {
  const FakeVariant& variant = script.variant(parse_constants(job.source));
  if (variant.compile == "error") return failed(CompileStatus::error, "scripted compile error", 0);
  if (variant.compile == "crash") return failed(CompileStatus::crashed, "scripted crash: signal 6 (Aborted)", 6);
  if (variant.compile == "hang") return failed(CompileStatus::timed_out, "scripted hang: killed", 9);
  return compiled(job, variant);
}

}  // namespace headtune::hip
