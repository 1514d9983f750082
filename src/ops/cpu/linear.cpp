/// The fully connected layer on the CPU: three matrix products by oneDNN.
#include "convoy/ops/linear.h"

#include <memory>

#include "ops/cpu/dnnl_call.h"
#include "ops/cpu/floats.h"
#include "ops/cpu/operations.h"

namespace convoy::ops::cpu {

namespace {

using Tag = dnnl::memory::format_tag;

/// c (rows,columns) = a (rows,inner) b (inner,columns) [+ bias (1,columns)]. `ba` is the layout of a transposed matrix.
struct MatrixProduct {
  std::int64_t rows, inner, columns;
  Tag a = Tag::ab, b = Tag::ab;
  bool bias = false;
};

dnnl::matmul::primitive_desc describe(const MatrixProduct& product, const dnnl::engine& engine) {
  const auto a = dnnl_layout({product.rows, product.inner}, product.a);
  const auto b = dnnl_layout({product.inner, product.columns}, product.b);
  const auto c = dnnl_layout({product.rows, product.columns}, Tag::ab);
  const auto bias = product.bias ? dnnl_layout({1, product.columns}, Tag::ab) : dnnl::memory::desc();
#if DNNL_VERSION_MAJOR >= 3
  return {engine, a, b, bias, c, DnnlRuntime::attributes()};
#else
  return {{a, b, bias, c}, DnnlRuntime::attributes(), engine};
#endif
}

DnnlCall plan(const MatrixProduct& product, DnnlRuntime& runtime) {
  const auto description = describe(product, runtime.engine());
  std::vector<DnnlArgument> arguments = {{DNNL_ARG_SRC, description.src_desc()},
                                         {DNNL_ARG_WEIGHTS, description.weights_desc()},
                                         {DNNL_ARG_DST, description.dst_desc()}};
  if (product.bias) arguments.push_back({DNNL_ARG_BIAS, dnnl_layout({1, product.columns}, Tag::ab)});
  return DnnlCall::plan<dnnl::matmul>(runtime, description, arguments);
}

class CpuLinear final : public LinearOp {
 public:
  CpuLinear(const LinearSpec& spec, DnnlRuntime& runtime)
      : spec_(spec),
        forward_(plan({spec.n, spec.num_inputs, spec.num_outputs, Tag::ab, Tag::ba, true}, runtime)),
        backward_input_(plan({spec.n, spec.num_outputs, spec.num_inputs}, runtime)),
        backward_weight_(plan({spec.num_outputs, spec.n, spec.num_inputs, Tag::ba, Tag::ab}, runtime)) {}

  // y (N,K) = x (N,C) w^T (C,K) + b
  void forward(const void* x, const void* w, const float* b, float* y) override { forward_.run({x, w, y, b}); }

  // dx (N,C) = dy (N,K) w (K,C)
  void backward_input(const void* dy, const void* w, void* dx) override { backward_input_.run({dy, w, dx}); }

  // dw (K,C) = dy^T (K,N) x (N,C)      db = column sums of dy
  void backward_weight(const void* x, const void* dy_data, float* dw, float* db) override {
    backward_weight_.run({dy_data, x, dw});
    const float* dy = floats(dy_data);
    for (std::int64_t k = 0; k < spec_.num_outputs; ++k) {
      double sum = 0;
      for (std::int64_t n = 0; n < spec_.n; ++n) sum += static_cast<double>(dy[n * spec_.num_outputs + k]);
      db[k] = static_cast<float>(sum);
    }
  }

 private:
  LinearSpec spec_;
  DnnlCall forward_, backward_input_, backward_weight_;
};

}  // namespace

std::unique_ptr<LinearOp> make_linear(const LinearSpec& spec, DnnlRuntime& runtime) {
  const std::string what =
      fmt::format("a linear layer of {} samples, {} inputs, {} outputs", spec.n, spec.num_inputs, spec.num_outputs);
  return plan_with_dnnl(runtime, what, [&] { return std::make_unique<CpuLinear>(spec, runtime); });
}

}  // namespace convoy::ops::cpu
