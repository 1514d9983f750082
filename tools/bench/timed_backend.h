/// A backend that measures the one it wraps: where the compute time of a step goes, by kind of operation.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <numeric>
#include <vector>

#include "unit/ops/forwarding_backend.h"

namespace convoy::bench {

enum class Family {
  kConvolutionForward,
  kConvolutionInput,
  kConvolutionWeight,
  kPackWeights,
  kBatchNormForward,
  kBatchNormBackward,
  kLinearForward,
  kLinearInput,
  kLinearWeight,
  kAttentionForward,
  kAttentionBackward,
  kLayerNormForward,
  kLayerNormBackward,
  kActivation,
  kDropout,
  kEmbedding,
  kSum,
  kUpdate,
  kOther,
  kNum
};

const char* name_of(Family family);

class OpSeconds {
 public:
  double& operator[](Family family) { return seconds_[static_cast<std::size_t>(family)]; }
  double operator[](Family family) const { return seconds_[static_cast<std::size_t>(family)]; }
  double total() const { return std::accumulate(seconds_.begin(), seconds_.end(), 0.0); }

 private:
  std::array<double, static_cast<std::size_t>(Family::kNum)> seconds_ = {};
};

/// Products that a step cannot do without.
struct Products {
  std::vector<ops::ConvolutionSpec> convolutions;
  std::vector<ops::LinearSpec> linears;
  std::vector<ops::AttentionSpec> attentions;
};

class TimedBackend final : public ops::ForwardingBackend {
 public:
  explicit TimedBackend(ops::Backend& inner);
  ~TimedBackend() override;

  const OpSeconds& seconds() const { return seconds_; }
  void reset() { seconds_ = {}; }
  /// Of all operations that were planned.
  const Products& products() const { return products_; }

  ops::AnyOp create_any(const ops::AnyRequest& request) override;
  ops::ElementwiseOps& elementwise() override;

 private:
  OpSeconds seconds_;
  Products products_;
  std::unique_ptr<ops::ElementwiseOps> elementwise_;
};

}  // namespace convoy::bench
