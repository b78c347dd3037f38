// Real compiles in real child processes. Cases that need hipRTC or NVRTC are skipped, and say so, where there is none.
#include "tuner/toolchain.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "tuner/error.h"
#include "tuner/toolchain/installation.h"

namespace fs = std::filesystem;
using namespace headtune;

namespace {

/// A folder of this test's own, removed with everything in it.
struct TemporaryFolder {
  fs::path path;
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "headtune-test-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~TemporaryFolder() { fs::remove_all(path); }
};

struct Fixture {
  TemporaryFolder cache;
  ToolchainOptions options() const {
    ToolchainOptions options;
    options.cache = cache.path;
    options.jobs = 2;
    return options;
  }
};

void skip_without(const std::string& arch) {
  TemporaryFolder cache;
  ToolchainOptions options;
  options.cache = cache.path;
  try {
    Toolchain(options).version(arch);
  } catch (const UnavailableError& error) {
    SKIP("no compiler for " << arch << ": " << error.what());
  }
}

std::string kernel(const std::string& name, const std::string& factor = "2.0f") {
  return fmt::format(
      "extern \"C\" __global__ void __launch_bounds__(256) {}(float* y, const float* x, int n) {{\n"
      "  __shared__ float tile[256];\n"
      "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  tile[threadIdx.x] = i < n ? x[i] : 0.f;\n"
      "  __syncthreads();\n"
      "  if (i < n) y[i] = tile[255 - threadIdx.x] * {};\n"
      "}}\n",
      name, factor);
}

CompileJob job(const std::string& arch, const std::string& source) { return {source, arch, {"-O3", "-std=c++17"}}; }

/// Children of a process, by the parent field of /proc/PID/stat.
std::set<pid_t> children(pid_t parent = getpid()) {
  std::set<pid_t> result;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::ifstream stat(entry.path() / "stat");
    std::string line;
    if (!std::getline(stat, line)) continue;
    const std::string rest = line.substr(line.rfind(')') + 4);
    if (std::stoi(rest) == parent) result.insert(std::stoi(line));
  }
  return result;
}

struct Fault {
  explicit Fault(const char* kind) { setenv("HEADTUNE_TOOLCHAIN_FAULT", kind, 1); }
  ~Fault() { unsetenv("HEADTUNE_TOOLCHAIN_FAULT"); }
};

std::string faulty_kernel() { return "// HEADTUNE_FAULT_HERE\n" + kernel("faulty"); }

}  // namespace

TEST_CASE_METHOD(Fixture, "every AMD target compiles with its resources and disassembles", "[toolchain]") {
  const std::string arch = GENERATE("gfx90a", "gfx942", "gfx950");
  skip_without(arch);
  Toolchain toolchain(options());
  const Binary binary = toolchain.compile(job(arch, kernel("reverse")));
  INFO(binary.log);
  REQUIRE(binary.status == CompileStatus::ok);
  REQUIRE(binary.kernels.count("reverse") == 1);
  const Resources& resources = binary.kernels.at("reverse");
  CHECK(resources.vgpr > 0);
  CHECK(resources.vgpr <= 16);
  CHECK(resources.agpr == 0);
  CHECK(resources.lds_bytes == 1024);
  CHECK(resources.scratch_bytes == 0);
  CHECK(resources.waves_per_simd == 8);
  CHECK(resources.max_workgroup_size == 256);

  const auto instructions = toolchain.disassemble(binary.code, arch);
  const auto has = [&](const std::string& text) {
    return std::any_of(instructions.begin(), instructions.end(),
                       [&](const Instruction& i) { return i.text.rfind(text, 0) == 0; });
  };
  CHECK(has("s_endpgm"));
  CHECK(has("s_barrier"));
  CHECK(has("ds_read"));
  for (std::size_t i = 1; i < instructions.size(); ++i) {
    REQUIRE(instructions[i].pc == instructions[i - 1].pc + instructions[i - 1].size);
  }
}

TEST_CASE_METHOD(Fixture, "accumulation registers and spills are told apart", "[toolchain]") {
  skip_without("gfx950");
  // 120 values live across a barrier do not fit 64 registers: the bound forces spills.
  const std::string source =
      "extern \"C\" __global__ void __launch_bounds__(1024, 2) k(float* y) {\n"
      "  float a[160];\n"
      "  #pragma unroll\n"
      "  for (int i = 0; i < 160; ++i) a[i] = y[i * 1024 + threadIdx.x];\n"
      "  __syncthreads();\n"
      "  #pragma unroll\n"
      "  for (int i = 0; i < 160; ++i) y[((i * 7) % 160) * 1024 + threadIdx.x] = a[i] * a[(i + 80) % 160];\n"
      "}\n";
  Toolchain toolchain(options());
  const Binary binary = toolchain.compile(job("gfx950", source));
  INFO(binary.log);
  REQUIRE(binary.status == CompileStatus::ok);
  const Resources& resources = binary.kernels.at("k");
  CHECK(resources.vgpr + resources.agpr <= 128);
  CHECK(resources.waves_per_simd >= 4);
  CHECK(resources.vgpr_spills > 0);
  CHECK(resources.agpr + resources.scratch_bytes > 0);
}

