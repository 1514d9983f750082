/// The CPU device's operations under one roof, and the check of what is asked of them.
#include "convoy/ops/library.h"

#include <algorithm>
#include <memory>

#include "convoy/base/error.h"

#include "ops/cpu/dnnl_call.h"
#include "ops/cpu/operations.h"
#include "ops/cpu/workspace.h"

namespace convoy::ops::cpu {

namespace {

constexpr std::int64_t kMaxPoolKernel = 15;  // a winner's place in the window is one byte

bool is_positive(const Shape& s) {
  return std::min({s.n, s.h, s.w, s.c}) >= 1;
}

void check_shape(const char* operation, const Shape& x) {
  if (!is_positive(x)) fail("{} of {}: every extent must be at least 1", operation, to_string(x));
}

/// For what slides a window over x.
template <typename Spec>
void check_window(const char* operation, const Spec& spec) {
  check_shape(operation, spec.x);
  if (spec.kernel < 1 || spec.stride < 1 || spec.padding < 0) {
    fail("{} of {}: kernel {} and stride {} must be at least 1, padding {} at least 0", operation, to_string(spec.x),
         spec.kernel, spec.stride, spec.padding);
  }
  const std::int64_t smallest = std::min(spec.x.h, spec.x.w) + 2 * spec.padding;
  if (smallest < spec.kernel) {
    fail("{} of {}: a {}x{} kernel with padding {} does not fit; use larger images", operation, to_string(spec.x),
         spec.kernel, spec.kernel, spec.padding);
  }
}

void check_pooling(const char* operation, const PoolingSpec& spec) {
  check_window(operation, spec);
  if (spec.padding >= spec.kernel) {
    fail("{} of {}: padding {} must be below the kernel's {}, or a window holds nothing", operation, to_string(spec.x),
         spec.padding, spec.kernel);
  }
}

class CpuLibrary final : public Library {
 public:
  explicit CpuLibrary(std::int64_t threads)
      : device_(make_cpu_device(threads)),
        workspace_(*device_, threads),
        dnnl_(workspace_),
        elementwise_(make_elementwise(workspace_)) {}

  Device& device() override { return *device_; }

  std::unique_ptr<ConvolutionOp> convolution(const ConvolutionSpec& spec) override {
    check_window("convolution", spec);
    if (spec.num_filters < 1)
      fail("convolution of {}: {} filters, at least 1 needed", to_string(spec.x), spec.num_filters);
    return make_convolution(spec, dnnl_);
  }

  std::unique_ptr<BatchNormOp> batch_norm(const BatchNormSpec& spec) override {
    check_shape("batch normalisation", spec.x);
    return make_batch_norm(spec, workspace_);
  }

  std::unique_ptr<MaxPoolOp> max_pool(const PoolingSpec& spec) override {
    check_pooling("max pooling", spec);
    if (spec.kernel > kMaxPoolKernel) {
      fail("max pooling of {}: kernel {}, at most {} allowed", to_string(spec.x), spec.kernel, kMaxPoolKernel);
    }
    return make_max_pool(spec, workspace_);
  }

  std::unique_ptr<AveragePoolOp> average_pool(const PoolingSpec& spec) override {
    check_pooling("average pooling", spec);
    return make_average_pool(spec, workspace_);
  }

  std::unique_ptr<GlobalAveragePoolOp> global_average_pool(const Shape& x) override {
    check_shape("global average pooling", x);
    return make_global_average_pool(x, workspace_);
  }

  std::unique_ptr<LinearOp> linear(const LinearSpec& spec) override {
    check_shape("linear layer", {spec.n, 1, spec.num_outputs, spec.num_inputs});
    return make_linear(spec, dnnl_);
  }

  std::unique_ptr<SoftmaxCrossEntropyOp> softmax_cross_entropy(const SoftmaxCrossEntropySpec& spec) override {
    check_shape("softmax cross-entropy", {spec.n, 1, 1, spec.num_classes});
    return make_softmax_cross_entropy(spec);
  }

  std::unique_ptr<ShortcutOp> shortcut(const ShortcutSpec& spec) override {
    check_shape("shortcut", spec.x);
    if (spec.stride < 1 || spec.num_channels < spec.x.c) {
      fail("shortcut of {}: stride {} must be at least 1, {} channels at least those of the input", to_string(spec.x),
           spec.stride, spec.num_channels);
    }
    return make_shortcut(spec, workspace_);
  }

  ElementwiseOps& elementwise() override { return *elementwise_; }

 private:
  std::unique_ptr<Device> device_;
  Workspace workspace_;
  DnnlRuntime dnnl_;
  std::unique_ptr<ElementwiseOps> elementwise_;
};

}  // namespace

std::unique_ptr<Library> make_cpu_library(std::int64_t threads) {
  return std::make_unique<CpuLibrary>(threads);
}

}  // namespace convoy::ops::cpu
