/// The fully connected layer on the CPU: three matrix products by oneDNN.
#include "convoy/ops/linear.h"

#include <memory>

#include "ops/cpu/dnnl_call.h"
#include "ops/cpu/operations.h"
#include "ops/cpu/storage.h"
#include "ops/cpu/widening.h"

namespace convoy::ops::cpu {

namespace {

using Tag = dnnl::memory::format_tag;

/// c (rows,columns) = a (rows,inner) b (inner,columns) [+ bias (1,columns)]. `ba` is the layout of a transposed matrix.
struct MatrixProduct {
  std::int64_t rows, inner, columns;
  Tag a = Tag::ab, b = Tag::ab;
  bool bias = false;
  DataType factors = DataType::kFloat32, result = DataType::kFloat32;
};

/// The three of a linear layer.
struct LinearProducts {
  explicit LinearProducts(const LinearSpec& spec)
      : forward{.rows = spec.n,
                .inner = spec.num_inputs,
                .columns = spec.num_outputs,
                .b = Tag::ba,
                .bias = true,
                .factors = spec.type},
        backward_input{.rows = spec.n,
                       .inner = spec.num_outputs,
                       .columns = spec.num_inputs,
                       .factors = spec.type,
                       .result = spec.type},
        backward_weight{
            .rows = spec.num_outputs, .inner = spec.n, .columns = spec.num_inputs, .a = Tag::ba, .factors = spec.type} {
  }

  MatrixProduct forward, backward_input, backward_weight;
};

dnnl::matmul::primitive_desc describe(const MatrixProduct& product, const dnnl::engine& engine) {
  const auto a = dnnl_layout({product.rows, product.inner}, product.a, product.factors);
  const auto b = dnnl_layout({product.inner, product.columns}, product.b, product.factors);
  const auto c = dnnl_layout({product.rows, product.columns}, Tag::ab, product.result);
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

template <typename T>
class CpuLinear final : public LinearOp {
 public:
  CpuLinear(const LinearSpec& spec, DnnlRuntime& runtime)
      : spec_(spec),
        forward_(plan(LinearProducts(spec).forward, runtime)),
        backward_input_(plan(LinearProducts(spec).backward_input, runtime)),
        backward_weight_(plan(LinearProducts(spec).backward_weight, runtime)) {}

  // y (N,K) = x (N,C) w^T (C,K) + b
  void forward(const void* x, const void* w, const float* b, float* y) override { forward_.run({x, w, y, b}); }

  // dx (N,C) = dy (N,K) w (K,C)
  void backward_input(const void* dy, const void* w, void* dx) override { backward_input_.run({dy, w, dx}); }

  // dw (K,C) = dy^T (K,N) x (N,C)      db = column sums of dy
  void backward_weight(const void* x, const void* dy_data, float* dw, float* db) override {
    backward_weight_.run({dy_data, x, dw});
    const T* dy = values_at<T>(dy_data);
    for (std::int64_t k = 0; k < spec_.num_outputs; ++k) {
      double sum = 0;
      for (std::int64_t n = 0; n < spec_.n; ++n) sum += static_cast<double>(to_float(dy[n * spec_.num_outputs + k]));
      db[k] = static_cast<float>(sum);
    }
  }

 private:
  LinearSpec spec_;
  DnnlCall forward_, backward_input_, backward_weight_;
};

/// In bf16 on a processor for which oneDNN has it in float32 alone: operands are widened, dx is rounded.
class WidenedLinear final : public LinearOp {
 public:
  WidenedLinear(const LinearSpec& spec, std::unique_ptr<LinearOp> float32, Widening& widening)
      : x_count_(spec.n * spec.num_inputs),
        w_count_(spec.num_outputs * spec.num_inputs),
        dy_count_(spec.n * spec.num_outputs),
        float32_(std::move(float32)),
        widening_(widening) {
    widening_.reserve(padded(x_count_) + padded(w_count_) + padded(dy_count_));
  }

  void forward(const void* x, const void* w, const float* b, float* y) override {
    widening_.widen(x, wide_x(), x_count_);
    widening_.widen(w, wide_w(), w_count_);
    float32_->forward(wide_x(), wide_w(), b, y);
  }
  void backward_input(const void* dy, const void* w, void* dx) override {
    widening_.widen(dy, wide_dy(), dy_count_);
    widening_.widen(w, wide_w(), w_count_);
    float32_->backward_input(wide_dy(), wide_w(), wide_x());
    widening_.round(wide_x(), dx, x_count_);
  }
  void backward_weight(const void* x, const void* dy, float* dw, float* db) override {
    widening_.widen(x, wide_x(), x_count_);
    widening_.widen(dy, wide_dy(), dy_count_);
    float32_->backward_weight(wide_x(), wide_dy(), dw, db);
  }

 private:
  static std::int64_t padded(std::int64_t count) { return round_up(count, 64 / kFloatBytes); }

  float* wide_x() const { return widening_.operands(); }
  float* wide_w() const { return wide_x() + padded(x_count_); }
  float* wide_dy() const { return wide_w() + padded(w_count_); }

  std::int64_t x_count_, w_count_, dy_count_;
  std::unique_ptr<LinearOp> float32_;
  Widening& widening_;
};

/// Whether oneDNN has it in spec.type for this processor.
bool has_linear(const LinearSpec& spec, const dnnl::engine& engine) {
  if (spec.type == DataType::kFloat32) return true;
  const LinearProducts products(spec);
  return has_dnnl([&] { return describe(products.forward, engine); }) &&
         has_dnnl([&] { return describe(products.backward_input, engine); }) &&
         has_dnnl([&] { return describe(products.backward_weight, engine); });
}

}  // namespace

std::unique_ptr<LinearOp> make_linear(const LinearSpec& spec, DnnlRuntime& runtime, Widening& widening) {
  const std::string what =
      fmt::format("a linear layer of {} samples, {} inputs, {} outputs", spec.n, spec.num_inputs, spec.num_outputs);
  return plan_with_dnnl(runtime, what, [&]() -> std::unique_ptr<LinearOp> {
    if (has_linear(spec, runtime.engine())) return make_stored<CpuLinear, LinearOp>(spec, runtime);
    LinearSpec float32 = spec;
    float32.type = DataType::kFloat32;
    return std::make_unique<WidenedLinear>(spec, std::make_unique<CpuLinear<float>>(float32, runtime), widening);
  });
}

}  // namespace convoy::ops::cpu
