/// The CPU stores activations as float32: what its operations see behind a contract's untyped pointers.
#pragma once

#include "convoy/base/data_type.h"

namespace convoy::ops::cpu {

inline const float* floats(const void* data) {
  return static_cast<const float*>(data);
}
inline float* floats(void* data) {
  return static_cast<float*>(data);
}

/// Throws Error: "a sum in bf16: the CPU computes in f32 alone".
void check_float32(const char* what, DataType type);

}  // namespace convoy::ops::cpu
