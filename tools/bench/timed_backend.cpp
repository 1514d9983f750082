/// One timer a call.
#include "timed_backend.h"

#include "convoy/base/clock.h"

namespace convoy::bench {

namespace {

/// Adds what an operation takes to its family's time: on a device that runs asynchronously to the host, from idle to
/// idle.
class Timer {
 public:
  Timer(Device& device, OpSeconds& seconds) : device_(device), seconds_(seconds) {}

  template <typename Call>
  void time(Family family, Call&& call) const {
    device_.synchronize();
    const double start = now_seconds();
    call();
    device_.synchronize();
    seconds_[family] += now_seconds() - start;
  }

 private:
  Device& device_;
  OpSeconds& seconds_;
};

template <typename Op>
class TimedOp : public Op {
 public:
  TimedOp(std::unique_ptr<Op> inner, const Timer& timer) : inner_(std::move(inner)), timer_(timer) {}

 protected:
  Op& inner() const { return *inner_; }
  template <typename Call>
  void time(Family family, Call&& call) const {
    timer_.time(family, call);
  }

 private:
  std::unique_ptr<Op> inner_;
  Timer timer_;
};

class TimedConvolution final : public TimedOp<ops::ConvolutionOp> {
 public:
  using TimedOp::TimedOp;

  void load_weights(const void* w) override {
    time(Family::kPackWeights, [&] { inner().load_weights(w); });
  }
  void forward(const void* x, void* y) override {
    time(Family::kConvolutionForward, [&] { inner().forward(x, y); });
  }
  bool gives_sums() const override { return inner().gives_sums(); }
  void forward_with_sums(const void* x, void* y, const ops::ChannelSums& sums) override {
    time(Family::kConvolutionForward, [&] { inner().forward_with_sums(x, y, sums); });
  }
  void backward_input(const void* dy, void* dx) override {
    time(Family::kConvolutionInput, [&] { inner().backward_input(dy, dx); });
  }
  bool sums_gradients() const override { return inner().sums_gradients(); }
  void backward_input_with_sums(const void* dy, const ops::NormalisedInput& in,
                                const ops::NormalisedInputGradients& out) override {
    time(Family::kConvolutionInput, [&] { inner().backward_input_with_sums(dy, in, out); });
  }
  void backward_weight(const void* x, const void* dy, float* dw) override {
    time(Family::kConvolutionWeight, [&] { inner().backward_weight(x, dy, dw); });
  }
  bool normalises() const override { return inner().normalises(); }
  void normalise_and_forward(const ops::NormalisedInput& in, void* y, const ops::ChannelSums& sums) override {
    time(Family::kConvolutionForward, [&] { inner().normalise_and_forward(in, y, sums); });
  }
  void normalise_and_backward_weight(const ops::NormalisedInput& in, const void* dy, float* dw) override {
    time(Family::kConvolutionWeight, [&] { inner().normalise_and_backward_weight(in, dy, dw); });
  }
};

class TimedBatchNorm final : public TimedOp<ops::BatchNormOp> {
 public:
  using TimedOp::TimedOp;

  void forward(const ops::BatchNormInputs& in, const ops::BatchNormOutputs& out) override {
    time(Family::kBatchNormForward, [&] { inner().forward(in, out); });
  }
  void forward_again(const ops::BatchNormInputs& in, const ops::BatchNormOutputs& out) override {
    time(Family::kBatchNormForward, [&] { inner().forward_again(in, out); });
  }
  void infer(const ops::BatchNormInference& args) override {
    time(Family::kBatchNormForward, [&] { inner().infer(args); });
  }
  void backward(const ops::BatchNormGradInputs& in, const ops::BatchNormGradOutputs& out) override {
    time(Family::kBatchNormBackward, [&] { inner().backward(in, out); });
  }
  void infer_backward(const ops::BatchNormInferenceGrad& args) override {
    time(Family::kBatchNormBackward, [&] { inner().infer_backward(args); });
  }
};

class TimedLinear final : public TimedOp<ops::LinearOp> {
 public:
  using TimedOp::TimedOp;

  void forward(const void* x, const void* w, const void* b, const ops::LinearOutputs& out) override {
    time(Family::kLinearForward, [&] { inner().forward(x, w, b, out); });
  }
  void backward_input(const void* dy, const void* w, void* dx) override {
    time(Family::kLinearInput, [&] { inner().backward_input(dy, w, dx); });
  }
  void backward_weight(const void* x, const void* dy, float* dw, float* db) override {
    time(Family::kLinearWeight, [&] { inner().backward_weight(x, dy, dw, db); });
  }
};

class TimedAttention final : public TimedOp<ops::AttentionOp> {
 public:
  using TimedOp::TimedOp;

