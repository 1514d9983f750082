/// A vector that is added to every row or multiplies it, on the CPU: bound by memory.
#include "convoy/ops/broadcast.h"

#include <algorithm>
#include <memory>

#include "ops/cpu/linear/column_sum.h"
#include "ops/cpu/parallel.h"
#include "ops/cpu/resources.h"
#include "ops/cpu/simd.h"

namespace convoy::ops::cpu {

namespace {

template <typename T>
class CpuBroadcast final : public BroadcastOp {
 public:
  CpuBroadcast(const BroadcastSpec& spec, Workspace& workspace) : spec_(spec), workspace_(workspace) {
    workspace_.reserve(column_sum_scratch_bytes(sum_spec()));
  }

  void forward(const void* x, const float* v, void* y) override {
    if (spec_.kind == BroadcastKind::kAdd) {
      for_all(x, v, y, [](auto a, auto b) { return a + b; });
    } else {
      for_all(x, v, y, [](auto a, auto b) { return a * b; });
    }
  }

  void backward(const BroadcastBackward& args) override {
    const bool multiplies = spec_.kind == BroadcastKind::kMultiply;
    if (args.dv != nullptr) column_sum(sum_spec(), args.dy, args.dv, workspace_, multiplies ? args.x : nullptr);
    if (args.dx != nullptr) forward(args.dy, args.v, args.dx);
  }

 private:
  ColumnSumSpec sum_spec() const {
    return {.num_rows = spec_.num_rows, .num_columns = spec_.num_columns, .type = spec_.type};
  }

  /// Combines all values of x with v. Threads take runs of values, since a row may be as long as a whole sequence.
  template <typename Combine>
  void for_all(const void* x_data, const float* v, void* y_data, const Combine& combine) const {
    const T* x = values_at<T>(x_data);
    T* y = values_at<T>(y_data);
    const std::int64_t width = spec_.num_columns;
    in_parts(spec_.num_rows * width, workspace_.threads(), [=](Range range) {
      for (std::int64_t at = range.begin; at < range.end;) {
        const std::int64_t row = at / width * width, end = std::min(range.end, row + width);
        for_lanes(at, end, [=]<typename V>(std::int64_t i, V) {
          write(y + i, V(combine(read<V>(x + i), read<V>(v + (i - row)))));
        });
        at = end;
      }
    });
  }

  BroadcastSpec spec_;
  Workspace& workspace_;
};

}  // namespace

template <>
std::unique_ptr<BroadcastOp> make_op(const BroadcastSpec& spec, const Resources& resources) {
  return make_stored<CpuBroadcast, BroadcastOp>(spec, resources.workspace);
}

}  // namespace convoy::ops::cpu
