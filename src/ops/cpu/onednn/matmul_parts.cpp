/// Parts of matrix products, described for oneDNN 2 and 3, and their sum.
#include "ops/cpu/onednn/matmul_parts.h"

#include <algorithm>

namespace convoy::ops::cpu {

namespace {

constexpr double kMinFlopPerPart = 4e6;     // below, waking a thread costs more time than it saves
constexpr std::int64_t kUnit = 16;          // ranges begin at multiples of it: vectors are whole
constexpr std::int64_t kMinRangeOfK = 256;  // sums of fewer products are not worth their addition

/// A range of each dimension.
struct Part {
  Range m, n, k;
};

std::int64_t units_of(std::int64_t count) {
  return (count + kUnit - 1) / kUnit;
}

Range range_of(std::int64_t count, std::int64_t index, std::int64_t ranges) {
  const Range units = part_of(units_of(count), index, ranges);
  return {kUnit * units.begin, std::min(kUnit * units.end, count)};
}

Part part_number(const MatmulSpec& product, const MatmulDivision& division, std::int64_t i) {
  return {.m = range_of(product.m, i / division.k / division.n, division.m),
          .n = range_of(product.n, i / division.k % division.n, division.n),
          .k = range_of(product.k, i % division.k, division.k)};
}

dnnl::memory::desc matrix(const Range& rows, const Range& columns, std::int64_t num_rows, std::int64_t num_columns,
                          bool transposed, DataType type) {
  const dnnl::memory::dims dims = {rows.end - rows.begin, columns.end - columns.begin};
  const dnnl::memory::dims strides = transposed ? dnnl::memory::dims{1, num_rows} : dnnl::memory::dims{num_columns, 1};
  return {dims, dnnl_type(type), strides};
}

const std::byte* at(const void* matrix, std::int64_t row, std::int64_t column, std::int64_t num_rows,
                    std::int64_t num_columns, bool transposed, DataType type) {
  const std::int64_t index = transposed ? column * num_rows + row : row * num_columns + column;
  return static_cast<const std::byte*>(matrix) + index * size_of(type);
}

dnnl::matmul::primitive_desc describe(const MatmulSpec& product, const Part& part, const dnnl::engine& engine) {
  const auto a = matrix(part.m, part.k, product.m, product.k, product.a_transposed, product.input_type);
  const auto b = matrix(part.k, part.n, product.k, product.n, product.b_transposed, product.input_type);
  const auto d = matrix(part.m, part.n, product.m, product.n, false, product.output_type);
  const auto bias =
      product.bias ? matrix({0, 1}, part.n, 1, product.n, false, product.output_type) : dnnl::memory::desc();
#if DNNL_VERSION_MAJOR >= 3
  return {engine, a, b, bias, d, DnnlRuntime::attributes()};
#else
  return {{a, b, bias, d}, DnnlRuntime::attributes(), engine};
#endif
}

DnnlCall create(const MatmulSpec& product, const Part& part, DnnlRuntime& runtime) {
  const auto description = describe(product, part, runtime.engine());
  std::vector<DnnlArgument> arguments = {{DNNL_ARG_SRC, description.src_desc()},
                                         {DNNL_ARG_WEIGHTS, description.weights_desc()},
                                         {DNNL_ARG_DST, description.dst_desc()}};
  if (product.bias)
    arguments.push_back({DNNL_ARG_BIAS, matrix({0, 1}, part.n, 1, product.n, false, product.output_type)});
  return DnnlCall::create<dnnl::matmul>(runtime, description, arguments);
}

double flop_of(const MatmulSpec& product) {
  return 2.0 * static_cast<double>(product.m * product.n) * static_cast<double>(product.k);
}

// Bytes that are read and written because of the division: operands are copied by each part that uses them, results of
// ranges of k are added.
double moved_bytes(const MatmulSpec& product, const MatmulDivision& division) {
  const auto m = static_cast<double>(product.m), n = static_cast<double>(product.n), k = static_cast<double>(product.k);
  const double copied = m * k * static_cast<double>(division.n - 1) + k * n * static_cast<double>(division.m - 1);
  const double added = division.k > 1 ? m * n * static_cast<double>(division.k) : 0;
  return 2 * (copied * static_cast<double>(size_of(product.input_type)) + added * kFloatBytes);
}

bool is_possible(const MatmulSpec& product, const MatmulDivision& division) {
  if (division.size() > kWantedParts || division.m > units_of(product.m) || division.n > units_of(product.n))
    return false;
  if (division.k == 1) return true;
  return !product.bias && product.output_type == DataType::kFloat32 && product.k >= division.k * kMinRangeOfK;
}

// Returns the cheapest division into at least the wanted number of parts or, if there is none, into the most parts.
MatmulDivision cheapest_division(const MatmulSpec& product, std::int64_t wanted) {
  MatmulDivision best;
  const auto price_of = [&](const MatmulDivision& division) -> DivisionPrice {
    return {division.size(), moved_bytes(product, division)};
  };
  for (std::int64_t m = kWantedParts; m >= 1; m /= 2)  // rows first: their results are contiguous
    for (std::int64_t n = 1; n <= kWantedParts; n *= 2)
      for (std::int64_t k = 1; k <= kWantedParts; k *= 2) {
        const MatmulDivision division{m, n, k};
        if (is_possible(product, division) && is_better(price_of(division), price_of(best), wanted)) best = division;
      }
  return best;
}

}  // namespace

MatmulDivision divide_matmul(const MatmulSpec& product) {
  const double flop = flop_of(product);
  const std::int64_t worth_a_thread = std::max(static_cast<std::int64_t>(flop / kMinFlopPerPart), std::int64_t{1});
  const MatmulDivision division = cheapest_division(product, std::min(worth_a_thread, kWantedParts));
  if (!moves_too_much(moved_bytes(product, division), flop, product.input_type)) return division;
  return cheapest_division(product, std::min(worth_a_thread, kFewerParts));
}

bool has_matmul_parts(const MatmulSpec& product, const DnnlRuntime& runtime) {
  const OneThread one_thread(runtime);
  const MatmulDivision division = divide_matmul(product);
  for (std::int64_t i = 0; i < division.size(); ++i)
    if (!has_dnnl([&] { return describe(product, part_number(product, division, i), runtime.engine()); })) return false;
  return true;
}

MatmulParts::MatmulParts(const MatmulSpec& product, DnnlRuntime& runtime)
    : product_(product), workspace_(&runtime.workspace()), division_(divide_matmul(product)), calls_(runtime) {
  {
    const OneThread one_thread(runtime);
    for (std::int64_t i = 0; i < division_.size(); ++i)
      calls_.add(create(product, part_number(product, division_, i), runtime));
  }
  sums_offset_ = round_up(calls_.scratchpad_bytes(), 64);
  runtime.workspace().reserve(scratch_bytes());
}

void MatmulParts::run(const void* a, const void* b, void* d, const void* bias) {
  const MatmulSpec& p = product_;
  calls_.run([&](DnnlCall& call, std::int64_t i, std::int64_t scratchpad_offset) {
    const Part part = part_number(p, division_, i);
    const std::int64_t range_of_k = i % division_.k;
    const void* sums =
        range_of_k == 0 ? d : workspace_->scratch() + sums_offset_ + (range_of_k - 1) * p.m * p.n * kFloatBytes;
    const std::byte* const a_part = at(a, part.m.begin, part.k.begin, p.m, p.k, p.a_transposed, p.input_type);
    const std::byte* const b_part = at(b, part.k.begin, part.n.begin, p.k, p.n, p.b_transposed, p.input_type);
    const std::byte* const d_part = at(sums, part.m.begin, part.n.begin, p.m, p.n, false, p.output_type);
    if (p.bias) {
      call.run({a_part, b_part, d_part, at(bias, 0, part.n.begin, 1, p.n, false, p.output_type)}, scratchpad_offset);
    } else {
      call.run({a_part, b_part, d_part}, scratchpad_offset);
    }
  });
  if (division_.k > 1) add_up(static_cast<float*>(d));
}

// Adds up each value by itself, in the order of k.
void MatmulParts::add_up(float* d) const {
  const std::int64_t count = product_.m * product_.n;
  const auto* const sums = reinterpret_cast<const float*>(workspace_->scratch() + sums_offset_);
  add_in_order(d, sums, count, division_.k - 1, count, workspace_->threads());
}

}  // namespace convoy::ops::cpu
