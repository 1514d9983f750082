/// The CPU device's operations under one roof.
#include "convoy/ops/library.h"

#include <memory>

#include "convoy/base/error.h"

#include "ops/check_spec.h"
#include "ops/cpu/dnnl_call.h"
#include "ops/cpu/floats.h"
#include "ops/cpu/operations.h"
#include "ops/cpu/workspace.h"

namespace convoy::ops::cpu {

namespace {

class CpuLibrary final : public Library {
 public:
  explicit CpuLibrary(std::int64_t threads)
      : device_(make_cpu_device(threads)),
        workspace_(*device_, threads),
        dnnl_(workspace_),
        elementwise_(make_elementwise(workspace_)) {}

  Device& device() override { return *device_; }

  std::unique_ptr<ConvolutionOp> convolution(const ConvolutionSpec& spec) override {
    check(spec);
    check_float32("a convolution", spec.type);
    return make_convolution(spec, dnnl_);
  }

  std::unique_ptr<BatchNormOp> batch_norm(const BatchNormSpec& spec) override {
    check(spec);
    check_float32("batch normalisation", spec.type);
    return make_batch_norm(spec, workspace_);
  }

  std::unique_ptr<MaxPoolOp> max_pool(const PoolingSpec& spec) override {
    check_max_pool(spec);
    check_float32("max pooling", spec.type);
    return make_max_pool(spec, workspace_);
  }

  std::unique_ptr<AveragePoolOp> average_pool(const PoolingSpec& spec) override {
    check_average_pool(spec);
    check_float32("average pooling", spec.type);
    return make_average_pool(spec, workspace_);
  }

  std::unique_ptr<GlobalAveragePoolOp> global_average_pool(const GlobalPoolingSpec& spec) override {
    check(spec);
    check_float32("global average pooling", spec.type);
    return make_global_average_pool(spec, workspace_);
  }

  std::unique_ptr<LinearOp> linear(const LinearSpec& spec) override {
    check(spec);
    check_float32("a linear layer", spec.type);
    return make_linear(spec, dnnl_);
  }

  std::unique_ptr<SoftmaxCrossEntropyOp> softmax_cross_entropy(const SoftmaxCrossEntropySpec& spec) override {
    check(spec);
    check_float32("a softmax cross-entropy", spec.type);
    return make_softmax_cross_entropy(spec);
  }

  std::unique_ptr<ShortcutOp> shortcut(const ShortcutSpec& spec) override {
    check(spec);
    check_float32("a shortcut", spec.type);
    return make_shortcut(spec, workspace_);
  }

  std::unique_ptr<ImageBatchOp> image_batch(const ImageBatchSpec&) override { return nullptr; }

  ElementwiseOps& elementwise() override { return *elementwise_; }

 private:
  std::unique_ptr<Device> device_;
  Workspace workspace_;
  DnnlRuntime dnnl_;
  std::unique_ptr<ElementwiseOps> elementwise_;
};

}  // namespace

void check_float32(const char* what, DataType type) {
  if (type != DataType::kFloat32) fail("{} in {}: the CPU computes in f32 alone", what, to_string(type));
}

std::unique_ptr<Library> make_cpu_library(std::int64_t threads) {
  return std::make_unique<CpuLibrary>(threads);
}

}  // namespace convoy::ops::cpu
