/// The contract of multi-head self-attention: Vaswani et al. 2017, "Attention is all you need", section 3.2; its memory
/// grows with the length, not with its square (Dao et al. 2022, "FlashAttention").
#pragma once

#include <cmath>
#include <cstdint>

#include "convoy/base/data_type.h"
#include "convoy/ops/dropout.h"

namespace convoy::ops {

struct AttentionSpec {
  std::int64_t n = 0;           ///< number of sequences, N
  std::int64_t length = 0;      ///< number of tokens of the longest sequence, T
  std::int64_t num_heads = 0;   ///< number of heads, H
  std::int64_t head_width = 0;  ///< width of a head, D: 16, 32, 64 or 128; the width C is H * D
  float dropout = 0;            ///< share of the attention weights that training sets to 0, in [0, 1)
  /// Identity of this layer, unique in the network; the dropout's random numbers depend on it.
  std::uint64_t layer = 0;
  DataType type = DataType::kFloat32;  ///< storage type of qkv, y, dy and dqkv

  std::int64_t width() const { return num_heads * head_width; }
  float scale() const { return 1 / std::sqrt(static_cast<float>(head_width)); }
  std::uint32_t dropout_threshold() const { return drop_threshold(dropout); }
  float dropout_scale() const { return drop_scale(dropout); }
  /// Floating-point operations of one forward: its two matrix products over all T*T pairs of tokens, two operations per
  /// multiply-add.
  double forward_flop() const { return 4.0 * static_cast<double>(n * length * length * width()); }
};

struct AttentionForward {
  const void* qkv = nullptr;  ///< (N,T,3,H,D): the query, key and value of each token
  /// (N) numbers of tokens, 0..T, in memory that the device reads; null: each sequence has T tokens.
  const std::int32_t* lengths = nullptr;
  const DrawKey* key = nullptr;  ///< key of the dropout's random numbers; null: nothing is dropped
  void* y = nullptr;             ///< output of the heads, (N,T,H,D), overwritten
  /// Logarithms of the softmax's denominators, (N,H,T), overwritten; backward reads them; 0 past a sequence's length.
  float* log_sum_exp = nullptr;
};

struct AttentionBackward {
  const void* dy = nullptr;
  const void* qkv = nullptr;
  const void* y = nullptr;
  const float* log_sum_exp = nullptr;
  const std::int32_t* lengths = nullptr;
  /// Key of the dropout's random numbers, the same as in forward; null: nothing is dropped.
  const DrawKey* key = nullptr;
  void* dqkv = nullptr;  ///< gradient with respect to qkv, (N,T,3,H,D), overwritten
};

/// Multi-head self-attention. For each sequence n and head h, over the tokens q and k below length[n]:
///   z[q,k] = scale * sum_d query[q,d] key[k,d]    p = softmax over k of z    m = dropout mask / (1 - dropout), or 1
///   y[q,d] = sum_k m[q,k] p[q,k] value[k,d]       log_sum_exp[q] = log sum_k exp z[q,k]
///   dvalue[k] = sum_q m p dy[q]    dp[q,k] = m sum_d dy[q,d] value[k,d]    dz = p (dp - sum_k p dp)
///   dquery = scale * dz key        dkey = scale * dz^T query
/// with sum_k p dp = sum_d dy[q,d] y[q,d]. Tokens past a sequence's length are not read; their y and dqkv are 0. The
/// attention weight of (n, h, q, k) is dropped if the layer's random number with index ((n H + h) T + q) T + k, as
/// DropoutOp defines it, is below the threshold. Products of factors in spec.type are summed in float32, in an order
/// that depends on the spec and the length alone. p (or exp(z - a maximum), which is divided by its sum later) and dz
/// are rounded to spec.type before they are factors. A thread holds at most a few tiles of z in memory at a time.
class AttentionOp {
 public:
  using Spec = AttentionSpec;
  static constexpr const char* kName = "attention";

  virtual ~AttentionOp() = default;

  virtual void forward(const AttentionForward& args) = 0;
  virtual void backward(const AttentionBackward& args) = 0;
};

}  // namespace convoy::ops
