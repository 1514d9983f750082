/// Vectors that are added to rows or multiply them, on the CPU: bound by memory.
#include "convoy/ops/broadcast.h"

#include <algorithm>
#include <memory>

#include "ops/cpu/linear/column_sum.h"
#include "ops/cpu/parallel.h"
#include "ops/cpu/resources.h"
#include "ops/cpu/simd.h"

namespace convoy::ops::cpu {

namespace {

/// Calls body.operator()<V>(i, at) for all values i of x, with V as in for_lanes(), where `at` is the index of the
/// value of v that belongs to value i. Threads take runs of values, since a row may be as long as a whole sequence.
template <typename Body>
void for_all_values(const BroadcastSpec& spec, int threads, const Body& body) {
  const std::int64_t width = spec.num_columns, rows_of_vector = spec.num_rows / spec.num_vectors;
  in_parts(spec.num_rows * width, threads, [=](Range range) {
    for (std::int64_t begin = range.begin; begin < range.end;) {
      const std::int64_t row = begin / width, end = std::min(range.end, (row + 1) * width);
      const std::int64_t to_vector = (row / rows_of_vector - row) * width;
      for_lanes(begin, end, [=]<typename V>(std::int64_t i, V) { body.template operator()<V>(i, i + to_vector); });
      begin = end;
    }
  });
}

/// T is the type of x, VT that of v.
template <typename T, typename VT>
class CpuBroadcast final : public BroadcastOp {
 public:
  CpuBroadcast(const BroadcastSpec& spec, Workspace& workspace) : spec_(spec), workspace_(workspace) {
    if (!has_single_rows()) workspace_.reserve(column_sum_scratch_bytes(sum_spec()));
  }

  void forward(const void* x, const void* v, void* y) override {
    const auto combine_by = [&](const auto& combine) {
      for_all_values(
          spec_, workspace_.threads(),
          [=, x = values_at<T>(x), v = values_at<VT>(v), y = values_at<T>(y)]<typename V>(
              std::int64_t i, std::int64_t at) { write(y + i, V(combine(read<V>(x + i), read<V>(v + at)))); });
    };
    if (spec_.kind == BroadcastKind::kAdd) {
      combine_by([](auto a, auto b) { return a + b; });
    } else {
      combine_by([](auto a, auto b) { return a * b; });
    }
  }

  void backward(const BroadcastBackward& args) override {
    const void* factors = spec_.kind == BroadcastKind::kMultiply ? args.x : nullptr;
    if (args.dv != nullptr) {
      if (has_single_rows())
        differentiate_single_rows(values_at<T>(args.dy), values_at<T>(factors), values_at<VT>(args.dv));
      else
        column_sum(sum_spec(), args.dy, args.dv, workspace_, factors);
    }
    if (args.dx != nullptr) forward(args.dy, args.v, args.dx);
  }

 private:
  bool has_single_rows() const { return spec_.num_rows == spec_.num_vectors; }
  ColumnSumSpec sum_spec() const {
    return {.num_rows = spec_.num_rows / spec_.num_vectors,
            .num_columns = spec_.num_columns,
            .type = spec_.type,
            .num_matrices = spec_.num_vectors,
            .sum_type = spec_.vector_type};
  }

  /// Computes dv if each vector belongs to one row, with the bits of column_sum(): a sum of one value is never -0.
  void differentiate_single_rows(const T* dy, const T* factors, VT* dv) const {
    for_all_values(spec_, workspace_.threads(), [=]<typename V>(std::int64_t i, std::int64_t) {
      const V factor = factors == nullptr ? V{} + 1.0f : read<V>(factors + i);
      write(dv + i, V(V{} + read<V>(dy + i) * factor));
    });
  }

  BroadcastSpec spec_;
  Workspace& workspace_;
};

}  // namespace

template <>
std::unique_ptr<BroadcastOp> make_op(const BroadcastSpec& spec, const Resources& resources) {
  return with_storage(spec.type, [&]<typename T>() {
    return with_storage(spec.vector_type, [&]<typename VT>() -> std::unique_ptr<BroadcastOp> {
      return std::make_unique<CpuBroadcast<T, VT>>(spec, resources.workspace);
    });
  });
}

}  // namespace convoy::ops::cpu
