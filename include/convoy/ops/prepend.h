/// The contract of a token that is put before each sequence: a vision transformer's class token (Dosovitskiy et al.
/// 2020, "An image is worth 16x16 words", section 3.1).
#pragma once

#include <cstdint>

#include "convoy/base/data_type.h"

namespace convoy::ops {

struct PrependSpec {
  std::int64_t n = 0;                  ///< number of sequences, N
  std::int64_t length = 0;             ///< number of tokens of each sequence of x, T; y has one more
  std::int64_t width = 0;              ///< number of values of a token, C
  DataType type = DataType::kFloat32;  ///< storage type of x, y, dy and dx
};

/// Puts the same token before each sequence:
/// y[n,0]  = token           y[n,1+t] = x[n,t]      x (N,T,C)   token (C)   y (N,1+T,C)
/// dx[n,t] = dy[n,1+t]       dtoken   = sum over n of dy[n,0]
/// The token is rounded to spec.type; its gradient is summed in the order of n, in float32 or wider.
class PrependOp {
 public:
  using Spec = PrependSpec;
  static constexpr const char* kName = "prepend";

  virtual ~PrependOp() = default;

  virtual void forward(const void* x, const float* token, void* y) = 0;
  /// Overwrites dx and dtoken. Either may be null if it is not wanted.
  virtual void backward(const void* dy, void* dx, float* dtoken) = 0;
};

}  // namespace convoy::ops
