#include "tuner/toolchain.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "tuner/error.h"
#include "tuner/resources_json.h"
#include "tuner/toolchain/compile_cache.h"
#include "tuner/toolchain/installation.h"
#include "tuner/toolchain/wire.h"
#include "tuner/toolchain/worker.h"

namespace headtune {
namespace {

using nlohmann::json;
using toolchain::Reply;
using toolchain::Worker;

bool is_amd(const std::string& arch) { return arch.rfind("gfx", 0) == 0; }

std::filesystem::path program_beside_this_one() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "headtune-toolchain";
}

json compile_request(const CompileJob& job) {
  return {{"command", "compile"}, {"arch", job.arch}, {"source", job.source}, {"options", job.options}};
}

std::string log_of(const Reply& reply) { return reply.body.is_object() ? reply.body.value("log", "") : reply.log; }

CompileStatus status_of(const Reply& reply) {
  if (reply.status == "ok") return CompileStatus::ok;
  if (reply.status == "crashed") return CompileStatus::crashed;
  if (reply.status == "timed_out") return CompileStatus::timed_out;
  return CompileStatus::error;
}

Binary binary_from(const Reply& reply) {
  if (reply.status == "unavailable") throw UnavailableError(log_of(reply));
  Binary binary;
  binary.status = status_of(reply);
  binary.log = log_of(reply);
  binary.signal = reply.signal;
  if (binary.status == CompileStatus::ok) {
    binary.code = wire::from_hex(reply.body.at("code").get_ref<const std::string&>());
    binary.kernels = resources_of(reply.body.at("kernels"), AbsentField::refused);
  }
  if (reply.body.is_object()) binary.seconds = reply.body.value("seconds", 0.0);
  return binary;
}

/// The answer to a request that must succeed.
json require_ok(const Reply& reply) {
  if (reply.status == "ok") return reply.body;
  throw UnavailableError(log_of(reply));
}

}  // namespace

/// The processes of one device family: `service` answers single requests, also while `pool` is at work, so a callback
/// of compile_all may disassemble.
struct Family {
  std::vector<std::string> command;
  double timeout_seconds;
  std::unique_ptr<Worker> service;
  std::vector<std::unique_ptr<Worker>> pool;
  std::string version;

  Family(std::vector<std::string> command_line, const ToolchainOptions& options)
      : command(std::move(command_line)), timeout_seconds(options.timeout_seconds), service(make_worker()) {
    const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    for (int i = 0; i < (options.jobs > 0 ? options.jobs : cores); ++i) pool.push_back(make_worker());
  }

  std::unique_ptr<Worker> make_worker() const { return std::make_unique<Worker>(command, timeout_seconds); }

  Worker* idle_worker() {
    const auto idle = std::find_if(pool.begin(), pool.end(), [](const auto& worker) { return !worker->busy(); });
    return idle == pool.end() ? nullptr : idle->get();
  }
};

struct Toolchain::Impl {
  ToolchainOptions options;
  toolchain::CompileCache cache;
  std::unique_ptr<Family> amd, nvidia;

  explicit Impl(ToolchainOptions given) : options(std::move(given)), cache(options.cache) {
    if (options.program.empty()) options.program = program_beside_this_one();
  }

  Family& family(const std::string& arch) {
    auto& slot = is_amd(arch) ? amd : nvidia;
    if (!slot) {
      const auto installation = is_amd(arch) ? toolchain::find_amd_installation(options.rocm)  //
                                             : toolchain::find_nvidia_installation();
      slot = std::make_unique<Family>(installation.command(options.program), options);
    }
    return *slot;
  }

  const std::string& version(const std::string& arch) {
    Family& chosen = family(arch);
    if (chosen.version.empty()) {
      const Reply reply = chosen.service->call({{"command", "version"}, {"arch", arch}});
      chosen.version = require_ok(reply).at("version");
    }
    return chosen.version;
  }

  std::string key_of(const CompileJob& job) { return toolchain::cache_key(job, version(job.arch)); }

  std::optional<Binary> cached(const CompileJob& job) {
    return options.use_cache ? cache.find(key_of(job)) : std::nullopt;
  }

  Binary finish(const CompileJob& job, const Reply& reply) {
    Binary binary = binary_from(reply);
    if (options.use_cache && binary.status == CompileStatus::ok) cache.put(key_of(job), binary);
    return binary;
  }
};

Toolchain::Toolchain(ToolchainOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Toolchain::~Toolchain() = default;
Toolchain::Toolchain(Toolchain&&) noexcept = default;
Toolchain& Toolchain::operator=(Toolchain&&) noexcept = default;

std::string Toolchain::version(const std::string& arch) { return impl_->version(arch); }

Binary Toolchain::compile(const CompileJob& job) {
  if (auto found = impl_->cached(job)) return *found;
  return impl_->finish(job, impl_->family(job.arch).service->call(compile_request(job)));
}

namespace {

struct Running {
  std::size_t index;
  Worker* worker;
};

/// The jobs under way. Children whose answers nobody awaits any more (the callback threw) are ended.
struct RunningJobs {
  std::vector<Running> list;
  ~RunningJobs() {
    for (const Running& run : list) run.worker->reset();
  }

  void wait() const {
    std::vector<Worker*> workers;
    for (const Running& run : list) workers.push_back(run.worker);
    if (!workers.empty()) toolchain::wait_for_any(workers);
  }

  /// Takes out one job that has ended.
  std::optional<std::pair<std::size_t, Reply>> next_ended() {
    for (auto run = list.begin(); run != list.end(); ++run) {
      if (auto reply = run->worker->poll_reply()) {
        const std::size_t index = run->index;
        list.erase(run);
        return std::pair(index, std::move(*reply));
      }
    }
    return std::nullopt;
  }
};

}  // namespace

void Toolchain::compile_all(std::span<const CompileJob> jobs, const std::function<void(std::size_t, Binary)>& done) {
  RunningJobs running;
  std::size_t next = 0;
  while (next < jobs.size() || !running.list.empty()) {
    while (next < jobs.size()) {
      Worker* worker = impl_->family(jobs[next].arch).idle_worker();
      if (!worker) break;
      const std::size_t index = next++;
      if (auto found = impl_->cached(jobs[index])) {
        done(index, std::move(*found));
      } else {
        worker->start(compile_request(jobs[index]));
        running.list.push_back({index, worker});
      }
    }
    running.wait();
    while (auto ended = running.next_ended()) done(ended->first, impl_->finish(jobs[ended->first], ended->second));
  }
}

std::vector<Instruction> Toolchain::disassemble(std::span<const std::byte> code, const std::string& arch) {
  const json request = {{"command", "disassemble"}, {"arch", arch}, {"code", wire::to_hex(code)}};
  return wire::instructions_from_json(require_ok(impl_->family(arch).service->call(request)).at("instructions"));
}

}  // namespace headtune
