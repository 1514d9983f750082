/// The contract of a word put before each sequence: a vision transformer's class token (Dosovitskiy et al. 2020, "An
/// image is worth 16x16 words", section 3.1).
#pragma once

#include <cstdint>

#include "convoy/base/data_type.h"

namespace convoy::ops {

struct PrependSpec {
  std::int64_t n = 0;                  ///< sequences N
  std::int64_t length = 0;             ///< T, of x; y has one word more
  std::int64_t width = 0;              ///< C
  DataType type = DataType::kFloat32;  ///< of x, y, dy, dx
};

/// y[n,0]  = token           y[n,1+t] = x[n,t]      x (N,T,C)   token (C)   y (N,1+T,C)
/// dx[n,t] = dy[n,1+t]       dtoken   = sum over n of dy[n,0]
/// The token is rounded to spec.type; its gradient is summed in the order of n, in float32 or wider.
class PrependOp {
 public:
  using Spec = PrependSpec;
  static constexpr const char* kName = "prepend";

  virtual ~PrependOp() = default;

  virtual void forward(const void* x, const float* token, void* y) = 0;
  /// dx and dtoken overwritten; null: not wanted.
  virtual void backward(const void* dy, void* dx, float* dtoken) = 0;
};

}  // namespace convoy::ops
