/// The CUDA backend: all operations of the CUDA device.
#include "ops/cuda/backend.h"

#include "device/cuda/cuda_device.h"
#include "ops/check_spec.h"
#include "ops/cuda/cublas/cublas_runtime.h"
#include "ops/cuda/cudnn/cudnn_runtime.h"
#include "ops/cuda/resources.h"

namespace convoy::ops::cuda {

namespace {

class CudaBackend final : public Backend {
 public:
  explicit CudaBackend(const BackendSpec& spec)
      : device_({.local_rank = spec.local_rank, .libraries = "cuDNN " + cudnn_version()}),
        context_(device_, device_.stream()),
        cublas_(context_, spec.tf32),
        cudnn_(context_, {.gpu = device_.properties().name, .tf32 = spec.tf32, .engine_cache = engine_cache_}),
        elementwise_(make_elementwise(context_)) {}

  Device& device() override { return device_; }

  AnyOp create_any(const AnyRequest& request) override {
    return create_requested(request, [this]<typename Op>(const typename Op::Spec& spec) {
      check<Op>(spec);
      return make_op<Op>(spec, {context_, &cudnn_, &cublas_});
    });
  }
  ElementwiseOps& elementwise() override { return *elementwise_; }
  std::int64_t scratch_bytes() const override { return context_.scratch_bytes(); }
  EngineCache* engine_cache() override { return &engine_cache_; }

 private:
  convoy::cuda::CudaDevice device_;
  Context context_;
  EngineCache engine_cache_;
  CublasRuntime cublas_;  // before cuDNN, which uses cublasLt: it then finds the library open, in whatever folder it is
  CudnnRuntime cudnn_;
  std::unique_ptr<ElementwiseOps> elementwise_;
};

}  // namespace

std::string why_unavailable() {
  return convoy::cuda::why_no_gpu();
}

std::unique_ptr<Backend> make_cuda_backend(const BackendSpec& spec) {
  return std::make_unique<CudaBackend>(spec);
}

}  // namespace convoy::ops::cuda