  void forward(const ops::AttentionForward& args) override {
    time(Family::kAttentionForward, [&] { inner().forward(args); });
  }
  void backward(const ops::AttentionBackward& args) override {
    time(Family::kAttentionBackward, [&] { inner().backward(args); });
  }
};

class TimedLayerNorm final : public TimedOp<ops::LayerNormOp> {
 public:
  using TimedOp::TimedOp;

  void forward(const ops::LayerNormForward& args) override {
    time(Family::kLayerNormForward, [&] { inner().forward(args); });
  }
  void backward(const ops::LayerNormBackward& args) override {
    time(Family::kLayerNormBackward, [&] { inner().backward(args); });
  }
};

class TimedActivation final : public TimedOp<ops::ActivationOp> {
 public:
  using TimedOp::TimedOp;

  void forward(const void* x, void* y) override {
    time(Family::kActivation, [&] { inner().forward(x, y); });
  }
  void backward(const void* x, const void* dy, void* dx) override {
    time(Family::kActivation, [&] { inner().backward(x, dy, dx); });
  }
};

class TimedDropout final : public TimedOp<ops::DropoutOp> {
 public:
  using TimedOp::TimedOp;

  void run(const ops::DrawKey* key, const void* x, void* y) override {
    time(Family::kDropout, [&] { inner().run(key, x, y); });
  }
  void run_and_add(const ops::DrawKey* key, const void* x, const void* residual, void* y) override {
    time(Family::kDropout, [&] { inner().run_and_add(key, x, residual, y); });
  }
  void relu_and_run(const ops::DrawKey* key, const void* x, void* y) override {
    time(Family::kDropout, [&] { inner().relu_and_run(key, x, y); });
  }
  void backward_of_relu(const void* y, const void* dy, void* dx) override {
    time(Family::kDropout, [&] { inner().backward_of_relu(y, dy, dx); });
  }
};

class TimedEmbedding final : public TimedOp<ops::EmbeddingOp> {
 public:
  using TimedOp::TimedOp;

  void forward(const std::int32_t* tokens, const void* table, void* y) override {
    time(Family::kEmbedding, [&] { inner().forward(tokens, table, y); });
  }
  void backward_weight(const std::int32_t* tokens, const void* dy, float* dtable) override {
    time(Family::kEmbedding, [&] { inner().backward_weight(tokens, dy, dtable); });
  }
};

class TimedSequenceMean final : public TimedOp<ops::SequenceMeanOp> {
 public:
  using TimedOp::TimedOp;

  void forward(const void* x, const std::int32_t* lengths, void* y) override {
    time(Family::kOther, [&] { inner().forward(x, lengths, y); });
  }
  void backward(const void* dy, const std::int32_t* lengths, void* dx) override {
    time(Family::kOther, [&] { inner().backward(dy, lengths, dx); });
  }
};

class TimedMaxPool final : public TimedOp<ops::MaxPoolOp> {
 public:
  using TimedOp::TimedOp;

  void forward(const void* x, void* y, std::uint8_t* winner) override {
    time(Family::kOther, [&] { inner().forward(x, y, winner); });
  }
  void backward(const void* dy, const std::uint8_t* winner, void* dx) override {
    time(Family::kOther, [&] { inner().backward(dy, winner, dx); });
  }
};

class TimedLoss final : public TimedOp<ops::SoftmaxCrossEntropyOp> {
 public:
  using TimedOp::TimedOp;

  void run(const ops::LossArguments& args) override {
    time(Family::kOther, [&] { inner().run(args); });
  }
};

/// Any operation with forward(x, y) and backward(dy, dx) alone.
template <typename Op>
class TimedPair final : public TimedOp<Op> {
 public:
  using TimedOp<Op>::TimedOp;

  void forward(const void* x, void* y) override {
    this->time(Family::kOther, [&] { this->inner().forward(x, y); });
  }
  void backward(const void* dy, void* dx) override {
    this->time(Family::kOther, [&] { this->inner().backward(dy, dx); });
  }
};

class TimedElementwise final : public ops::ElementwiseOps {
 public:
  TimedElementwise(ops::ElementwiseOps& inner, const Timer& timer) : inner_(inner), timer_(timer) {}

