#include "tuner/op_case.h"

#include <algorithm>
#include <numeric>

namespace headtune {

int Case::total_tokens() const { return std::accumulate(extend_lens.begin(), extend_lens.end(), 0); }

int Case::longest_prefix() const {
  return prefix_lens.empty() ? 0 : *std::max_element(prefix_lens.begin(), prefix_lens.end());
}

long long Case::prefix_keys() const { return std::accumulate(prefix_lens.begin(), prefix_lens.end(), 0LL); }

Case uniform_case(std::string name, int batch, int context, int extend_len) {
  return ragged_case(std::move(name), std::vector<int>(static_cast<std::size_t>(batch), context), extend_len);
}

Case ragged_case(std::string name, std::vector<int> prefix_lens, int extend_len) {
  Case result;
  result.name = std::move(name);
  result.extend_lens.assign(prefix_lens.size(), extend_len);
  result.prefix_lens = std::move(prefix_lens);
  return result;
}

}  // namespace headtune