TEST_CASE_METHOD(Fixture, "NVRTC compiles a cubin and reports its resources", "[toolchain]") {
  skip_without("sm_90");
  Toolchain toolchain(options());
  const Binary binary = toolchain.compile({"#include <cuda_bf16.h>\n" + kernel("reverse"), "sm_90", {"-std=c++17"}});
  INFO(binary.log);
  REQUIRE(binary.status == CompileStatus::ok);
  CHECK(binary.log.empty());
  CHECK(binary.kernels.at("reverse").vgpr > 0);
  CHECK(binary.kernels.at("reverse").lds_bytes == 1024);
}

TEST_CASE_METHOD(Fixture, "a compile error keeps the compiler's words and no temporary path", "[toolchain]") {
  skip_without("gfx950");
  Toolchain toolchain(options());
  const Binary binary = toolchain.compile(job("gfx950", "int x = undeclared_name;"));
  CHECK(binary.status == CompileStatus::error);
  CHECK(binary.code.empty());
  CHECK(binary.log.find("undeclared_name") != std::string::npos);
  CHECK(binary.log.rfind("kernel.hip:1:9: error", 0) == 0);
}

TEST_CASE_METHOD(Fixture, "a target that the compiler does not know is refused, not tried", "[toolchain]") {
  skip_without("gfx950");
  Toolchain toolchain(options());
  const Binary binary = toolchain.compile(job("gfx123", kernel("k")));
  CHECK(binary.status == CompileStatus::error);
  CHECK(binary.log.find("cannot compile for gfx123") != std::string::npos);
}

TEST_CASE_METHOD(Fixture, "a hang is killed after its time and the next job runs", "[toolchain]") {
  skip_without("gfx950");
  const Fault fault("hang");
  auto short_time = options();
  short_time.timeout_seconds = 4;
  Toolchain toolchain(short_time);
  const auto start = std::chrono::steady_clock::now();
  const Binary hung = toolchain.compile(job("gfx950", faulty_kernel()));
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  CHECK(hung.status == CompileStatus::timed_out);
  CHECK(elapsed.count() >= 4);
  CHECK(elapsed.count() < 8);
  CHECK(toolchain.compile(job("gfx950", kernel("k"))).status == CompileStatus::ok);
}

TEST_CASE_METHOD(Fixture, "an abort is typed and among others harms none", "[toolchain]") {
  skip_without("gfx950");
  const Fault fault("abort");
  Toolchain toolchain(options());
  std::vector<CompileJob> jobs;
  for (int i = 0; i < 5; ++i) jobs.push_back(job("gfx950", kernel(fmt::format("k{}", i))));
  jobs[2] = job("gfx950", faulty_kernel());
  std::vector<Binary> results(jobs.size());
  toolchain.compile_all(jobs, [&](std::size_t index, Binary binary) { results[index] = std::move(binary); });
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    INFO(i << ": " << results[i].log);
    CHECK(results[i].status == (i == 2 ? CompileStatus::crashed : CompileStatus::ok));
    if (i != 2) CHECK(results[i].kernels.count(fmt::format("k{}", i)) == 1);
  }
  CHECK(results[2].signal == SIGABRT);
}

TEST_CASE_METHOD(Fixture, "a child killed while idle is replaced", "[toolchain]") {
  skip_without("gfx950");
  Toolchain toolchain(options());
  toolchain.version("gfx950");
  const auto before = children();
  REQUIRE(before.size() == 1);
  kill(*before.begin(), SIGKILL);
  usleep(100000);
  CHECK(toolchain.compile(job("gfx950", kernel("k"))).status == CompileStatus::ok);
}

TEST_CASE_METHOD(Fixture, "no child outlives the pool", "[toolchain]") {
  skip_without("gfx950");
  {
    Toolchain toolchain(options());
    const std::vector<CompileJob> jobs = {job("gfx950", kernel("a")), job("gfx950", kernel("b"))};
    int finished = 0;
    toolchain.compile_all(jobs, [&](std::size_t, Binary) { ++finished; });
    CHECK(finished == 2);
    CHECK(children().size() == 3);  // two of the pool and the one that told the version
  }
  CHECK(children().empty());
}

