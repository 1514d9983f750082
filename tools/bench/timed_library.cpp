/// One timer a call.
#include "timed_library.h"

#include "convoy/base/clock.h"

namespace convoy::bench {

namespace {

class TimedConvolution final : public ops::ConvolutionOp {
 public:
  TimedConvolution(std::unique_ptr<ops::ConvolutionOp> inner, OpSeconds& seconds)
      : inner_(std::move(inner)), seconds_(seconds) {}

  void load_weights(const float* w) override {
    const ScopedTimer timer(seconds_.pack_weights);
    inner_->load_weights(w);
  }
  void forward(const float* x, float* y) override {
    const ScopedTimer timer(seconds_.convolution);
    inner_->forward(x, y);
  }
  void backward_input(const float* dy, float* dx) override {
    const ScopedTimer timer(seconds_.convolution);
    inner_->backward_input(dy, dx);
  }
  void backward_weight(const float* x, const float* dy, float* dw) override {
    const ScopedTimer timer(seconds_.convolution);
    inner_->backward_weight(x, dy, dw);
  }

 private:
  std::unique_ptr<ops::ConvolutionOp> inner_;
  OpSeconds& seconds_;
};

class TimedBatchNorm final : public ops::BatchNormOp {
 public:
  TimedBatchNorm(std::unique_ptr<ops::BatchNormOp> inner, OpSeconds& seconds)
      : inner_(std::move(inner)), seconds_(seconds) {}

  void forward(const ops::BatchNormInputs& in, const ops::BatchNormOutputs& out) override {
    const ScopedTimer timer(seconds_.batch_norm);
    inner_->forward(in, out);
  }
  void infer(const ops::BatchNormInference& args) override {
    const ScopedTimer timer(seconds_.batch_norm);
    inner_->infer(args);
  }
  void backward(const ops::BatchNormGradInputs& in, const ops::BatchNormGradOutputs& out) override {
    const ScopedTimer timer(seconds_.batch_norm);
    inner_->backward(in, out);
  }

 private:
  std::unique_ptr<ops::BatchNormOp> inner_;
  OpSeconds& seconds_;
};

class TimedElementwise final : public ops::ElementwiseOps {
 public:
  TimedElementwise(ops::ElementwiseOps& inner, OpSeconds& seconds) : inner_(inner), seconds_(seconds) {}

  void add(const float* a, const float* b, float* sum, std::int64_t count) override {
    const ScopedTimer timer(seconds_.other);
    inner_.add(a, b, sum, count);
  }
  void copy(const float* from, float* to, std::int64_t count) override {
    const ScopedTimer timer(seconds_.other);
    inner_.copy(from, to, count);
  }
  void sgd(const ops::SgdSpec& spec, const float* gradient, float* momentum, float* weight,
           std::int64_t count) override {
    const ScopedTimer timer(seconds_.other);
    inner_.sgd(spec, gradient, momentum, weight, count);
  }
  void moving_average(float keep, float scale, const float* sum, float* running, std::int64_t count) override {
    const ScopedTimer timer(seconds_.other);
    inner_.moving_average(keep, scale, sum, running, count);
  }

 private:
  ops::ElementwiseOps& inner_;
  OpSeconds& seconds_;
};

class TimedMaxPool final : public ops::MaxPoolOp {
 public:
  TimedMaxPool(std::unique_ptr<ops::MaxPoolOp> inner, OpSeconds& seconds)
      : inner_(std::move(inner)), seconds_(seconds) {}

  void forward(const float* x, float* y, std::uint8_t* winner) override {
    const ScopedTimer timer(seconds_.other);
    inner_->forward(x, y, winner);
  }
  void backward(const float* dy, const std::uint8_t* winner, float* dx) override {
    const ScopedTimer timer(seconds_.other);
    inner_->backward(dy, winner, dx);
  }

 private:
  std::unique_ptr<ops::MaxPoolOp> inner_;
  OpSeconds& seconds_;
};

// Operations with forward(x, y) and backward(dy, dx) alone.
template <typename Op>
class TimedPair final : public Op {
 public:
  TimedPair(std::unique_ptr<Op> inner, OpSeconds& seconds) : inner_(std::move(inner)), seconds_(seconds) {}

  void forward(const float* x, float* y) override {
    const ScopedTimer timer(seconds_.other);
    inner_->forward(x, y);
  }
  void backward(const float* dy, float* dx) override {
    const ScopedTimer timer(seconds_.other);
    inner_->backward(dy, dx);
  }

 private:
  std::unique_ptr<Op> inner_;
  OpSeconds& seconds_;
};

}  // namespace

TimedLibrary::TimedLibrary(ops::Library& inner)
    : ForwardingLibrary(inner), elementwise_(std::make_unique<TimedElementwise>(inner.elementwise(), seconds_)) {}

TimedLibrary::~TimedLibrary() = default;

std::unique_ptr<ops::ConvolutionOp> TimedLibrary::convolution(const ops::ConvolutionSpec& spec) {
  convolutions_.push_back(spec);
  return std::make_unique<TimedConvolution>(inner().convolution(spec), seconds_);
}

std::unique_ptr<ops::BatchNormOp> TimedLibrary::batch_norm(const ops::BatchNormSpec& spec) {
  return std::make_unique<TimedBatchNorm>(inner().batch_norm(spec), seconds_);
}

std::unique_ptr<ops::MaxPoolOp> TimedLibrary::max_pool(const ops::PoolingSpec& spec) {
  return std::make_unique<TimedMaxPool>(inner().max_pool(spec), seconds_);
}

std::unique_ptr<ops::AveragePoolOp> TimedLibrary::average_pool(const ops::PoolingSpec& spec) {
  return std::make_unique<TimedPair<ops::AveragePoolOp>>(inner().average_pool(spec), seconds_);
}

std::unique_ptr<ops::GlobalAveragePoolOp> TimedLibrary::global_average_pool(const Shape& x) {
  return std::make_unique<TimedPair<ops::GlobalAveragePoolOp>>(inner().global_average_pool(x), seconds_);
}

std::unique_ptr<ops::ShortcutOp> TimedLibrary::shortcut(const ops::ShortcutSpec& spec) {
  return std::make_unique<TimedPair<ops::ShortcutOp>>(inner().shortcut(spec), seconds_);
}

ops::ElementwiseOps& TimedLibrary::elementwise() {
  return *elementwise_;
}

}  // namespace convoy::bench
