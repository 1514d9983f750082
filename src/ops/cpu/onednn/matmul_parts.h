/// A matrix product that oneDNN computes in parts. The parts depend only on its shape, so that the bits are the same
/// with any number of threads.
#pragma once

#include <cstdint>

#include "ops/cpu/onednn/dnnl_parts.h"
#include "ops/cpu/parallel.h"
#include "ops/linear_products.h"

namespace convoy::ops::cpu {

/// The number of ranges into which each dimension of a matrix product is divided. The results of ranges of k are added
/// in their order.
struct MatmulDivision {
  std::int64_t m = 1, n = 1, k = 1;

  std::int64_t size() const { return m * n * k; }
};

/// Returns the division of a matrix product into parts: at least kWantedParts or kFewerParts (dnnl_parts.h) if the
/// shape allows it, else as many as possible. Of such divisions it is the one that moves the fewest bytes.
MatmulDivision divide_matmul(const MatmulSpec& product);

/// Returns whether oneDNN has an optimised implementation of all parts, in the product's types, for this processor.
bool has_matmul_parts(const MatmulSpec& product, const DnnlRuntime& runtime);

class MatmulParts {
 public:
  MatmulParts() = default;
  MatmulParts(const MatmulSpec& product, DnnlRuntime& runtime);

  /// Returns the number of bytes of the workspace's scratch memory that run() overwrites.
  std::int64_t scratch_bytes() const {
    return sums_offset_ + (division_.k - 1) * product_.m * product_.n * kFloatBytes;
  }

  /// Computes d = a b [+ bias].
  void run(const void* a, const void* b, void* d, const void* bias = nullptr);

 private:
  void add_up(float* d) const;

  MatmulSpec product_;
  const Workspace* workspace_ = nullptr;
  MatmulDivision division_;
  DnnlParts calls_;
  /// Offset in bytes, in scratch memory, of the results of all ranges of k but the first, which is computed in d.
  std::int64_t sums_offset_ = 0;
};

}  // namespace convoy::ops::cpu
