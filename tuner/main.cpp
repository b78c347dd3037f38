#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "tuner/cli/commands.h"

namespace {

/// One line, whatever the message holds.
int report(const std::string& message, headtune::Exit code) {
  std::string line = message.substr(0, message.find('\n'));
  std::fprintf(stderr, "headtune: %s\n", line.c_str());
  return static_cast<int>(code);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace headtune;
  CLI::App app{"headtune: kernel autotuner and code generator for split-KV attention"};
  app.require_subcommand(1);
  app.set_version_flag("--version", cli::version_text, "Show version, providers and toolchains");
  app.footer("Exit codes: 0 ok, 1 regress, 2 bad input, 3 no verdict, 4 no device or compiler, 130 interrupted.");
  Exit result = Exit::ok;
  constexpr decltype(&cli::add_sweep) commands[] = {
      cli::add_devices, cli::add_sweep,  cli::add_emit,    cli::add_check,   cli::add_diff,
      cli::add_merge,   cli::add_lookup, cli::add_explain, cli::add_inspect, cli::add_bench,
      cli::add_freeze,  cli::add_route,  cli::add_bundle,  cli::add_replay,  cli::add_runner,
  };
  for (const auto add : commands) add(app, result);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    return report(std::string(error.what()) + "; see headtune --help", Exit::usage);
  } catch (const Failure& failure) {
    return report(failure.what(), failure.code());
  } catch (const std::exception& error) {
    return report(error.what(), Exit::usage);
  }
  return static_cast<int>(result);
}
