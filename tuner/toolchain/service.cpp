#include "tuner/toolchain/service.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <thread>

#include "tuner/error.h"
#include "tuner/resources_json.h"
#include "tuner/toolchain/compiler.h"
#include "tuner/toolchain/wire.h"

namespace headtune::toolchain {
namespace {

using nlohmann::json;

/// Ends this process when its parent has died while a compile hangs (the loop then never sees the end of input).
void watch_parent() {
  const pid_t parent = getppid();
  std::thread([parent] {
    while (getppid() == parent) std::this_thread::sleep_for(std::chrono::milliseconds(250));
    _exit(1);
  }).detach();
}

/// Keeps the real standard output for answers and sends whatever compilers print to standard error.
FILE* claim_standard_output() {
  FILE* answers = fdopen(dup(STDOUT_FILENO), "w");
  dup2(STDERR_FILENO, STDOUT_FILENO);
  return answers;
}

class Service {
 public:
  explicit Service(std::vector<std::string> directories) : directories_(std::move(directories)) {}

  json answer(const json& request) {
    const std::string command = request.at("command");
    const std::string arch = request.at("arch");
    if (command == "version") return {{"status", "ok"}, {"version", compiler(arch).version()}};
    if (command == "compile") return compile(request);
    const auto code = wire::from_hex(request.at("code").get_ref<const std::string&>());
    if (command == "metadata") return {{"status", "ok"}, {"kernels", resources_json(compiler(arch).metadata(code))}};
    if (command == "disassemble") {
      return {{"status", "ok"}, {"instructions", wire::to_json(compiler(arch).disassemble(code, arch))}};
    }
    throw std::runtime_error("unknown command " + command);
  }

 private:
  Compiler& compiler(const std::string& arch) {
    const bool amd = arch.rfind("gfx", 0) == 0;
    auto& slot = amd ? amd_ : nvidia_;
    if (!slot) slot = amd ? load_amd_compiler(directories_) : load_nvidia_compiler(directories_);
    return *slot;
  }

  json compile(const json& request) {
    const CompileJob job{request.at("source"), request.at("arch"), request.at("options")};
    const auto start = std::chrono::steady_clock::now();
    const Binary binary = compiler(job.arch).compile(job);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    return {{"status", binary.status == CompileStatus::ok ? "ok" : "error"},
            {"code", wire::to_hex(binary.code)},
            {"log", binary.log},
            {"kernels", resources_json(binary.kernels)},
            {"seconds", elapsed.count()}};
  }

  std::vector<std::string> directories_;
  std::unique_ptr<Compiler> amd_, nvidia_;
};

/// Fault injection for the tests of the client: the job whose source contains the marker hangs or aborts.
void inject_fault(const json& request) {
  const char* fault = std::getenv("HEADTUNE_TOOLCHAIN_FAULT");
  if (!fault || request.value("source", "").find("HEADTUNE_FAULT_HERE") == std::string::npos) return;
  if (std::string(fault) == "abort") std::abort();
  if (std::string(fault) == "hang") {
    while (true) pause();
  }
}

json guarded_answer(Service& service, const std::string& line) {
  try {
    const json request = json::parse(line);
    inject_fault(request);
    return service.answer(request);
  } catch (const UnavailableError& error) {
    return {{"status", "unavailable"}, {"log", error.what()}};
  } catch (const std::exception& error) {
    return {{"status", "error"}, {"log", error.what()}};
  }
}

}  // namespace

int serve(std::vector<std::string> library_directories) {
  FILE* answers = claim_standard_output();
  watch_parent();
  Service service(std::move(library_directories));
  for (std::string line; std::getline(std::cin, line);) {
    const std::string reply = wire::to_line(guarded_answer(service, line)) + "\n";
    std::fwrite(reply.data(), 1, reply.size(), answers);
    std::fflush(answers);
  }
  std::fflush(answers);
  _exit(0);  // LLVM's exit-time destructors are slow and have been seen to crash.
}

}  // namespace headtune::toolchain
