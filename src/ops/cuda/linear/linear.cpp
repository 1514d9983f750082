/// The fully connected layer on a GPU: three matrix products by cublasLt, an activation and a sum of columns.
#include "convoy/ops/linear.h"

#include <memory>
#include <utility>

#include "ops/cuda/cublas/cublas_runtime.h"
#include "ops/cuda/resources.h"

namespace convoy::ops::cuda {

namespace {

class CublasLinear final : public LinearOp {
 public:
  CublasLinear(const LinearSpec& spec, CublasRuntime& cublas, std::unique_ptr<ActivationOp> activation)
      : spec_(spec),
        context_(cublas.context()),
        activation_(std::move(activation)),
        forward_(forward_product(spec), cublas),
        backward_input_(backward_input_product(spec), cublas),
        backward_weight_(backward_weight_product(spec), cublas) {
    cublas.context().reserve_scratch(column_sum_scratch_bytes(bias_sums()));
  }

  void forward(const void* x, const void* w, const void* b, const LinearOutputs& out) override {
    void* y = out.y != nullptr ? out.y : out.activated;
    forward_.run({.a = x, .b = w, .bias = b, .d = y});
    if (activation_ != nullptr) activation_->forward(y, out.activated);
  }

  void backward_input(const void* dy, const void* w, void* dx) override {
    backward_input_.run({.a = dy, .b = w, .d = dx});
  }

  void backward_weight(const void* x, const void* dy, float* dw, float* db) override {
    backward_weight_.run({.a = dy, .b = x, .d = dw});
    column_sum(bias_sums(), {.matrix = dy, .sums = db, .scratch = reinterpret_cast<float*>(context_.scratch())},
               context_);
  }

 private:
  ColumnSumSpec bias_sums() const {
    return {.num_rows = spec_.n, .num_columns = spec_.num_outputs, .type = spec_.type};
  }

  LinearSpec spec_;
  const Context& context_;
  std::unique_ptr<ActivationOp> activation_;  ///< null: none. cublasLt's own read the sum before it is rounded
  Matmul forward_, backward_input_, backward_weight_;
};

}  // namespace

template <>
std::unique_ptr<LinearOp> make_op(const LinearSpec& spec, const Resources& resources) {
  auto activation = spec.activation ? make_op<ActivationOp>(activation_of(spec), resources) : nullptr;
  return std::make_unique<CublasLinear>(spec, *resources.cublas, std::move(activation));
}

}  // namespace convoy::ops::cuda
