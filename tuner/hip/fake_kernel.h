// What a scripted variant writes: attention computed on the host in double, then spoilt as the script says.
#pragma once

#include "headtune/verify_shared_kv/params.h"
#include "tuner/hip/fake_script.h"

namespace headtune::hip {

/// Longest prefix of the batch, keys.
int longest_context(const VerifyParams& params);

/// Keys of the whole batch.
long long total_keys(const VerifyParams& params);

/// Writes params.out for the problem that `constants` state (HEAD_DIM, DTYPE, ... of the rendered source).
void write_attention(const VerifyParams& params, const Constants& constants, const FakeVariant& variant);

}  // namespace headtune::hip
