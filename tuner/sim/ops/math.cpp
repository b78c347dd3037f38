// Transcendental instructions on f32 and f16.
#include <span>

#include "tuner/sim/ops/apply.h"
#include "tuner/sim/ops/functions.h"

namespace headtune::sim::HEADTUNE_SIM_ISA {
namespace {

float reciprocal(float x) { return without_denormal(1.0f / without_denormal(x)); }
float square_root(float x) { return std::sqrt(without_denormal(x)); }
float reciprocal_root(float x) {
  const float flushed = without_denormal(x);
  return static_cast<float>(1.0 / std::sqrt(static_cast<double>(flushed)));
}

/// Halves are computed in f32, whose range holds every half's result.
template <auto F>
f16 half(f16 x) {
  return {F(x.value)};
}
float half_reciprocal(float x) { return 1.0f / x; }
float half_root(float x) { return std::sqrt(x); }
float half_reciprocal_root(float x) { return static_cast<float>(1.0 / std::sqrt(static_cast<double>(x))); }
float sine(float x) { return sin_f32(x, 0.0); }
float cosine(float x) { return sin_f32(x, 0.25); }

constexpr Class trans = Class::trans;

constexpr OpEntry table[] = {
    op<exp2_f32>("v_exp_f32", trans),
    op<log2_f32>("v_log_f32", trans),
    op<exp2_f32>("v_exp_legacy_f32", trans),
    op<log2_f32>("v_log_legacy_f32", trans),
    op<reciprocal>("v_rcp_f32", trans),
    op<reciprocal>("v_rcp_iflag_f32", trans),
    op<reciprocal_root>("v_rsq_f32", trans),
    op<square_root>("v_sqrt_f32", trans),
    op<sine>("v_sin_f32", trans),
    op<cosine>("v_cos_f32", trans),
    op<half<exp2_f32>>("v_exp_f16", trans),
    op<half<log2_f32>>("v_log_f16", trans),
    op<half<half_reciprocal>>("v_rcp_f16", trans),
    op<half<half_reciprocal_root>>("v_rsq_f16", trans),
    op<half<half_root>>("v_sqrt_f16", trans),
    op<half<sine>>("v_sin_f16", trans),
    op<half<cosine>>("v_cos_f16", trans),
};

}  // namespace

std::span<const OpEntry> math_ops() { return table; }

}  // namespace headtune::sim::HEADTUNE_SIM_ISA
