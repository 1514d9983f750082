/// A backend that measures the one it wraps: where the compute time of a step goes, by kind of operation. The head's
/// linear layer and the loss are a millionth of a step: not worth a timer.
#pragma once

#include <memory>
#include <vector>

#include "unit/ops/forwarding_backend.h"

namespace convoy::bench {

struct OpSeconds {
  double convolution_forward = 0, convolution_input = 0, convolution_weight = 0;
  double pack_weights = 0;
  double batch_norm_forward = 0, batch_norm_backward = 0;
  double other = 0;

  double convolution() const { return convolution_forward + convolution_input + convolution_weight; }
  double batch_norm() const { return batch_norm_forward + batch_norm_backward; }
  double total() const { return convolution() + pack_weights + batch_norm() + other; }
};

class TimedBackend final : public ops::ForwardingBackend {
 public:
  explicit TimedBackend(ops::Backend& inner);
  ~TimedBackend() override;

  const OpSeconds& seconds() const { return seconds_; }
  void reset() { seconds_ = {}; }
  /// Every convolution that was planned.
  const std::vector<ops::ConvolutionSpec>& convolutions() const { return convolutions_; }

  ops::AnyOp create_any(const ops::AnyRequest& request) override;
  ops::ElementwiseOps& elementwise() override;

 private:
  OpSeconds seconds_;
  std::vector<ops::ConvolutionSpec> convolutions_;
  std::unique_ptr<ops::ElementwiseOps> elementwise_;
};

}  // namespace convoy::bench
