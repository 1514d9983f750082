/// The CUDA device's operations under one roof.
#include "ops/cuda/library.h"

#include "device/cuda/cuda_device.h"
#include "ops/check_spec.h"
#include "ops/cuda/context.h"
#include "ops/cuda/cublas_runtime.h"
#include "ops/cuda/cudnn_runtime.h"
#include "ops/cuda/operations.h"

namespace convoy::ops::cuda {

namespace {

class CudaLibrary final : public Library {
 public:
  explicit CudaLibrary(const LibrarySpec& spec)
      : device_({.local_rank = spec.local_rank, .libraries = "cuDNN " + cudnn_version(), .records = spec.records}),
        context_(device_, device_.stream()),
        cudnn_(context_, {.gpu = device_.properties().name, .tf32 = spec.tf32, .plans = plans_}),
        cublas_(context_, spec.tf32),
        elementwise_(make_elementwise(context_)) {}

  Device& device() override { return device_; }

  std::unique_ptr<ConvolutionOp> convolution(const ConvolutionSpec& spec) override {
    check(spec);
    return make_convolution(spec, cudnn_);
  }

  std::unique_ptr<BatchNormOp> batch_norm(const BatchNormSpec& spec) override {
    check(spec);
    return make_batch_norm(spec, context_);
  }

  std::unique_ptr<MaxPoolOp> max_pool(const PoolingSpec& spec) override {
    check_max_pool(spec);
    return make_max_pool(spec, context_);
  }

  std::unique_ptr<AveragePoolOp> average_pool(const PoolingSpec& spec) override {
    check_average_pool(spec);
    return make_average_pool(spec, context_);
  }

  std::unique_ptr<GlobalAveragePoolOp> global_average_pool(const GlobalPoolingSpec& spec) override {
    check(spec);
    return make_global_average_pool(spec, context_);
  }

  std::unique_ptr<LinearOp> linear(const LinearSpec& spec) override {
    check(spec);
    return make_linear(spec, cublas_);
  }

  std::unique_ptr<SoftmaxCrossEntropyOp> softmax_cross_entropy(const SoftmaxCrossEntropySpec& spec) override {
    check(spec);
    return make_softmax_cross_entropy(spec, context_);
  }

  std::unique_ptr<ShortcutOp> shortcut(const ShortcutSpec& spec) override {
    check(spec);
    return make_shortcut(spec, context_);
  }

  std::unique_ptr<ImageBatchOp> image_batch(const ImageBatchSpec& spec) override {
    check(spec);
    return make_image_batch(spec, context_);
  }

  ElementwiseOps& elementwise() override { return *elementwise_; }
  std::int64_t scratch_bytes() const override { return context_.scratch_bytes(); }
  PlanCache* plans() override { return &plans_; }

 private:
  convoy::cuda::CudaDevice device_;
  Context context_;
  PlanCache plans_;
  CudnnRuntime cudnn_;
  CublasRuntime cublas_;
  std::unique_ptr<ElementwiseOps> elementwise_;
};

}  // namespace

std::string why_unavailable() {
  return convoy::cuda::why_no_gpu();
}

std::unique_ptr<Library> make_cuda_library(const LibrarySpec& spec) {
  return std::make_unique<CudaLibrary>(spec);
}

}  // namespace convoy::ops::cuda