  void add(DataType type, const void* a, const void* b, void* sum, std::int64_t count) override {
    timer_.time(Family::kSum, [&] { inner_.add(type, a, b, sum, count); });
  }
  void fold(std::span<const float* const> blocks, float* sum, std::int64_t count) override {
    timer_.time(Family::kOther, [&] { inner_.fold(blocks, sum, count); });
  }
  void copy(const void* from, void* to, std::int64_t size_bytes) override {
    timer_.time(Family::kOther, [&] { inner_.copy(from, to, size_bytes); });
  }
  void round_to(DataType type, const float* from, void* to, std::int64_t count) override {
    timer_.time(Family::kOther, [&] { inner_.round_to(type, from, to, count); });
  }
  void find_non_finite(const float* values, std::int64_t count, std::int32_t* found) override {
    timer_.time(Family::kUpdate, [&] { inner_.find_non_finite(values, count, found); });
  }
  void add_checksum(const void* data, std::int64_t size_bytes, std::uint64_t* sum) override {
    timer_.time(Family::kOther, [&] { inner_.add_checksum(data, size_bytes, sum); });
  }
  void sgd(const ops::SgdSpec& spec, const ops::SgdArguments& args) override {
    timer_.time(Family::kUpdate, [&] { inner_.sgd(spec, args); });
  }
  void adam(const ops::AdamSpec& spec, const ops::AdamArguments& args) override {
    timer_.time(Family::kUpdate, [&] { inner_.adam(spec, args); });
  }
  void adam_direction(const ops::AdamSpec& spec, const ops::AdamDirectionArguments& args) override {
    timer_.time(Family::kUpdate, [&] { inner_.adam_direction(spec, args); });
  }
  void descend(float rate, DataType copy_type, const ops::DescentArguments& args) override {
    timer_.time(Family::kUpdate, [&] { inner_.descend(rate, copy_type, args); });
  }
  void sum_squares(const float* values, const ops::SumPiece* pieces, std::int64_t num_pieces, double* sums) override {
    timer_.time(Family::kUpdate, [&] { inner_.sum_squares(values, pieces, num_pieces, sums); });
  }
  void moving_average(float keep, float scale, const float* sum, float* running, std::int64_t count) override {
    timer_.time(Family::kUpdate, [&] { inner_.moving_average(keep, scale, sum, running, count); });
  }

 private:
  ops::ElementwiseOps& inner_;
  Timer timer_;
};

template <typename Op>
concept IsPair = requires(Op& op, const void* in, void* out) {
  op.forward(in, out);
  op.backward(in, out);
};

/// The first class of the list that is an Op, around `op`; without one, `op` itself.
template <typename Op, typename First, typename... Rest>
std::unique_ptr<Op> timed_as(std::unique_ptr<Op> op, const Timer& timer) {
  if constexpr (std::is_base_of_v<Op, First>) {
    return std::make_unique<First>(std::move(op), timer);
  } else if constexpr (sizeof...(Rest) > 0) {
    return timed_as<Op, Rest...>(std::move(op), timer);
  } else if constexpr (IsPair<Op>) {
    return std::make_unique<TimedPair<Op>>(std::move(op), timer);
  } else {
    return op;
  }
}

}  // namespace

const char* name_of(Family family) {
  constexpr const char* kNames[] = {"convolution forward",
                                    "convolution by input",
                                    "convolution by weight",
                                    "packing weights",
                                    "batch norm forward",
                                    "batch norm backward",
                                    "linear forward",
                                    "linear by input",
                                    "linear by weight",
                                    "attention forward",
                                    "attention backward",
                                    "layer norm forward",
                                    "layer norm backward",
                                    "activation",
                                    "dropout",
                                    "embedding",
                                    "sums",
                                    "update",
                                    "other operations"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(Family::kNum));
  return kNames[static_cast<std::size_t>(family)];
}

TimedBackend::TimedBackend(ops::Backend& inner)
    : ForwardingBackend(inner),
      elementwise_(std::make_unique<TimedElementwise>(inner.elementwise(), Timer(inner.device(), seconds_))) {}

TimedBackend::~TimedBackend() = default;

ops::AnyOp TimedBackend::create_any(const ops::AnyRequest& request) {
  if (const auto* spec = ops::spec_of<ops::ConvolutionOp>(request)) products_.convolutions.push_back(*spec);
  if (const auto* spec = ops::spec_of<ops::LinearOp>(request)) products_.linears.push_back(*spec);
  if (const auto* spec = ops::spec_of<ops::AttentionOp>(request)) products_.attentions.push_back(*spec);
  return create_requested(request, [this]<typename Op>(const typename Op::Spec& spec) -> std::unique_ptr<Op> {
    return timed_as<Op, TimedActivation, TimedAttention, TimedBatchNorm, TimedConvolution, TimedDropout, TimedEmbedding,
                    TimedLayerNorm, TimedLinear, TimedLoss, TimedMaxPool, TimedSequenceMean>(inner().create<Op>(spec),
                                                                                             Timer(device(), seconds_));
  });
}

ops::ElementwiseOps& TimedBackend::elementwise() {
  return *elementwise_;
}

}  // namespace convoy::bench
