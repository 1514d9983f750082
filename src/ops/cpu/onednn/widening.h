/// Float32 copies of bf16 operands, for operations that oneDNN does not compute in bf16 on this processor.
#pragma once

#include <cstdint>

#include "convoy/base/shape.h"
#include "convoy/ops/elementwise.h"

#include "ops/cpu/resources.h"

namespace convoy::ops::cpu {

/// Memory for the float32 copies of one operation's operands, which all operations of a backend share, one call at a
/// time. It is not the backend's workspace, since the float32 operation that reads the copies uses that meanwhile.
class Widening {
 public:
  Widening(Device& device, std::int64_t threads, ElementwiseOps& elementwise)
      : memory_(device, threads), elementwise_(elementwise) {}

  /// Returns `count` rounded up, so that an array after `count` floats begins at a multiple of 64 bytes, too.
  static std::int64_t padded(std::int64_t count) { return round_up(count, 64 / kFloatBytes); }
  /// Makes operands() at least `count` floats large. Called while operations are created.
  void reserve(std::int64_t count) { memory_.reserve(count * kFloatBytes); }
  /// Returns the reserved memory, which is aligned to 64 bytes. An operation must call this each time that it runs,
  /// since reserve() may have moved the memory.
  float* operands() const { return reinterpret_cast<float*>(memory_.scratch()); }

  /// Converts the `count` bf16 values of `from` to float32, which is exact. Any alignment is allowed.
  void widen(const void* from, float* to, std::int64_t count) const;
  /// Converts the `count` floats of `from` to bf16, with rounding, and writes them to `to`.
  void round(const float* from, void* to, std::int64_t count) const {
    elementwise_.round_to(DataType::kBfloat16, from, to, count);
  }
  /// Adds `count` floats: sum[i] += part[i].
  void add(const float* part, float* sum, std::int64_t count) const {
    elementwise_.add(DataType::kFloat32, sum, part, sum, count);
  }

 private:
  Workspace memory_;
  ElementwiseOps& elementwise_;
};

}  // namespace convoy::ops::cpu
