// The run-time side of one operator call: lengths, memory layout and scales. Problem says what code is generated;
// a Case says what it runs on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headtune/config.h"

namespace headtune {

/// How random values are laid out in memory; every field makes a test harder, none changes the answer.
struct Layout {
  int index_bits = 32;       ///< of kv_indices
  long long pool_slots = 0;  ///< slots of the KV pool; 0: a quarter more than the prefix keys
  long long first_slot = 1;  ///< used slots lie at or above this; slot 0 always holds NaN
  long long slot_shift =
      0;                ///< the device sees slot numbers this much higher, in a pool whose lower part is not allocated
  int page = 1;         ///< keys per page; the slots of a page are consecutive, and NaN after the last key
  bool shuffle = true;  ///< pages in random order, else ascending
  bool duplicates = false;  ///< one slot in eight is used again by a later key
  int row_padding = 0;      ///< NaN elements after each row of each head, in Q, K, V and the output (multiple of 16)
};

/// Ranges of the random values.
struct Values {
  float score_std = 1;   ///< standard deviation of the scaled scores
  float key_growth = 0;  ///< later keys are larger, up to (1 + growth) times: the running maximum keeps rising
  bool prefix_minus_infinity = false;  ///< every prefix score is -inf
  bool extend_minus_infinity = false;  ///< every score among the new tokens is -inf
};

struct Case {
  std::string name;
  std::vector<int> prefix_lens;  ///< [batch] keys of each request's prefix
  std::vector<int> extend_lens;  ///< [batch] new tokens, at most Problem::extend_len; 0: a padded graph row
  Layout layout;
  Values values;
  float k_scale = 1, v_scale = 1;
  int planned_context = 0;  ///< context that the split count is planned for; 0: the longest prefix
  std::uint64_t seed = 1;

  int batch() const { return static_cast<int>(prefix_lens.size()); }
  int total_tokens() const;
  int longest_prefix() const;
  long long prefix_keys() const;
};

/// Every request with the same lengths.
Case uniform_case(std::string name, int batch, int context, int extend_len);

/// Requests with the given prefixes and full extend length.
Case ragged_case(std::string name, std::vector<int> prefix_lens, int extend_len);

}  // namespace headtune
