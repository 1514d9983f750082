/// Computes a bf16 layer by float32 products of blocks of rows.
#include "ops/cpu/linear/widened_linear.h"

#include <algorithm>

#include "ops/cpu/elementwise/activation.h"
#include "ops/cpu/linear/column_sum.h"
#include "ops/cpu/onednn/matmul_parts.h"
#include "ops/cpu/onednn/widening.h"
#include "ops/cpu/storage.h"

namespace convoy::ops::cpu {

namespace {

constexpr std::int64_t kBlockFloats = 1 << 20;  // of x and y together: 4 MiB

/// The same layer in float32.
LinearSpec in_float32(LinearSpec spec) {
  spec.type = spec.y_type = DataType::kFloat32;
  return spec;
}

LinearSpec with_rows(LinearSpec spec, std::int64_t rows) {
  spec.n = rows;
  return spec;
}

std::int64_t rows_at_a_time(const LinearSpec& spec) {
  return std::clamp(kBlockFloats / (spec.num_inputs + spec.num_outputs), std::int64_t{1}, spec.n);
}

/// The product of some rows at a time: each call takes the given number of rows, the last one the rest of the n rows.
class RowsProduct {
 public:
  using Product = MatmulSpec (*)(const LinearSpec& spec);

  RowsProduct(Product product, const LinearSpec& spec, std::int64_t rows, DnnlRuntime& runtime)
      : num_rows_(rows), rows_(product(with_rows(spec, rows)), runtime) {
    if (const std::int64_t rest = spec.n % rows; rest > 0) rest_ = MatmulParts(product(with_rows(spec, rest)), runtime);
  }

  void run(std::int64_t rows, const void* a, const void* b, void* d, const void* bias = nullptr) {
    (rows == num_rows_ ? rows_ : rest_).run(a, b, d, bias);
  }

 private:
  std::int64_t num_rows_;
  MatmulParts rows_, rest_;
};

/// Calls body(first row, number of rows) for blocks of `rows` rows, then for the rest.
template <typename Body>
void for_row_blocks(std::int64_t num_rows, std::int64_t rows, Body&& body) {
  for (std::int64_t row = 0; row < num_rows; row += rows) body(row, std::min(rows, num_rows - row));
}

class WidenedLinear final : public LinearOp {
 public:
  WidenedLinear(const LinearSpec& spec, const Resources& resources)
      : spec_(spec),
        rows_(rows_at_a_time(spec)),
        widening_(resources.widening),
        workspace_(resources.workspace),
        forward_(&forward_product, in_float32(spec), rows_, resources.dnnl),
        backward_input_(&backward_input_product, in_float32(spec), rows_, resources.dnnl),
        backward_weight_(&backward_weight_product, in_float32(spec), rows_, resources.dnnl),
        bias_gradient_{.num_rows = spec.n, .num_columns = spec.num_outputs, .type = spec.type} {
    widening_.reserve(Widening::padded(w_count()) + Widening::padded(spec.num_outputs) +
                      Widening::padded(rows_ * spec.num_inputs) + Widening::padded(rows_ * spec.num_outputs));
    resources.workspace.reserve(column_sum_scratch_bytes(bias_gradient_));
  }

  void forward(const void* x, const void* w, const void* b, const LinearOutputs& out) override {
    const bool rounds = spec_.y_type != DataType::kFloat32;
    widening_.widen(w, wide_w(), w_count());
    if (rounds) widening_.widen(b, wide_b(), spec_.num_outputs);
    for_row_blocks(spec_.n, rows_, [&](std::int64_t row, std::int64_t rows) {
      widening_.widen(row_of_x(x, row), wide_x(), rows * spec_.num_inputs);
      std::byte* y = row_of_result(out.y != nullptr ? out.y : out.activated, row);
      const std::int64_t count = rows * spec_.num_outputs;
      if (rounds) {
        forward_.run(rows, wide_x(), wide_w(), wide_y(), wide_b());
        widening_.round(wide_y(), y, count);
      } else {
        forward_.run(rows, wide_x(), wide_w(), y, b);
      }
      if (!spec_.activation) return;
      activate(activation_of(with_rows(spec_, rows)), y, row_of_result(out.activated, row), workspace_.threads());
    });
  }

  void backward_input(const void* dy, const void* w, void* dx) override {
    widening_.widen(w, wide_w(), w_count());
    for_row_blocks(spec_.n, rows_, [&](std::int64_t row, std::int64_t rows) {
      widening_.widen(row_of_y(dy, row), wide_y(), rows * spec_.num_outputs);
      backward_input_.run(rows, wide_y(), wide_w(), wide_x());
      widening_.round(wide_x(), values_at<Bf16>(dx) + row * spec_.num_inputs, rows * spec_.num_inputs);
    });
  }

  void backward_weight(const void* x, const void* dy, float* dw, float* db) override {
    for_row_blocks(spec_.n, rows_, [&](std::int64_t row, std::int64_t rows) {
      widening_.widen(row_of_x(x, row), wide_x(), rows * spec_.num_inputs);
      widening_.widen(row_of_y(dy, row), wide_y(), rows * spec_.num_outputs);
      float* part = row == 0 ? dw : wide_w();
      backward_weight_.run(rows, wide_y(), wide_x(), part);
      if (row > 0) widening_.add(part, dw, w_count());
    });
    column_sum(bias_gradient_, dy, db, workspace_);
  }

 private:
  std::int64_t w_count() const { return spec_.num_outputs * spec_.num_inputs; }

  float* wide_w() const { return widening_.operands(); }
  float* wide_b() const { return wide_w() + Widening::padded(w_count()); }
  float* wide_x() const { return wide_b() + Widening::padded(spec_.num_outputs); }
  float* wide_y() const { return wide_x() + Widening::padded(rows_ * spec_.num_inputs); }

  const Bf16* row_of_x(const void* x, std::int64_t row) const { return values_at<Bf16>(x) + row * spec_.num_inputs; }
  const Bf16* row_of_y(const void* y, std::int64_t row) const { return values_at<Bf16>(y) + row * spec_.num_outputs; }
  /// The given row of y or of the activated y, in y_type.
  std::byte* row_of_result(void* y, std::int64_t row) const {
    return static_cast<std::byte*>(y) + row * spec_.num_outputs * size_of(spec_.y_type);
  }

  LinearSpec spec_;
  std::int64_t rows_;
  Widening& widening_;
  const Workspace& workspace_;
  RowsProduct forward_, backward_input_, backward_weight_;
  ColumnSumSpec bias_gradient_;
};

}  // namespace

std::unique_ptr<LinearOp> make_widened_linear(const LinearSpec& spec, const Resources& resources) {
  return std::make_unique<WidenedLinear>(spec, resources);
}

}  // namespace convoy::ops::cpu
