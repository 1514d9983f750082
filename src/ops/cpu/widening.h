/// Float32 copies of operands in bf16: how the CPU computes what oneDNN has in bf16 only for other processors.
#pragma once

#include <cstdint>

#include "convoy/ops/elementwise.h"

#include "ops/cpu/resources.h"

namespace convoy::ops::cpu {

/// The operands of one call at a time, in memory of their own: the float32 operation that takes them uses the backend's
/// workspace meanwhile.
class Widening {
 public:
  Widening(Device& device, std::int64_t threads, ElementwiseOps& elementwise)
      : memory_(device, threads), elementwise_(elementwise) {}

  /// Of floats that begin at a multiple of 64 bytes, as those after them do.
  static std::int64_t padded(std::int64_t count) { return round_up(count, 64 / kFloatBytes); }
  /// Makes room for so many floats.
  void reserve(std::int64_t count) { memory_.reserve(count * kFloatBytes); }
  /// The first of them, 64-byte aligned. Ask at every call, as with Workspace::scratch().
  float* operands() const { return reinterpret_cast<float*>(memory_.scratch()); }

  /// to = from, exactly. Any alignment.
  void widen(const void* from, float* to, std::int64_t count) const;
  /// to = from, rounded to bf16.
  void round(const float* from, void* to, std::int64_t count) const {
    elementwise_.round_to(DataType::kBfloat16, from, to, count);
  }
  /// sum += part.
  void add(const float* part, float* sum, std::int64_t count) const {
    elementwise_.add(DataType::kFloat32, sum, part, sum, count);
  }

 private:
  Workspace memory_;
  ElementwiseOps& elementwise_;
};

}  // namespace convoy::ops::cpu
