// What every kernel test shares: one device, one compile client, and a check of a problem on some of its variants.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tuner/hip/provider.h"
#include "tuner/op.h"
#include "tuner/op_case.h"
#include "tuner/toolchain.h"

namespace headtune::test {

/// Before the first test; empty: the first real device.
void choose_device(const std::string& spec);

/// The chosen device. Skips the test, saying why, when there is none.
const hip::Device& device();
const Arch& device_arch();

/// "16/4", head_dim, extend_len, causal.
Problem problem(int q_heads, int kv_heads, int head_dim, int extend_len, bool causal, int v_head_dim = 0);

/// Legal configurations of the shipped space that together take every load path and both combines, beside `count`
/// spread evenly over the rest.
std::vector<Config> sample_configs(const std::string& op, const Problem& problem, int count = 1);

/// Compiles the variants in parallel. A variant that does not compile fails the test.
std::vector<Binary> compile(const std::string& op, const Problem& problem, const std::vector<Config>& configs,
                            int index_bits = 32);

/// Compiles text that includes parts of the templates.
Binary compile_source(const std::string& source);

/// Every operator, sample configurations, every case: verified, or the test fails with variant, case and place.
void check(const Problem& problem, const std::vector<Case>& cases, int index_bits = 32);
void check(const std::string& op, const Problem& problem, const std::vector<Case>& cases,
           const std::vector<Config>& configs, int index_bits = 32);

}  // namespace headtune::test
