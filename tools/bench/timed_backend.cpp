/// One timer a call.
#include "timed_backend.h"

#include "convoy/base/clock.h"

namespace convoy::bench {

namespace {

/// On a device that runs asynchronously to the host, an operation's time is from idle to idle.
class OpTimer {
 public:
  OpTimer(Device& device, double& seconds) : device_(device), seconds_(seconds) {
    device_.synchronize();
    start_ = now_seconds();
  }
  ~OpTimer() {
    device_.synchronize();
    seconds_ += now_seconds() - start_;
  }
  OpTimer(const OpTimer&) = delete;
  OpTimer& operator=(const OpTimer&) = delete;

 private:
  Device& device_;
  double& seconds_;
  double start_ = 0;
};

class TimedConvolution final : public ops::ConvolutionOp {
 public:
  TimedConvolution(std::unique_ptr<ops::ConvolutionOp> inner, Device& device, OpSeconds& seconds)
      : inner_(std::move(inner)), device_(device), seconds_(seconds) {}

  void load_weights(const void* w) override {
    const OpTimer timer(device_, seconds_.pack_weights);
    inner_->load_weights(w);
  }
  void forward(const void* x, void* y) override {
    const OpTimer timer(device_, seconds_.convolution_forward);
    inner_->forward(x, y);
  }
  bool gives_sums() const override { return inner_->gives_sums(); }
  void forward_with_sums(const void* x, void* y, const ops::ChannelSums& sums) override {
    const OpTimer timer(device_, seconds_.convolution_forward);
    inner_->forward_with_sums(x, y, sums);
  }
  void backward_input(const void* dy, void* dx) override {
    const OpTimer timer(device_, seconds_.convolution_input);
    inner_->backward_input(dy, dx);
  }
  bool sums_gradients() const override { return inner_->sums_gradients(); }
  void backward_input_with_sums(const void* dy, const ops::NormalisedInput& in,
                                const ops::NormalisedInputGradients& out) override {
    const OpTimer timer(device_, seconds_.convolution_input);
    inner_->backward_input_with_sums(dy, in, out);
  }
  void backward_weight(const void* x, const void* dy, float* dw) override {
    const OpTimer timer(device_, seconds_.convolution_weight);
    inner_->backward_weight(x, dy, dw);
  }
  bool normalises() const override { return inner_->normalises(); }
  void normalise_and_forward(const ops::NormalisedInput& in, void* y, const ops::ChannelSums& sums) override {
    const OpTimer timer(device_, seconds_.convolution_forward);
    inner_->normalise_and_forward(in, y, sums);
  }
  void normalise_and_backward_weight(const ops::NormalisedInput& in, const void* dy, float* dw) override {
    const OpTimer timer(device_, seconds_.convolution_weight);
    inner_->normalise_and_backward_weight(in, dy, dw);
  }

 private:
  std::unique_ptr<ops::ConvolutionOp> inner_;
  Device& device_;
  OpSeconds& seconds_;
};

class TimedBatchNorm final : public ops::BatchNormOp {
 public:
  TimedBatchNorm(std::unique_ptr<ops::BatchNormOp> inner, Device& device, OpSeconds& seconds)
      : inner_(std::move(inner)), device_(device), seconds_(seconds) {}

  void forward(const ops::BatchNormInputs& in, const ops::BatchNormOutputs& out) override {
    const OpTimer timer(device_, seconds_.batch_norm_forward);
    inner_->forward(in, out);
  }
  void forward_again(const ops::BatchNormInputs& in, const ops::BatchNormOutputs& out) override {
    const OpTimer timer(device_, seconds_.batch_norm_forward);
    inner_->forward_again(in, out);
  }
  void infer(const ops::BatchNormInference& args) override {
    const OpTimer timer(device_, seconds_.batch_norm_forward);
    inner_->infer(args);
  }
  void backward(const ops::BatchNormGradInputs& in, const ops::BatchNormGradOutputs& out) override {
    const OpTimer timer(device_, seconds_.batch_norm_backward);
    inner_->backward(in, out);
  }
  void infer_backward(const ops::BatchNormInferenceGrad& args) override {
    const OpTimer timer(device_, seconds_.batch_norm_backward);
    inner_->infer_backward(args);
  }

 private:
  std::unique_ptr<ops::BatchNormOp> inner_;
  Device& device_;
  OpSeconds& seconds_;
};

class TimedElementwise final : public ops::ElementwiseOps {
 public:
  TimedElementwise(ops::ElementwiseOps& inner, Device& device, OpSeconds& seconds)
      : inner_(inner), device_(device), seconds_(seconds) {}

