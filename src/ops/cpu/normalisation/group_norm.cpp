/// Group normalisation on the CPU. Sums of columns, in double, give the statistics of all groups of a row; then each
/// value is computed from tables with numbers for each column of its row. Bound by memory.
#include "ops/cpu/normalisation/group_norm.h"

#include <algorithm>
#include <cmath>

#include "ops/cpu/linear/column_sum.h"
#include "ops/cpu/parallel.h"
#include "ops/cpu/simd.h"

namespace convoy::ops::cpu {

namespace {

/// The numbers of one row for each of its columns. Forward reads scale and mean alone.
struct ColumnTables {
  float* scale;  ///< gamma inv_std
  float* mean;
  float* slope;  ///< mean(g h) inv_std^2
  float* shift;  ///< mean(g) inv_std
};

template <typename T>
class CpuGroupNorm final : public LayerNormOp {
 public:
  CpuGroupNorm(const LayerNormSpec& spec, Workspace& workspace)
      : spec_(spec),
        sum_spec_{
            .num_rows = spec.num_pixels, .num_columns = spec.width, .type = spec.type, .num_matrices = spec.num_rows},
        count_(spec.num_rows * spec.width),
        workspace_(workspace) {
    const auto bytes_of_column = static_cast<std::int64_t>(2 * sizeof(double) + 4 * sizeof(float));
    workspace_.reserve(column_sum_scratch_bytes(sum_spec_) + count_ * bytes_of_column);
  }

  void forward(const LayerNormForward& args) override {
    column_sum_in_double(sum_spec_, args.x, first_sums(), workspace_);
    column_sum_in_double(sum_spec_, args.x, second_sums(), workspace_, args.x);
    for_all_groups([&](std::int64_t row, std::int64_t group) { normalise_group(args, row, group); });
    const T* x_data = values_at<T>(args.x);
    T* y_data = values_at<T>(args.y);
    const float* beta = args.beta;
    for_all_pixels([=, width = spec_.width](std::int64_t first, const ColumnTables& of) {
      const T* x = x_data + first;
      T* y = y_data + first;
      for_lanes(0, width, [&]<typename V>(std::int64_t i, V) {
        write(y + i, V((read<V>(x + i) - read<V>(of.mean + i)) * read<V>(of.scale + i) + read<V>(beta + i)));
      });
    });
  }

  void backward(const LayerNormBackward& args) override {
    column_sum_in_double(sum_spec_, args.dy, first_sums(), workspace_);
    column_sum_in_double(sum_spec_, args.dy, second_sums(), workspace_, args.x);
    for_all_groups([&](std::int64_t row, std::int64_t group) { differentiate_group(args, row, group); });
    if (args.dgamma != nullptr) {
      add_rows(second_sums(), args.dgamma);
      add_rows(first_sums(), args.dbeta);
    }
    const T *dy_data = values_at<T>(args.dy), *x_data = values_at<T>(args.x), *addend_data = values_at<T>(args.addend);
    T* dx_data = values_at<T>(args.dx);
    for_all_pixels([=, width = spec_.width](std::int64_t first, const ColumnTables& of) {
      const T *dy = dy_data + first, *x = x_data + first,
              *addend = addend_data == nullptr ? nullptr : addend_data + first;
      T* dx = dx_data + first;
      for_lanes(0, width, [&]<typename V>(std::int64_t i, V) {
        const V centred = read<V>(x + i) - read<V>(of.mean + i);
        const V slope =
            read<V>(dy + i) * read<V>(of.scale + i) - centred * read<V>(of.slope + i) - read<V>(of.shift + i);
        write(dx + i, addend == nullptr ? slope : V(read<V>(addend + i) + slope));
      });
    });
  }

 private:
  std::int64_t columns_of_group() const { return spec_.width / spec_.num_groups; }
  double values_of_group() const { return static_cast<double>(spec_.num_pixels * columns_of_group()); }

  // (R,C) each
  double* first_sums() const {
    return reinterpret_cast<double*>(workspace_.scratch() + column_sum_scratch_bytes(sum_spec_));
  }
  double* second_sums() const { return first_sums() + count_; }
  ColumnTables tables(std::int64_t row) const {
    float* const first = reinterpret_cast<float*>(second_sums() + count_) + row * spec_.width;
    return {first, first + count_, first + 2 * count_, first + 3 * count_};
  }

