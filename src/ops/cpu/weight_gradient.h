/// The weight gradient of a convolution by oneDNN, in parts that depend only on its shape: the same bits on any number
/// of threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "convoy/ops/convolution.h"

#include "ops/cpu/convolution_directions.h"
#include "ops/cpu/dnnl_parts.h"

namespace convoy::ops::cpu {

/// The numbers of equal ranges into which samples and filters are divided. One thread computes each pair of ranges.
///   ranges of samples   their results are added in order: cheap if there are few weights
///   ranges of filters   dy is copied once; x is read by each part (with groups it is copied, too): cheap if
///                       activations are small
struct WeightGradientDivision {
  std::int64_t samples = 1, filters = 1;

  std::int64_t size() const { return samples * filters; }
  bool operator==(const WeightGradientDivision&) const = default;
};

/// Returns a division into at least kWantedParts or kFewerParts (dnnl_parts.h) parts if the shape allows it, else into
/// as many as possible. Of such divisions it is the one that moves the fewest bytes.
WeightGradientDivision divide_weight_gradient(const ConvolutionSpec& spec);

/// The convolution whose weight gradient one part computes.
ConvolutionSpec part_of_weight_gradient(const ConvolutionSpec& spec, const WeightGradientDivision& division);

class WeightGradient final : public ConvolutionWeightGradient {
 public:
  WeightGradient(const ConvolutionSpec& spec, DnnlRuntime& runtime);

  void run(const void* x, const void* dy, float* dw) override;

 private:
  bool copies_dy() const { return division_.filters > 1; }
  bool copies_x() const { return division_.filters > 1 && spec_.groups > 1; }
  void create_parts();
  void reserve_scratch();
  std::byte* scratch(std::int64_t offset) const { return runtime_.workspace().scratch() + offset; }
  std::int64_t packed_stride() const { return round_up(packed_count_ * kFloatBytes, 64); }
  void copy_ranges(const void* from, const Shape& shape, std::byte* to) const;
  float* result(std::int64_t samples, std::int64_t filters, float* dw) const;
  void add_up(float* dw) const;

  ConvolutionSpec spec_;
  DnnlRuntime& runtime_;
  WeightGradientDivision division_;
  ConvolutionSpec part_;
  DnnlParts parts_;
  DnnlCall unpack_;                                                ///< copies dw of one range of filters
  bool dw_is_plain_ = false;                                       ///< whether oneDNN's own layout is (K,R,S,C/G)
  std::int64_t packed_count_ = 0;                                  ///< number of floats of a part's result
  std::int64_t packed_offset_ = 0, dy_offset_ = 0, x_offset_ = 0;  ///< offsets in scratch memory
};

}  // namespace convoy::ops::cpu
