/// The fully connected layer on a GPU: three matrix products by cublasLt and a sum of columns.
#include "convoy/ops/linear.h"

#include "ops/cuda/column_sum.h"
#include "ops/cuda/cublas_runtime.h"
#include "ops/cuda/linear_products.h"
#include "ops/cuda/operations.h"

namespace convoy::ops::cuda {

namespace {

class CublasLinear final : public LinearOp {
 public:
  CublasLinear(const LinearSpec& spec, CublasRuntime& cublas)
      : spec_(spec),
        context_(cublas.context()),
        forward_(forward_product(spec), cublas),
        backward_input_(backward_input_product(spec), cublas),
        backward_weight_(backward_weight_product(spec), cublas) {}

  void forward(const void* x, const void* w, const float* b, float* y) override {
    forward_.run({.a = x, .b = w, .bias = b, .d = y});
  }

  void backward_input(const void* dy, const void* w, void* dx) override {
    backward_input_.run({.a = dy, .b = w, .d = dx});
  }

  void backward_weight(const void* x, const void* dy, float* dw, float* db) override {
    backward_weight_.run({.a = dy, .b = x, .d = dw});
    column_sum({.num_rows = spec_.n, .num_columns = spec_.num_outputs, .type = spec_.type}, dy, db, context_);
  }

 private:
  LinearSpec spec_;
  const Context& context_;
  Matmul forward_, backward_input_, backward_weight_;
};

}  // namespace

std::unique_ptr<LinearOp> make_linear(const LinearSpec& spec, CublasRuntime& cublas) {
  return std::make_unique<CublasLinear>(spec, cublas);
}

}  // namespace convoy::ops::cuda
