/// Multi-head self-attention in plain loops: the oracle of AttentionOp.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "convoy/ops/attention.h"

#include "reference/array.h"
#include "reference/dropout.h"

namespace convoy::reference {

using Lengths = std::vector<std::int32_t>;

/// The index of a word of one head in qkv (N,T,3,H,D), whose parts 0, 1, 2 are query, key and value, or, with one part,
/// in y (N,T,H,D).
inline std::size_t attention_index(const ops::AttentionSpec& spec, std::int64_t parts, std::int64_t part,
                                   std::int64_t head, std::int64_t word) {
  const std::int64_t n = head / spec.num_heads, h = head % spec.num_heads;
  return index((((n * spec.length + word) * parts + part) * spec.num_heads + h) * spec.head_width);
}

/// The scalar product of two rows of one head.
inline double attention_dot(const ops::AttentionSpec& spec, const double* a, const double* b) {
  double sum = 0;
  for (std::int64_t d = 0; d < spec.head_width; ++d) sum += a[d] * b[d];
  return sum;
}

/// The weights of all heads, (N,H,T,T) with zeros past the lengths, and log_sum_exp (N,H,T).
struct AttentionWeights {
  Array z, p, m, log_sum_exp;
};

/// Calls body(head, q, k, index of the pair in (N,H,T,T)) for all words q and k below the lengths.
template <typename Body>
void for_each_pair(const ops::AttentionSpec& spec, const Lengths& lengths, Body&& body) {
  for (std::int64_t head = 0; head < spec.n * spec.num_heads; ++head) {
    const std::int64_t length = lengths[index(head / spec.num_heads)];
    for (std::int64_t q = 0; q < length; ++q)
      for (std::int64_t k = 0; k < length; ++k) body(head, q, k, index((head * spec.length + q) * spec.length + k));
  }
}

inline AttentionWeights attention_weights(const ops::AttentionSpec& spec, const Array& qkv, const Lengths& lengths,
                                          const ops::DrawKey* key) {
  const std::int64_t rows = spec.n * spec.num_heads * spec.length, pairs = rows * spec.length;
  AttentionWeights w{Array(index(pairs)), Array(index(pairs)), Array(index(pairs), 1.0), Array(index(rows))};
  if (key != nullptr) w.m = dropout_factors({.count = pairs, .p = spec.dropout, .layer = spec.layer}, *key);
  const double scale = 1 / std::sqrt(static_cast<double>(spec.head_width));
  Array sums(index(rows)), max(index(rows), -HUGE_VAL);
  const auto row = [&](std::size_t pair) { return pair / index(spec.length); };
  for_each_pair(spec, lengths, [&](std::int64_t head, std::int64_t q, std::int64_t k, std::size_t i) {
    const double *query = &qkv[attention_index(spec, 3, 0, head, q)], *of = &qkv[attention_index(spec, 3, 1, head, k)];
    w.z[i] = scale * attention_dot(spec, query, of);
    max[row(i)] = std::max(max[row(i)], w.z[i]);
  });
  for_each_pair(spec, lengths, [&](std::int64_t, std::int64_t, std::int64_t, std::size_t i) {
    sums[row(i)] += std::exp(w.z[i] - max[row(i)]);
  });
  for (std::size_t r = 0; r < sums.size(); ++r) w.log_sum_exp[r] = sums[r] == 0 ? 0 : max[r] + std::log(sums[r]);
  for_each_pair(spec, lengths, [&](std::int64_t, std::int64_t, std::int64_t, std::size_t i) {
    w.p[i] = std::exp(w.z[i] - w.log_sum_exp[row(i)]);
  });
  return w;
}

/// Returns y (N,T,H,D) of the weights m p.
inline Array attention(const ops::AttentionSpec& spec, const AttentionWeights& w, const Array& qkv,
                       const Lengths& lengths) {
  Array y(index(spec.n * spec.length * spec.width()));
  for_each_pair(spec, lengths, [&](std::int64_t head, std::int64_t q, std::int64_t k, std::size_t i) {
    const double* value = &qkv[attention_index(spec, 3, 2, head, k)];
    double* of = &y[attention_index(spec, 1, 0, head, q)];
    for (std::int64_t d = 0; d < spec.head_width; ++d) of[d] += w.m[i] * w.p[i] * value[d];
  });
  return y;
}

/// Returns dqkv, the sums with the given dz (N,H,T,T) and with m p.
inline Array attention_products(const ops::AttentionSpec& spec, const AttentionWeights& w, const Array& dz,
                                const Array& qkv, const Lengths& lengths, const Array& dy) {
  const double scale = 1 / std::sqrt(static_cast<double>(spec.head_width));
  Array dqkv(qkv.size());
  for_each_pair(spec, lengths, [&](std::int64_t head, std::int64_t q, std::int64_t k, std::size_t i) {
    const std::size_t query = attention_index(spec, 3, 0, head, q), of_key = attention_index(spec, 3, 1, head, k),
                      value = attention_index(spec, 3, 2, head, k), of_y = attention_index(spec, 1, 0, head, q);
    for (std::size_t d = 0; d < index(spec.head_width); ++d) {
      dqkv[query + d] += scale * dz[i] * qkv[of_key + d];
      dqkv[of_key + d] += scale * dz[i] * qkv[query + d];
      dqkv[value + d] += w.m[i] * w.p[i] * dy[of_y + d];
    }
  });
  return dqkv;
}

/// Returns dp (N,H,T,T) = m dy value.
inline Array attention_dp(const ops::AttentionSpec& spec, const AttentionWeights& w, const Array& qkv,
                          const Lengths& lengths, const Array& dy) {
  Array dp(w.p.size());
  for_each_pair(spec, lengths, [&](std::int64_t head, std::int64_t q, std::int64_t k, std::size_t i) {
    dp[i] = w.m[i] *
            attention_dot(spec, &dy[attention_index(spec, 1, 0, head, q)], &qkv[attention_index(spec, 3, 2, head, k)]);
  });
  return dp;
}

inline Array attention_gradient(const ops::AttentionSpec& spec, const AttentionWeights& w, const Array& qkv,
                                const Lengths& lengths, const Array& dy) {
  const Array dp = attention_dp(spec, w, qkv, lengths, dy);
  Array sums(w.log_sum_exp.size()), dz(dp.size());
  const auto row = [&](std::size_t pair) { return pair / index(spec.length); };
  for (std::size_t i = 0; i < dp.size(); ++i) sums[row(i)] += w.p[i] * dp[i];
  for (std::size_t i = 0; i < dp.size(); ++i) dz[i] = w.p[i] * (dp[i] - sums[row(i)]);
  return attention_products(spec, w, dz, qkv, lengths, dy);
}

}  // namespace convoy::reference