  /// Calls body(row, group) for all of them.
  template <typename Body>
  void for_all_groups(const Body& body) const {
#pragma omp parallel for schedule(static) num_threads(workspace_.threads()) if (count_ >= kWorthThreads)
    for (std::int64_t row = 0; row < spec_.num_rows; ++row)
      for (std::int64_t group = 0; group < spec_.num_groups; ++group) body(row, group);
  }
  /// Calls body(index of the first value, tables of the row) for each pixel of each row.
  template <typename Body>
  void for_all_pixels(const Body& body) const {
#pragma omp parallel num_threads(workspace_.threads())
    {
      const Range mine = my_part_of(spec_.num_rows * spec_.num_pixels);
      for (std::int64_t pixel = mine.begin; pixel < mine.end; ++pixel)
        body(pixel * spec_.width, tables(pixel / spec_.num_pixels));
    }
  }

  /// In double, mean(x^2) - mean(x)^2 loses no digits of float32 unless the mean is thousands of deviations from 0.
  void normalise_group(const LayerNormForward& args, std::int64_t row, std::int64_t group) const {
    const std::int64_t first = group * columns_of_group(), statistic = row * spec_.num_groups + group;
    const double* const sums = first_sums() + row * spec_.width + first;
    const double* const squares = second_sums() + row * spec_.width + first;
    double sum = 0, square_sum = 0;
    for (std::int64_t k = 0; k < columns_of_group(); ++k) {
      sum += sums[k];
      square_sum += squares[k];
    }
    const double mean = sum / values_of_group(), variance = square_sum / values_of_group() - mean * mean;
    const auto inv_std =
        static_cast<float>(1 / std::sqrt(std::max(variance, 0.0) + static_cast<double>(spec_.epsilon)));
    args.mean[statistic] = static_cast<float>(mean);
    args.inv_std[statistic] = inv_std;
    const ColumnTables of = tables(row);
    for (std::int64_t c = first; c < first + columns_of_group(); ++c) {
      of.mean[c] = args.mean[statistic];
      of.scale[c] = args.gamma[c] * args.inv_std[statistic];
    }
  }

  /// Replaces the second sums, of dy x, by those of dy h.
  void differentiate_group(const LayerNormBackward& args, std::int64_t row, std::int64_t group) const {
    const std::int64_t first = group * columns_of_group(), statistic = row * spec_.num_groups + group;
    const double* const dy_sums = first_sums() + row * spec_.width;
    double* const dyh_sums = second_sums() + row * spec_.width;
    const auto mean = static_cast<double>(args.mean[statistic]), inv_std = static_cast<double>(args.inv_std[statistic]);
    double g = 0, gh = 0;
    for (std::int64_t c = first; c < first + columns_of_group(); ++c) {
      dyh_sums[c] = (dyh_sums[c] - mean * dy_sums[c]) * inv_std;
      g += static_cast<double>(args.gamma[c]) * dy_sums[c];
      gh += static_cast<double>(args.gamma[c]) * dyh_sums[c];
    }
    const ColumnTables of = tables(row);
    for (std::int64_t c = first; c < first + columns_of_group(); ++c) {
      of.mean[c] = args.mean[statistic];
      of.scale[c] = args.gamma[c] * args.inv_std[statistic];
      of.slope[c] = static_cast<float>(gh / values_of_group() * inv_std * inv_std);
      of.shift[c] = static_cast<float>(g / values_of_group() * inv_std);
    }
  }

  void add_rows(const double* sums, float* to) const {
    for (std::int64_t c = 0; c < spec_.width; ++c) {
      double sum = 0;
      for (std::int64_t row = 0; row < spec_.num_rows; ++row) sum += sums[row * spec_.width + c];
      to[c] = static_cast<float>(sum);
    }
  }

  LayerNormSpec spec_;
  ColumnSumSpec sum_spec_;
  std::int64_t count_;  ///< R C
  Workspace& workspace_;
};

}  // namespace

std::unique_ptr<LayerNormOp> make_group_norm(const LayerNormSpec& spec, const Resources& resources) {
  return make_stored<CpuGroupNorm, LayerNormOp>(spec, resources.workspace);
}

}  // namespace convoy::ops::cpu
