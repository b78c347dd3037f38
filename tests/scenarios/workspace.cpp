#include "tests/scenarios/workspace.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace headtune::test {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

void write_space(const fs::path& file, int variants) {
  nlohmann::json values = nlohmann::json::array();
  for (int i = 0; i < variants; ++i) values.push_back(Workspace::block_n(i));
  const nlohmann::json space = {
      {"op", "verify_shared_kv"},
      {"parameters", {{{"name", "BLOCK_H"}, {"values", {2}}}, {{"name", "BLOCK_N"}, {"values", values}}}},
      {"derived", nlohmann::json::array()},
      {"constraints", nlohmann::json::array()}};
  std::ofstream(file) << space;
}

/// The moment a run was started, kept in a file so that wait() can be given nothing but the process.
double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

Workspace::Workspace(int variants) {
  std::string name = (fs::temp_directory_path() / "headtune-scenario-XXXXXX").string();
  if (!mkdtemp(name.data())) throw std::runtime_error("mkdtemp");
  root_ = name;
  fs::copy(HEADTUNE_TEMPLATES, templates(), fs::copy_options::recursive);
  write_space(templates() / "headtune/verify_shared_kv/space.json", variants);
  script("{}");
}

Workspace::~Workspace() { fs::remove_all(root_); }

void Workspace::script(const std::string& text) const { std::ofstream(root_ / "device.json") << text; }

pid_t Workspace::spawn(const std::vector<std::string>& arguments) const {
  std::vector<std::string> command = {HEADTUNE_TOOL};
  command.insert(command.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : command) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  std::ofstream(root_ / "started") << std::to_string(now());
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const std::string output = (root_ / "output").string();
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, command[0].c_str(), &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error) throw std::runtime_error("cannot start " + command[0]);
  return pid;
}

pid_t Workspace::start(const std::vector<std::string>& extra) const {
  std::vector<std::string> arguments = {"sweep",
                                        "--device",
                                        "fake:" + (root_ / "device.json").string(),
                                        "--head-dim",
                                        "64",
                                        "--heads",
                                        "2/1",
                                        "--extend-len",
                                        "2",
                                        "--contexts",
                                        "256",
                                        "--batch",
                                        "1",
                                        "--db",
                                        database().string(),
                                        "--templates",
                                        templates().string()};
  arguments.insert(arguments.end(), extra.begin(), extra.end());
  return spawn(arguments);
}

Ended Workspace::wait(pid_t pid) const {
  int status = 0;
  waitpid(pid, &status, 0);
  Ended ended;
  if (WIFEXITED(status)) ended.exit = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) ended.signal = WTERMSIG(status);
  ended.seconds = now() - std::stod(read(root_ / "started"));
  ended.output = read(root_ / "output");
  return ended;
}

Ended Workspace::tool(const std::vector<std::string>& arguments) const { return wait(spawn(arguments)); }

std::vector<StoredVariant> Workspace::variants() const {
  const Store store(database(), Access::read_only);
  std::vector<StoredVariant> all;
  for (const auto& [environment, facts] : store.environments())
    for (const auto& [problem, shape] : store.problems())
      for (StoredVariant& variant : store.variants(environment, problem)) all.push_back(std::move(variant));
  return all;
}

std::vector<StoredEnvironment> Workspace::environments() const {
  const Store store(database(), Access::read_only);
  std::vector<StoredEnvironment> all;
  for (const auto& [id, environment] : store.environments()) all.push_back(environment);
  return all;
}

int Workspace::winner() const {
  const Store store(database(), Access::read_only);
  for (const auto& [environment, facts] : store.environments())
    for (const auto& [problem, shape] : store.problems())
      for (const StoredWinner& winner : store.winners(environment, problem))
        for (const StoredVariant& variant : store.variants(environment, problem))
          if (variant.id == winner.variant) return variant.config.block_n;
  return 0;
}

int Workspace::processes_left() const {
  const double deadline = now() + 10;
  while (processes() > 0 && now() < deadline) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return processes();
}

int Workspace::processes() const {
  int count = 0;
  for (const auto& entry : fs::directory_iterator("/proc"))
    count += read(entry.path() / "cmdline").find(root_.string()) != std::string::npos;
  return count;
}

}  // namespace headtune::test
