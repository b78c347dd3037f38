// The hidden subcommand that runs device work in a process of its own (tuner/runner.h).
#include "tuner/runner.h"

#include "tuner/cli/commands.h"

namespace headtune::cli {

void add_runner(CLI::App& app, Exit& result) {
  auto* command = app.add_subcommand("runner", "Serve device work on standard input");
  command->group("");  // hidden: started by headtune itself
  auto device = std::make_shared<std::string>("auto");
  auto rocm = std::make_shared<std::string>();
  command->add_option("--device", *device);
  command->add_option("--rocm", *rocm);
  command->callback([=, &result] { result = static_cast<Exit>(serve_runner(*device, *rocm)); });
}

}  // namespace headtune::cli
