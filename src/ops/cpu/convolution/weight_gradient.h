/// The weight gradient of a convolution, which oneDNN computes in parts. The parts depend only on its shape, so that
/// the bits are the same with any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "convoy/ops/convolution.h"

#include "ops/cpu/convolution/convolution_directions.h"
#include "ops/cpu/onednn/dnnl_parts.h"

namespace convoy::ops::cpu {

/// The numbers of equal ranges into which the samples and the filters of a weight gradient are divided. One thread
/// computes each pair of a range of samples and a range of filters.
///   ranges of samples   their results are added in order: cheap if there are few weights
///   ranges of filters   dy is copied once; x is read by each part (with groups it is copied, too): cheap if
///                       activations are small
struct WeightGradientDivision {
  std::int64_t samples = 1, filters = 1;

  std::int64_t size() const { return samples * filters; }
  bool operator==(const WeightGradientDivision&) const = default;
};

/// Returns the division of a weight gradient into parts: at least kWantedParts or kFewerParts (dnnl_parts.h) if the
/// shape allows it, else as many as possible. Of such divisions it is the one that moves the fewest bytes.
WeightGradientDivision divide_weight_gradient(const ConvolutionSpec& spec);

/// Returns the convolution of one range of samples and one range of filters, whose weight gradient one part computes.
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
  DnnlCall unpack_;                ///< copies dw of one range of filters from oneDNN's layout to (K,R,S,C/G)
  bool dw_is_plain_ = false;       ///< whether oneDNN's layout is (K,R,S,C/G)
  std::int64_t packed_count_ = 0;  ///< number of floats of a part's result
  std::int64_t packed_offset_ = 0, dy_offset_ = 0, x_offset_ = 0;  ///< offsets in scratch memory, in bytes
};

}  // namespace convoy::ops::cpu
