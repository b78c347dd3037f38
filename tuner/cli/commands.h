// One function per subcommand: adds its options and sets `result` when it has run.
#pragma once

#include <CLI/CLI.hpp>

#include "tuner/error.h"

namespace headtune::cli {

void add_bench(CLI::App& app, Exit& result);
void add_devices(CLI::App& app, Exit& result);
void add_sweep(CLI::App& app, Exit& result);
void add_emit(CLI::App& app, Exit& result);
void add_inspect(CLI::App& app, Exit& result);
void add_explain(CLI::App& app, Exit& result);
void add_check(CLI::App& app, Exit& result);
void add_merge(CLI::App& app, Exit& result);
void add_diff(CLI::App& app, Exit& result);
void add_lookup(CLI::App& app, Exit& result);
void add_runner(CLI::App& app, Exit& result);
void add_bundle(CLI::App& app, Exit& result);
void add_replay(CLI::App& app, Exit& result);
void add_freeze(CLI::App& app, Exit& result);
void add_route(CLI::App& app, Exit& result);

/// "headtune 0.1.0", then one line per provider and toolchain.
std::string version_text();

}  // namespace headtune::cli
