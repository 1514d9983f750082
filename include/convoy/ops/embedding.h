/// The contract of token embeddings: the table row of each token, plus the encoding of the token's position.
#pragma once

#include <cstdint>

#include "convoy/base/data_type.h"

namespace convoy::ops {

inline constexpr std::int32_t kNoToken = -1;  ///< the token at positions past the end of a sequence

struct EmbeddingSpec {
  std::int64_t n = 0;                  ///< number of sequences, N
  std::int64_t length = 0;             ///< number of tokens of each sequence, T
  std::int64_t num_rows = 0;           ///< number of rows of the table, V
  std::int64_t width = 0;              ///< number of values of a row, C
  float scale = 1;                     ///< factor of the table's rows
  bool sinusoids = false;              ///< adds sinusoidal positions (Vaswani et al. 2017, section 3.5)
  DataType type = DataType::kFloat32;  ///< storage type of table, y and dy
};

/// An embedding: y[n,t] = scale * table[token[n,t]] + position[t]    token (N,T)   table (V,C)   y (N,T,C)
///   position[t,2i] = sin(t / 10000^(2i/C))   position[t,2i+1] = cos(t / 10000^(2i/C)), or 0 without sinusoids
/// For kNoToken, 0 is used instead of a row of the table.
/// dtable[v] = scale * sum of dy[n,t] over the (n,t) with token[n,t] = v; float32, overwritten, 0 for rows without a
/// token. It is summed in the order of n and t, in blocks that depend on the tokens alone.
/// A null pointer to the tokens means token[n,t] = t: a learned table of positions. This needs V >= T, else the calls
/// throw Error. Computed in float32, rounded once to spec.type.
class EmbeddingOp {
 public:
  using Spec = EmbeddingSpec;
  static constexpr const char* kName = "embedding";

  virtual ~EmbeddingOp() = default;

  /// Computes y. Each token is kNoToken or in 0..V-1. `tokens` is in memory that the device reads. For any other token,
  /// the CPU throws Error, and a GPU, which runs asynchronously to the host, makes y NaN.
  virtual void forward(const std::int32_t* tokens, const void* table, void* y) = 0;
  /// Computes dtable; `tokens` are those that forward was given. For a token that is neither kNoToken nor in 0..V-1,
  /// the CPU throws Error, and a GPU ignores the token.
  virtual void backward_weight(const std::int32_t* tokens, const void* dy, float* dtable) = 0;
};

}  // namespace convoy::ops
