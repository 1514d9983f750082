/// Float32 copies of bf16 operands: by them the CPU computes what oneDNN computes in bf16 only on other processors.
#pragma once

#include <cstdint>

#include "convoy/ops/elementwise.h"

#include "ops/cpu/resources.h"

namespace convoy::ops::cpu {

/// The operands of one call at a time. They have memory of their own, since the float32 operation that reads them uses
/// the backend's workspace meanwhile.
class Widening {
 public:
  Widening(Device& device, std::int64_t threads, ElementwiseOps& elementwise)
      : memory_(device, threads), elementwise_(elementwise) {}

  /// `count` rounded up so that the floats after these begin at a multiple of 64 bytes, too.
  static std::int64_t padded(std::int64_t count) { return round_up(count, 64 / kFloatBytes); }
  /// Reserves memory for `count` floats.
  void reserve(std::int64_t count) { memory_.reserve(count * kFloatBytes); }
  /// The reserved memory, 64-byte aligned. Ask for it at every call, as for Workspace::scratch().
  float* operands() const { return reinterpret_cast<float*>(memory_.scratch()); }

  /// Writes `from` to `to`, exactly. Any alignment is allowed.
  void widen(const void* from, float* to, std::int64_t count) const;
  /// Writes `from` to `to`, rounded to bf16.
  void round(const float* from, void* to, std::int64_t count) const {
    elementwise_.round_to(DataType::kBfloat16, from, to, count);
  }
  /// Adds `part` to `sum`.
  void add(const float* part, float* sum, std::int64_t count) const {
    elementwise_.add(DataType::kFloat32, sum, part, sum, count);
  }

 private:
  Workspace memory_;
  ElementwiseOps& elementwise_;
};

}  // namespace convoy::ops::cpu