  void add(DataType type, const void* a, const void* b, void* sum, std::int64_t count) override {
    const OpTimer timer(device_, seconds_.other);
    inner_.add(type, a, b, sum, count);
  }
  void fold(std::span<const float* const> blocks, float* sum, std::int64_t count) override {
    const OpTimer timer(device_, seconds_.other);
    inner_.fold(blocks, sum, count);
  }
  void copy(const void* from, void* to, std::int64_t size_bytes) override {
    const OpTimer timer(device_, seconds_.other);
    inner_.copy(from, to, size_bytes);
  }
  void round_to(DataType type, const float* from, void* to, std::int64_t count) override {
    const OpTimer timer(device_, seconds_.other);
    inner_.round_to(type, from, to, count);
  }
  void find_non_finite(const float* values, std::int64_t count, std::int32_t* found) override {
    const OpTimer timer(device_, seconds_.other);
    inner_.find_non_finite(values, count, found);
  }
  void sgd(const ops::SgdSpec& spec, const ops::SgdArguments& args) override {
    const OpTimer timer(device_, seconds_.other);
    inner_.sgd(spec, args);
  }
  void adam(const ops::AdamSpec& spec, const ops::AdamArguments& args) override {
    const OpTimer timer(device_, seconds_.other);
    inner_.adam(spec, args);
  }
  void sum_squares(const float* values, const ops::SumPiece* pieces, std::int64_t num_pieces, double* sums) override {
    const OpTimer timer(device_, seconds_.other);
    inner_.sum_squares(values, pieces, num_pieces, sums);
  }
  void moving_average(float keep, float scale, const float* sum, float* running, std::int64_t count) override {
    const OpTimer timer(device_, seconds_.other);
    inner_.moving_average(keep, scale, sum, running, count);
  }

 private:
  ops::ElementwiseOps& inner_;
  Device& device_;
  OpSeconds& seconds_;
};

class TimedMaxPool final : public ops::MaxPoolOp {
 public:
  TimedMaxPool(std::unique_ptr<ops::MaxPoolOp> inner, Device& device, OpSeconds& seconds)
      : inner_(std::move(inner)), device_(device), seconds_(seconds) {}

  void forward(const void* x, void* y, std::uint8_t* winner) override {
    const OpTimer timer(device_, seconds_.other);
    inner_->forward(x, y, winner);
  }
  void backward(const void* dy, const std::uint8_t* winner, void* dx) override {
    const OpTimer timer(device_, seconds_.other);
    inner_->backward(dy, winner, dx);
  }

 private:
  std::unique_ptr<ops::MaxPoolOp> inner_;
  Device& device_;
  OpSeconds& seconds_;
};

/// Any operation with forward(x, y) and backward(dy, dx) alone.
template <typename Op>
class TimedPair final : public Op {
 public:
  TimedPair(std::unique_ptr<Op> inner, Device& device, OpSeconds& seconds)
      : inner_(std::move(inner)), device_(device), seconds_(seconds) {}

  void forward(const void* x, void* y) override {
    const OpTimer timer(device_, seconds_.other);
    inner_->forward(x, y);
  }
  void backward(const void* dy, void* dx) override {
    const OpTimer timer(device_, seconds_.other);
    inner_->backward(dy, dx);
  }

 private:
  std::unique_ptr<Op> inner_;
  Device& device_;
  OpSeconds& seconds_;
};

template <typename Op>
concept IsPair = requires(Op& op, const void* in, void* out) {
  op.forward(in, out);
  op.backward(in, out);
};

}  // namespace

TimedBackend::TimedBackend(ops::Backend& inner)
    : ForwardingBackend(inner),
      elementwise_(std::make_unique<TimedElementwise>(inner.elementwise(), inner.device(), seconds_)) {}

TimedBackend::~TimedBackend() = default;

ops::AnyOp TimedBackend::create_any(const ops::AnyRequest& request) {
  if (const auto* spec = ops::spec_of<ops::ConvolutionOp>(request)) convolutions_.push_back(*spec);
  return create_requested(request, [this]<typename Op>(const typename Op::Spec& spec) -> std::unique_ptr<Op> {
    auto op = inner().create<Op>(spec);
    if constexpr (std::is_same_v<Op, ops::ConvolutionOp>) {
      return std::make_unique<TimedConvolution>(std::move(op), device(), seconds_);
    } else if constexpr (std::is_same_v<Op, ops::BatchNormOp>) {
      return std::make_unique<TimedBatchNorm>(std::move(op), device(), seconds_);
    } else if constexpr (std::is_same_v<Op, ops::MaxPoolOp>) {
      return std::make_unique<TimedMaxPool>(std::move(op), device(), seconds_);
    } else if constexpr (IsPair<Op>) {
      return std::make_unique<TimedPair<Op>>(std::move(op), device(), seconds_);
    } else {
      return op;
    }
  });
}

ops::ElementwiseOps& TimedBackend::elementwise() {
  return *elementwise_;
}

}  // namespace convoy::bench
