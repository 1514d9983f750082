/// The contract of embeddings: each token's row of a table, and where it stands in its sequence.
#pragma once

#include <cstdint>

#include "convoy/base/data_type.h"

namespace convoy::ops {

inline constexpr std::int32_t kNoToken = -1;  ///< past a sequence's end

struct EmbeddingSpec {
  std::int64_t n = 0;                  ///< sequences N
  std::int64_t length = 0;             ///< T
  std::int64_t num_rows = 0;           ///< V, of the table
  std::int64_t width = 0;              ///< C
  float scale = 1;                     ///< of the table's rows
  bool sinusoids = false;              ///< adds sinusoidal positions (Vaswani et al. 2017, section 3.5)
  DataType type = DataType::kFloat32;  ///< of table, y, dy
};

/// y[n,t] = scale * table[token[n,t]] + position[t]    token (N,T)   table (V,C)   y (N,T,C)
///   position[t,2i] = sin(t / 10000^(2i/C))   position[t,2i+1] = cos(t / 10000^(2i/C)), or 0 without sinusoids;
///   of kNoToken the table's part is 0
/// dtable[v] = scale * sum of dy[n,t] over the (n,t) with token[n,t] = v; float32, overwritten, 0 for rows that no
/// token
///   names. Summed in the order of n and t, in blocks that the tokens alone decide.
/// Without tokens (null) token[n,t] = t: a learned table of positions, V >= T (else Error).
/// Computed in float32, rounded once to spec.type.
class EmbeddingOp {
 public:
  using Spec = EmbeddingSpec;
  static constexpr const char* kName = "embedding";

  virtual ~EmbeddingOp() = default;

  /// tokens in memory that the device reads: kNoToken or 0..V-1. Of another one forward throws Error, or where the
  /// device runs behind the host makes y NaN; backward throws likewise, or leaves it out.
  virtual void forward(const std::int32_t* tokens, const void* table, void* y) = 0;
  virtual void backward_weight(const std::int32_t* tokens, const void* dy, float* dtable) = 0;
};

}  // namespace convoy::ops