TEST_CASE_METHOD(Fixture, "a hanging compile ends when the tuner is killed", "[toolchain]") {
  skip_without("gfx950");
  const Fault fault("hang");
  const pid_t tuner = fork();
  if (tuner == 0) {
    auto tuner_options = options();
    tuner_options.use_cache = false;  // no version request: the one child is the one that hangs
    Toolchain(tuner_options).compile(job("gfx950", faulty_kernel()));
    _exit(0);
  }
  std::set<pid_t> compilers;
  for (int i = 0; i < 50 && compilers.empty(); ++i, usleep(100000)) compilers = children(tuner);
  usleep(500000);
  kill(tuner, SIGKILL);
  waitpid(tuner, nullptr, 0);
  REQUIRE(compilers.size() == 1);
  bool gone = false;
  for (int i = 0; i < 30 && !gone; ++i, usleep(100000)) gone = kill(*compilers.begin(), 0) != 0;
  CHECK(gone);
}

TEST_CASE_METHOD(Fixture, "a callback that throws ends the jobs under way and leaves the pool usable", "[toolchain]") {
  skip_without("gfx950");
  Toolchain toolchain(options());
  const std::vector<CompileJob> jobs = {job("gfx950", kernel("a")), job("gfx950", kernel("b"))};
  CHECK_THROWS_AS(toolchain.compile_all(jobs, [](std::size_t, Binary) { throw UsageError("stop"); }), UsageError);
  std::vector<std::string> seen(2);
  toolchain.compile_all(jobs, [&](std::size_t i, Binary binary) { seen[i] = binary.kernels.begin()->first; });
  CHECK(seen == std::vector<std::string>{"a", "b"});
}

TEST_CASE_METHOD(Fixture, "the cache gives the same binary, notices changes and survives damage", "[toolchain]") {
  skip_without("gfx950");
  TemporaryFolder include;
  fs::create_directories(include.path / "headtune");
  const auto header = include.path / "headtune" / "factor.h";
  std::ofstream(header) << "#define FACTOR 3.0f\n";
  CompileJob with_header = job("gfx950", "#include <headtune/factor.h>\n" + kernel("k", "FACTOR"));
  with_header.options.push_back("-I" + include.path.string());

  Toolchain toolchain(options());
  const Binary first = toolchain.compile(with_header);
  INFO(first.log);
  REQUIRE(first.status == CompileStatus::ok);
  CHECK_FALSE(first.cached);
  const Binary again = toolchain.compile(with_header);
  CHECK(again.cached);
  CHECK(again.code == first.code);
  CHECK(again.kernels.at("k").vgpr == first.kernels.at("k").vgpr);
  CHECK(again.seconds == first.seconds);

  std::ofstream(header) << "#define FACTOR 4.0f\n";
  const Binary changed = toolchain.compile(with_header);
  CHECK_FALSE(changed.cached);
  CHECK(changed.code != first.code);

  std::vector<fs::path> entries;
  for (const auto& entry : fs::recursive_directory_iterator(cache.path)) {
    if (entry.is_regular_file()) entries.push_back(entry.path());
  }
  REQUIRE(entries.size() == 2);
  for (const auto& entry : entries) fs::resize_file(entry, fs::file_size(entry) - 1);
  const Binary recompiled = toolchain.compile(with_header);
  CHECK_FALSE(recompiled.cached);
  CHECK(recompiled.code == changed.code);
  CHECK(toolchain.compile(with_header).cached);
}

TEST_CASE("a --rocm without hipRTC is the user's mistake, by name", "[toolchain]") {
  TemporaryFolder empty;
  CHECK_THROWS_AS(toolchain::find_amd_installation(empty.path), UsageError);
}

TEST_CASE("a private prefix with its own loader runs under that loader", "[toolchain]") {
  TemporaryFolder prefix;
  const fs::path libraries = prefix.path / "usr/lib/x86_64-linux-gnu";
  fs::create_directories(libraries);
  std::ofstream(libraries / "libhiprtc.so.6") << "";
  std::ofstream(libraries / "ld-linux-x86-64.so.2") << "";
  const auto command = toolchain::find_amd_installation(prefix.path).command("/bin/program");
  CHECK(command == std::vector<std::string>{libraries / "ld-linux-x86-64.so.2", "--library-path", libraries,
                                            "/bin/program", "--lib-dir", libraries});
}

TEST_CASE("a program that cannot be started is unavailable", "[toolchain]") {
  ToolchainOptions options;
  options.program = "/nonexistent/headtune-toolchain";
  CHECK_THROWS_AS(Toolchain(options).version("gfx950"), UnavailableError);
}
