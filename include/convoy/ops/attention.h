/// The contract of multi-head self-attention: Vaswani et al. 2017, "Attention is all you need", section 3.2; its memory
/// grows with the length, not with its square (Dao et al. 2022, "FlashAttention").
#pragma once

#include <cmath>
#include <cstdint>

#include "convoy/base/data_type.h"
#include "convoy/ops/dropout.h"

namespace convoy::ops {

struct AttentionSpec {
  std::int64_t n = 0;                  ///< sequences N
  std::int64_t length = 0;             ///< T, of the longest
  std::int64_t num_heads = 0;          ///< H
  std::int64_t head_width = 0;         ///< D: 16, 32, 64 or 128; the width C is H * D
  float dropout = 0;                   ///< the share of attention weights that is dropped in training, in [0, 1)
  std::uint64_t layer = 0;             ///< a number that no other layer of the network has: for the dropout
  DataType type = DataType::kFloat32;  ///< of qkv, y, dy, dqkv

  std::int64_t width() const { return num_heads * head_width; }
  float scale() const { return 1 / std::sqrt(static_cast<float>(head_width)); }
  std::uint32_t dropout_threshold() const { return drop_threshold(dropout); }
  float dropout_scale() const { return drop_scale(dropout); }
  /// Both products over all pairs of words.
  double forward_flop() const { return 4.0 * static_cast<double>(n * length * length * width()); }
};

struct AttentionForward {
  const void* qkv = nullptr;              ///< (N,T,3,H,D): queries, keys, values of each word
  const std::int32_t* lengths = nullptr;  ///< (N) in memory that the device reads, within 0..T; null: T of each
  const DrawKey* key = nullptr;           ///< of the dropout; null: nothing is dropped
  void* y = nullptr;                      ///< (N,T,H,D) overwritten
  float* log_sum_exp = nullptr;           ///< (N,H,T) overwritten: for backward; 0 for words past the length
};

struct AttentionBackward {
  const void* dy = nullptr;
  const void* qkv = nullptr;
  const void* y = nullptr;
  const float* log_sum_exp = nullptr;
  const std::int32_t* lengths = nullptr;
  const DrawKey* key = nullptr;  ///< as in forward
  void* dqkv = nullptr;          ///< (N,T,3,H,D) overwritten
};

/// For each sequence n and head h, over the words q and k that are there, below length[n]:
///   z[q,k] = scale * sum_d query[q,d] key[k,d]    p = softmax over k of z    m = dropout mask / (1 - dropout), or 1
///   y[q,d] = sum_k m[q,k] p[q,k] value[k,d]       log_sum_exp[q] = log sum_k exp z[q,k]
///   dvalue[k] = sum_q m p dy[q]    dp[q,k] = m sum_d dy[q,d] value[k,d]    dz = p (dp - sum_k p dp)
///   dquery = scale * dz key        dkey = scale * dz^T query
/// with sum_k p dp = sum_d dy[q,d] y[q,d]. Of words past the length nothing is read; their y and dqkv are 0. A weight
/// is dropped where draw ((n H + h) T + q) T + k of the layer, as DropoutOp draws it, is below the threshold. Products
/// of factors in spec.type are summed in float32, in an order that the spec and the length alone tell; p (or exp(z - a
/// maximum), which is divided by its sum later) and dz are rounded to spec.type before they are factors. At no time
/// more than a few blocks of z are stored, per thread.
class AttentionOp {
 public:
  using Spec = AttentionSpec;
  static constexpr const char* kName = "attention";

  virtual ~AttentionOp() = default;

  virtual void forward(const AttentionForward& args) = 0;
  virtual void backward(const AttentionBackward& args) = 0;
};

}  // namespace convoy::ops
