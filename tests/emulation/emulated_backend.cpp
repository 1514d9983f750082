/// Creates the CUDA device's operations, and the CPU's convolutions in place of cuDNN's. They are work on the device's
/// stream like any kernel.
#include "emulation/emulated_backend.h"

#include <algorithm>

#include "device/cuda/check.h"
#include "device/cuda/cuda_device.h"
#include "ops/check_spec.h"
#include "ops/cuda/convolution/convolution_kernels.h"
#include "ops/cuda/linear/linear_kernels.h"
#include "ops/cuda/resources.h"

namespace convoy::emulation {

namespace {

/// Converts values to float32 for the CPU's operations, and their results back.
class Converter {
 public:
  Converter(DataType type, ops::cuda::Context& context)
      : type_(type), context_(context), elementwise_(ops::cuda::make_elementwise(context)) {}

  Buffer buffer(std::int64_t count) const {
    return {context_.device(), count * static_cast<std::int64_t>(sizeof(float))};
  }
  const void* widened(const void* from, const Buffer& to) const {
    if (type_ == DataType::kFloat32) return from;
    ops::cuda::widen(type_, from, to.floats(), count_of(to), context_);
    return to.data();
  }
  void enqueue(const std::function<void()>& work) const {
    CONVOY_CHECK_CUDA(emulation::enqueue(context_.stream(), work));
  }
  void round_to(const Buffer& from, void* to) const {
    elementwise_->round_to(type_, from.floats(), to, count_of(from));
  }

 private:
  static std::int64_t count_of(const Buffer& floats) {
    return floats.size_bytes() / static_cast<std::int64_t>(sizeof(float));
  }

  DataType type_;
  ops::cuda::Context& context_;
  std::unique_ptr<ops::ElementwiseOps> elementwise_;
};

/// The same spec in float32.
template <typename Spec>
Spec in_float32(Spec spec) {
  spec.type = DataType::kFloat32;
  return spec;
}

class WidenedConvolution final : public ops::ConvolutionOp {
 public:
  WidenedConvolution(const ops::ConvolutionSpec& spec, ops::Backend& cpu, ops::cuda::Context& context)
      : inner_(cpu.create<ops::ConvolutionOp>(in_float32(spec))),
        converter_(spec.type, context),
        x_(converter_.buffer(spec.x.count())),
        w_(converter_.buffer(spec.weight_count())),
        y_(converter_.buffer(spec.y().count())) {}

  void load_weights(const void* w) override {
    converter_.enqueue([this, w = converter_.widened(w, w_)] { inner_->load_weights(w); });
  }
  void forward(const void* x, void* y) override {
    converter_.enqueue([this, x = converter_.widened(x, x_)] { inner_->forward(x, y_.data()); });
    converter_.round_to(y_, y);
  }
  void backward_input(const void* dy, void* dx) override {
    converter_.enqueue([this, dy = converter_.widened(dy, y_)] { inner_->backward_input(dy, x_.data()); });
    converter_.round_to(x_, dx);
  }
  void backward_weight(const void* x, const void* dy, float* dw) override {
    converter_.enqueue([this, x = converter_.widened(x, x_), dy = converter_.widened(dy, y_), dw] {
      inner_->backward_weight(x, dy, dw);
    });
  }

 private:
  std::unique_ptr<ops::ConvolutionOp> inner_;
  Converter converter_;
  Buffer x_, w_, y_;
};

/// The fully connected layer by the kernel that computes shapes which cublasLt does not support.
class PlainLinear final : public ops::LinearOp {
 public:
  PlainLinear(const ops::LinearSpec& spec, ops::cuda::Context& context) : spec_(spec), context_(context) {
    context.reserve_scratch(ops::cuda::column_sum_scratch_bytes(bias_sums()));
    if (spec.activation) {
      activation_ = ops::cuda::make_op<ops::ActivationOp>(ops::activation_of(spec), {context});
    }
  }

  void forward(const void* x, const void* w, const void* b, const ops::LinearOutputs& out) override {
    void* y = out.y != nullptr ? out.y : out.activated;
    plain_matmul(ops::forward_product(spec_), {.a = x, .b = w, .bias = b, .d = y}, context_);
    if (activation_ != nullptr) activation_->forward(y, out.activated);
  }
  void backward_input(const void* dy, const void* w, void* dx) override {
    plain_matmul(ops::backward_input_product(spec_), {.a = dy, .b = w, .d = dx}, context_);
  }
  void backward_weight(const void* x, const void* dy, float* dw, float* db) override {
    plain_matmul(ops::backward_weight_product(spec_), {.a = dy, .b = x, .d = dw}, context_);
    ops::cuda::column_sum(
        bias_sums(), {.matrix = dy, .sums = db, .scratch = reinterpret_cast<float*>(context_.scratch())}, context_);
  }

 private:
  ops::cuda::ColumnSumSpec bias_sums() const { return {spec_.n, spec_.num_outputs, spec_.type}; }

  ops::LinearSpec spec_;
  const ops::cuda::Context& context_;
  std::unique_ptr<ops::ActivationOp> activation_;  ///< null: none
};

class EmulatedBackend final : public ops::Backend {
 public:
  Device& device() override { return device_; }
  ops::AnyOp create_any(const ops::AnyRequest& request) override {
    return create_requested(request, [this]<typename Op>(const typename Op::Spec& spec) -> std::unique_ptr<Op> {
      ops::check<Op>(spec);
      if constexpr (std::is_same_v<Op, ops::ConvolutionOp>) {
        return std::make_unique<WidenedConvolution>(spec, *cpu_, context_);
      } else if constexpr (std::is_same_v<Op, ops::LinearOp>) {
        return std::make_unique<PlainLinear>(spec, context_);
      } else {
        return ops::cuda::make_op<Op>(spec, {context_});
      }
    });
  }
  ops::ElementwiseOps& elementwise() override { return *elementwise_; }
  std::int64_t scratch_bytes() const override { return cpu_->scratch_bytes() + context_.scratch_bytes(); }

 private:
  std::unique_ptr<ops::Backend> cpu_ = ops::make_backend({.device = DeviceKind::kCpu, .threads = 1});
  convoy::cuda::CudaDevice device_{{.libraries = "the CPU's"}};
  ops::cuda::Context context_{device_, device_.stream()};
  std::unique_ptr<ops::ElementwiseOps> elementwise_ = ops::cuda::make_elementwise(context_);
};

}  // namespace

std::unique_ptr<ops::Backend> make_emulated_backend() {
  return std::make_unique<EmulatedBackend>();
}

}  // namespace convoy::emulation
