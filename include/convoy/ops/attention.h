/// The contract of multi-head self-attention: Vaswani et al. 2017, "Attention is all you need", section 3.2; its memory
/// grows with the length, not with its square (Dao et al. 2022, "FlashAttention").
#pragma once

#include <cmath>
#include <cstdint>

#include "convoy/base/data_type.h"
#include "convoy/ops/dropout.h"

namespace convoy::ops {

struct AttentionSpec {
  std::int64_t n = 0;                  ///< number of sequences, N
  std::int64_t length = 0;             ///< number of words of the longest sequence, T
  std::int64_t num_heads = 0;          ///< number of heads, H
  std::int64_t head_width = 0;         ///< width of a head, D: 16, 32, 64 or 128; the width C is H * D
  float dropout = 0;                   ///< share of the attention weights that is dropped in training, in [0, 1)
  std::uint64_t layer = 0;             ///< number that no other layer of the network has; the dropout draws with it
  DataType type = DataType::kFloat32;  ///< storage type of qkv, y, dy and dqkv

  std::int64_t width() const { return num_heads * head_width; }
  float scale() const { return 1 / std::sqrt(static_cast<float>(head_width)); }
  std::uint32_t dropout_threshold() const { return drop_threshold(dropout); }
  float dropout_scale() const { return drop_scale(dropout); }
  /// Floating-point operations of forward: its two products over all pairs of words.
  double forward_flop() const { return 4.0 * static_cast<double>(n * length * length * width()); }
};

struct AttentionForward {
  const void* qkv = nullptr;              ///< (N,T,3,H,D): queries, keys, values of each word
  const std::int32_t* lengths = nullptr;  ///< (N) numbers of words, 0..T, in memory that the device reads; null: all T
  const DrawKey* key = nullptr;           ///< key of the dropout's random numbers; null: nothing is dropped
  void* y = nullptr;                      ///< (N,T,H,D) overwritten
  float* log_sum_exp = nullptr;           ///< (N,H,T) overwritten; backward reads it; 0 for words past the length
};

struct AttentionBackward {
  const void* dy = nullptr;
  const void* qkv = nullptr;
  const void* y = nullptr;
  const float* log_sum_exp = nullptr;
  const std::int32_t* lengths = nullptr;
  const DrawKey* key = nullptr;  ///< the key that forward was given
  void* dqkv = nullptr;          ///< (N,T,3,H,D) overwritten
};

/// Multi-head self-attention. For each sequence n and head h, over the words q and k below length[n]:
///   z[q,k] = scale * sum_d query[q,d] key[k,d]    p = softmax over k of z    m = dropout mask / (1 - dropout), or 1
///   y[q,d] = sum_k m[q,k] p[q,k] value[k,d]       log_sum_exp[q] = log sum_k exp z[q,k]
///   dvalue[k] = sum_q m p dy[q]    dp[q,k] = m sum_d dy[q,d] value[k,d]    dz = p (dp - sum_k p dp)
///   dquery = scale * dz key        dkey = scale * dz^T query
/// with sum_k p dp = sum_d dy[q,d] y[q,d]. Words past the length are not read; their y and dqkv are 0. A weight is
/// dropped if draw ((n H + h) T + q) T + k of the layer, which DropoutOp defines, is below the threshold. Products of
/// factors in spec.type are summed in float32, in an order that depends on the spec and the length alone. p (or
/// exp(z - a maximum), which is divided by its sum later) and dz are rounded to spec.type before they are factors.
/// A thread stores at most a few blocks of z at a time.
class AttentionOp {
 public:
  using Spec = AttentionSpec;
  static constexpr const char* kName = "attention";

  virtual ~AttentionOp() = default;

  virtual void forward(const AttentionForward& args) = 0;
  virtual void backward(const AttentionBackward& args) = 0;
};

}  // namespace convoy::ops
