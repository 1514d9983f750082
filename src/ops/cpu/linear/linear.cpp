/// The fully connected layer on the CPU: matrix products by oneDNN, and an activation.
#include "convoy/ops/linear.h"

#include <memory>

#include "ops/cpu/elementwise/activation.h"
#include "ops/cpu/linear/column_sum.h"
#include "ops/cpu/linear/widened_linear.h"
#include "ops/cpu/onednn/matmul_parts.h"
#include "ops/cpu/resources.h"

namespace convoy::ops::cpu {

namespace {

class CpuLinear final : public LinearOp {
 public:
  CpuLinear(const LinearSpec& spec, DnnlRuntime& runtime)
      : spec_(spec),
        workspace_(runtime.workspace()),
        forward_(forward_product(spec), runtime),
        backward_input_(backward_input_product(spec), runtime),
        backward_weight_(backward_weight_product(spec), runtime),
        bias_gradient_{.num_rows = spec.n, .num_columns = spec.num_outputs, .type = spec.type} {
    runtime.workspace().reserve(column_sum_scratch_bytes(bias_gradient_));
  }

  // The activation is a pass of its own: products of blocks of rows, whose y would still be in the cache, take as much
  // longer as that saves, and oneDNN's own activations neither write y nor give these bits.
  void forward(const void* x, const void* w, const void* b, const LinearOutputs& out) override {
    void* y = out.y != nullptr ? out.y : out.activated;
    forward_.run(x, w, y, b);
    if (spec_.activation) activate(activation_of(spec_), y, out.activated, workspace_.threads());
  }

  void backward_input(const void* dy, const void* w, void* dx) override { backward_input_.run(dy, w, dx); }

  void backward_weight(const void* x, const void* dy, float* dw, float* db) override {
    backward_weight_.run(dy, x, dw);
    column_sum(bias_gradient_, dy, db, workspace_);
  }

 private:
  LinearSpec spec_;
  const Workspace& workspace_;
  MatmulParts forward_, backward_input_, backward_weight_;
  ColumnSumSpec bias_gradient_;
};

/// Whether oneDNN has all three products in spec.type for this processor.
bool has_products(const LinearSpec& spec, const DnnlRuntime& runtime) {
  if (spec.type == DataType::kFloat32) return true;
  return has_matmul_parts(forward_product(spec), runtime) && has_matmul_parts(backward_input_product(spec), runtime) &&
         has_matmul_parts(backward_weight_product(spec), runtime);
}

}  // namespace

template <>
std::unique_ptr<LinearOp> make_op(const LinearSpec& spec, const Resources& resources) {
  DnnlRuntime& runtime = resources.dnnl;
  const std::string what =
      fmt::format("a linear layer of {} rows, {} inputs, {} outputs", spec.n, spec.num_inputs, spec.num_outputs);
  return create_with_dnnl(runtime, what, [&]() -> std::unique_ptr<LinearOp> {
    if (has_products(spec, runtime)) return std::make_unique<CpuLinear>(spec, runtime);
    return make_widened_linear(spec, resources);
  });
}

}  // namespace convoy::ops::cpu
