/// The CPU backend: all operations of the CPU device.
#include "ops/cpu/backend.h"

#include <memory>

#include "convoy/base/error.h"

#include "ops/check_spec.h"
#include "ops/cpu/onednn/dnnl_call.h"
#include "ops/cpu/onednn/widening.h"
#include "ops/cpu/resources.h"
#include "ops/cpu/storage.h"

namespace convoy::ops::cpu {

namespace {

class CpuBackend final : public Backend {
 public:
  explicit CpuBackend(std::int64_t threads)
      : device_(make_cpu_device(threads)),
        workspace_(*device_, threads),
        dnnl_(workspace_),
        elementwise_(make_elementwise(workspace_)),
        widening_(*device_, threads, *elementwise_) {}

  Device& device() override { return *device_; }

  AnyOp create_any(const AnyRequest& request) override {
    return create_requested(request, [this]<typename Op>(const typename Op::Spec& spec) {
      check<Op>(spec);
      if constexpr (requires { spec.type; }) check_is_stored(Op::kName, spec.type);
      return make_op<Op>(spec, {workspace_, dnnl_, widening_});
    });
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

std::unique_ptr<Backend> make_cpu_backend(std::int64_t threads) {
  return std::make_unique<CpuBackend>(threads);
}

}  // namespace convoy::ops::cpu
