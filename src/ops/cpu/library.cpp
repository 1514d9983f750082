/// The CPU device's operations under one roof.
#include "convoy/ops/library.h"

#include <memory>

#include "convoy/base/error.h"

#include "ops/check_spec.h"
#include "ops/cpu/dnnl_call.h"
#include "ops/cpu/operations.h"
#include "ops/cpu/storage.h"
#include "ops/cpu/widening.h"
#include "ops/cpu/workspace.h"

namespace convoy::ops::cpu {

namespace {

class CpuLibrary final : public Library {
 public:
  explicit CpuLibrary(std::int64_t threads)
      : device_(make_cpu_device(threads)),
        workspace_(*device_, threads),
        dnnl_(workspace_),
        elementwise_(make_elementwise(workspace_)),
        widening_(*device_, threads, *elementwise_) {}

  Device& device() override { return *device_; }

  std::unique_ptr<ConvolutionOp> convolution(const ConvolutionSpec& spec) override {
    check(spec);
    check_is_stored("a convolution", spec.type);
    return make_convolution(spec, dnnl_, widening_);
  }

  std::unique_ptr<BatchNormOp> batch_norm(const BatchNormSpec& spec) override {
    check(spec);
    check_is_stored("batch normalisation", spec.type);
    return make_batch_norm(spec, workspace_);
  }

  std::unique_ptr<MaxPoolOp> max_pool(const PoolingSpec& spec) override {
    check_max_pool(spec);
    check_is_stored("max pooling", spec.type);
    return make_max_pool(spec, workspace_);
  }

  std::unique_ptr<AveragePoolOp> average_pool(const PoolingSpec& spec) override {
    check_average_pool(spec);
    check_is_stored("average pooling", spec.type);
    return make_average_pool(spec, workspace_);
  }

  std::unique_ptr<GlobalAveragePoolOp> global_average_pool(const GlobalPoolingSpec& spec) override {
    check(spec);
    check_is_stored("global average pooling", spec.type);
    return make_global_average_pool(spec, workspace_);
  }

  std::unique_ptr<LinearOp> linear(const LinearSpec& spec) override {
    check(spec);
    check_is_stored("a linear layer", spec.type);
    return make_linear(spec, dnnl_, widening_);
  }

  std::unique_ptr<SoftmaxCrossEntropyOp> softmax_cross_entropy(const SoftmaxCrossEntropySpec& spec) override {
    check(spec);
    check_is_stored("a softmax cross-entropy", spec.type);
    return make_softmax_cross_entropy(spec);
  }

  std::unique_ptr<ShortcutOp> shortcut(const ShortcutSpec& spec) override {
    check(spec);
    check_is_stored("a shortcut", spec.type);
    return make_shortcut(spec, workspace_);
  }

  std::unique_ptr<ImageBatchOp> image_batch(const ImageBatchSpec& spec) override {
    check(spec);
    check_is_stored("an input", spec.type);
    return make_image_batch(spec, workspace_);
  }

  ElementwiseOps& elementwise() override { return *elementwise_; }

  std::int64_t scratch_bytes() const override { return workspace_.scratch_bytes(); }

 private:
  std::unique_ptr<Device> device_;
  Workspace workspace_;
  DnnlRuntime dnnl_;
  std::unique_ptr<ElementwiseOps> elementwise_;
  Widening widening_;
};

}  // namespace

void check_is_stored(const char* what, DataType type) {
  if (type == DataType::kFloat16) fail("{} in {}: the CPU stores f32 and bf16", what, to_string(type));
}

std::unique_ptr<Library> make_cpu_library(std::int64_t threads) {
  return std::make_unique<CpuLibrary>(threads);
}

}  // namespace convoy::ops::cpu
