/// Adds up the rows of one part of the columns at a time, in one pass that is bound by memory.
#include "ops/cpu/linear/column_sum.h"

#include <algorithm>

#include "ops/cpu/storage.h"

namespace convoy::ops::cpu {

namespace {

constexpr std::int64_t kRows = 1024;             // of a block
constexpr std::int64_t kColumns = 512;           // of a part: its sums stay in the nearest cache
constexpr std::int64_t kWorthThreads = 1 << 15;  // below, waking threads costs more than the loop

constexpr std::int64_t num_blocks(const ColumnSumSpec& spec) {
  return (spec.num_rows + kRows - 1) / kRows;
}

/// Adds value(row, k) to sums[k] row by row, four rows while a sum is in a register.
template <typename Value>
void add_rows(std::int64_t num_rows, std::int64_t count, double* sums, const Value& value) {
  std::int64_t row = 0;
  for (; row + 4 <= num_rows; row += 4) {
#pragma omp simd
    for (std::int64_t k = 0; k < count; ++k)
      sums[k] = (((sums[k] + value(row, k)) + value(row + 1, k)) + value(row + 2, k)) + value(row + 3, k);
  }
  for (; row < num_rows; ++row)
    for (std::int64_t k = 0; k < count; ++k) sums[k] += value(row, k);
}

/// Adds up part `part` of the columns in block `block` of the rows. factors may be null.
template <typename T>
void add_part(const ColumnSumSpec& spec, const T* matrix, const T* factors, std::int64_t block, std::int64_t part,
              double* block_sums) {
  const std::int64_t first = block * kRows, column = part * kColumns, stride = spec.num_columns;
  const std::int64_t rows = std::min(kRows, spec.num_rows - first), columns = std::min(kColumns, stride - column);
  double* sums = block_sums + block * stride + column;
  std::fill_n(sums, columns, 0.0);
  const auto value_of = [=, at = first * stride + column](const T* values) {
    return
        [=](std::int64_t row, std::int64_t k) { return static_cast<double>(to_float(values[at + row * stride + k])); };
  };
  const auto value = value_of(matrix), factor = value_of(factors);
  if (factors == nullptr) {
    add_rows(rows, columns, sums, value);
  } else {
    add_rows(rows, columns, sums, [=](std::int64_t row, std::int64_t k) { return value(row, k) * factor(row, k); });
  }
}

/// Adds up the sums of blocks of one matrix.
template <typename Sum>
void add_blocks(const ColumnSumSpec& spec, const double* block_sums, Sum* sums) {
  for (std::int64_t k = 0; k < spec.num_columns; ++k) {
    double sum = block_sums[k];
    for (std::int64_t block = 1; block < num_blocks(spec); ++block) sum += block_sums[block * spec.num_columns + k];
    sums[k] = rounded_to<Sum>(static_cast<float>(sum));
  }
}

}  // namespace

std::int64_t column_sum_scratch_bytes(const ColumnSumSpec& spec) {
  return spec.num_matrices * num_blocks(spec) * spec.num_columns * static_cast<std::int64_t>(sizeof(double));
}

void column_sum(const ColumnSumSpec& spec, const void* matrix, void* sums, const Workspace& workspace,
                const void* factors) {
  auto* block_sums = reinterpret_cast<double*>(workspace.scratch());
  const std::int64_t blocks = num_blocks(spec), parts = (spec.num_columns + kColumns - 1) / kColumns;
  const std::int64_t count = spec.num_rows * spec.num_columns, sum_count = blocks * spec.num_columns;
  const bool alone = spec.num_matrices * count < kWorthThreads || workspace.threads() == 1;
  with_storage(spec.type, [&]<typename T>() {
    const T *values = values_at<T>(matrix), *others = values_at<T>(factors);
#pragma omp parallel for collapse(3) schedule(static) num_threads(workspace.threads()) if (!alone)
    for (std::int64_t m = 0; m < spec.num_matrices; ++m)
      for (std::int64_t block = 0; block < blocks; ++block)
        for (std::int64_t part = 0; part < parts; ++part)
          add_part(spec, values + m * count, others == nullptr ? nullptr : others + m * count, block, part,
                   block_sums + m * sum_count);
  });
  with_storage(spec.sum_type, [&]<typename Sum>() {
    for (std::int64_t m = 0; m < spec.num_matrices; ++m)
      add_blocks(spec, block_sums + m * sum_count, values_at<Sum>(sums) + m * spec.num_columns);
  });
}

}  // namespace convoy::ops::cpu
