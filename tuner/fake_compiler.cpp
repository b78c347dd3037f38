#include "tuner/fake_compiler.h"

#include <memory>

#include "tuner/hip/fake_compile.h"

namespace headtune {

CompileAll fake_compiler(const std::filesystem::path& file) {
  const auto script = std::make_shared<const hip::FakeScript>(hip::read_fake_script(file.string()));
  return [script](std::span<const CompileJob> jobs, const std::function<void(std::size_t, Binary)>& done) {
    for (std::size_t i = 0; i < jobs.size(); ++i) done(i, hip::fake_compile(*script, jobs[i]));
  };
}

}  // namespace headtune
