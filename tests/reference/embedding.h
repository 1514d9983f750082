/// Embeddings in plain loops: the oracle of EmbeddingOp.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "convoy/ops/embedding.h"

#include "reference/array.h"

namespace convoy::reference {

/// Returns the token of a word; without tokens, its position t.
inline std::int64_t token_at(const ops::EmbeddingSpec& spec, const std::vector<std::int32_t>& tokens,
                             std::int64_t word) {
  return tokens.empty() ? word % spec.length : tokens[index(word)];
}

inline double sinusoid(const ops::EmbeddingSpec& spec, std::int64_t t, std::int64_t c) {
  const std::int64_t i = c / 2;
  const double angle =
      static_cast<double>(t) / std::pow(10000, 2 * static_cast<double>(i) / static_cast<double>(spec.width));
  return c == 2 * i ? std::sin(angle) : std::cos(angle);
}

inline Array embedding(const ops::EmbeddingSpec& spec, const std::vector<std::int32_t>& tokens, const Array& table) {
  Array y(index(spec.n * spec.length * spec.width));
  for (std::int64_t word = 0; word < spec.n * spec.length; ++word) {
    const std::int64_t token = token_at(spec, tokens, word);
    for (std::int64_t c = 0; c < spec.width; ++c) {
      double& value = y[index(word * spec.width + c)];
      if (token != ops::kNoToken) value = static_cast<double>(spec.scale) * table[index(token * spec.width + c)];
      if (spec.sinusoids) value += sinusoid(spec, word % spec.length, c);
    }
  }
  return y;
}

inline Array embedding_gradient(const ops::EmbeddingSpec& spec, const std::vector<std::int32_t>& tokens,
                                const Array& dy) {
  Array dtable(index(spec.num_rows * spec.width));
  for (std::int64_t word = 0; word < spec.n * spec.length; ++word) {
    const std::int64_t token = token_at(spec, tokens, word);
    if (token == ops::kNoToken) continue;
    for (std::int64_t c = 0; c < spec.width; ++c)
      dtable[index(token * spec.width + c)] += static_cast<double>(spec.scale) * dy[index(word * spec.width + c)];
  }
  return dtable;
}

}  // namespace convoy::reference
