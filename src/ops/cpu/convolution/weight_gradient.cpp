/// Parts of weight gradients, and their sum.
#include "ops/cpu/convolution/weight_gradient.h"

#include <algorithm>
#include <cstring>

#include "ops/cpu/convolution/convolution_descriptions.h"

namespace convoy::ops::cpu {

namespace {

constexpr std::int64_t kMaxParts = 16;
constexpr std::int64_t kLanes = 16;  // a part has whole vectors of filters: oneDNN's kernels are slow on less

// The time of reading x once more, relative to that of copying it: oneDNN transposes x, in pairs if it is bf16.
// Measured for ResNet-50's layers on a Xeon with AMX.
double price_of_reading_x(DataType type) {
  return type == DataType::kFloat32 ? 2 : 4;
}

// The number of bytes that are moved because of the division: results and their sum, copies, x that is read again.
double moved_bytes(const ConvolutionSpec& spec, const WeightGradientDivision& division) {
  const auto value_bytes = static_cast<double>(size_of(spec.type)), x = static_cast<double>(spec.x.count()),
             dy = static_cast<double>(spec.y().count()), dw = static_cast<double>(spec.weight_count());
  double bytes = division.samples > 1 ? 2 * static_cast<double>(division.samples) * dw * kFloatBytes : 0;
  if (division.filters > 1) {
    const double x_reads =
        spec.groups > 1 ? 2 : price_of_reading_x(spec.type) * static_cast<double>(division.filters - 1);
    bytes += (2 * dy + x_reads * x) * value_bytes;
  }
  return bytes;
}

bool divides(std::int64_t divisor, std::int64_t value) {
  return value % divisor == 0;
}

bool is_possible(const ConvolutionSpec& spec, const WeightGradientDivision& division) {
  if (division.size() > kMaxParts || !divides(division.samples, spec.x.n)) return false;
  if (division.filters == 1) return true;
  return divides(division.filters * kLanes, spec.num_filters) &&
         (spec.groups == 1 || divides(division.filters, spec.groups));
}

// Returns the cheapest division into at least the wanted number of parts or, if there is none, into the most parts.
WeightGradientDivision cheapest_division(const ConvolutionSpec& spec, std::int64_t wanted) {
  WeightGradientDivision best;
  const auto price_of = [&](const WeightGradientDivision& division) -> DivisionPrice {
    return {division.size(), moved_bytes(spec, division)};
  };
  for (std::int64_t samples = 1; samples <= kMaxParts; ++samples)
    for (std::int64_t filters = 1; filters <= kMaxParts; ++filters) {
      const WeightGradientDivision division{samples, filters};
      if (is_possible(spec, division) && is_better(price_of(division), price_of(best), wanted)) best = division;
    }
  return best;
}

}  // namespace

WeightGradientDivision divide_weight_gradient(const ConvolutionSpec& spec) {
  const WeightGradientDivision division = cheapest_division(spec, kWantedParts);
  if (!moves_too_much(moved_bytes(spec, division), spec.forward_flop(), spec.type)) return division;
  return cheapest_division(spec, kFewerParts);
}

ConvolutionSpec part_of_weight_gradient(const ConvolutionSpec& spec, const WeightGradientDivision& division) {
  ConvolutionSpec part = spec;
  part.x.n /= division.samples;
  part.num_filters /= division.filters;
  if (spec.groups > 1) {
    part.x.c /= division.filters;
    part.groups /= division.filters;
  }
  return part;
}

WeightGradient::WeightGradient(const ConvolutionSpec& spec, DnnlRuntime& runtime)
    : spec_(spec),
      runtime_(runtime),
      division_(divide_weight_gradient(spec)),
      part_(part_of_weight_gradient(spec, division_)),
      parts_(runtime) {
  create_parts();
  reserve_scratch();
}

void WeightGradient::create_parts() {
  const ConvolutionLayouts layouts(part_);
  dnnl::memory::desc packed;
  {
    const OneThread one_thread(runtime_);
    const dnnl::engine& engine = runtime_.engine();
    const auto description = describe_backward_weight(part_, engine, describe_forward(part_, engine));
    packed = description.diff_weights_desc();
    for (std::int64_t i = 0; i < division_.size(); ++i)
      parts_.add(DnnlCall::create<DnnlBackwardWeight>(
          runtime_, description,
          {{DNNL_ARG_SRC, layouts.x}, {DNNL_ARG_DIFF_DST, layouts.y}, {DNNL_ARG_DIFF_WEIGHTS, packed}}));
  }
  packed_count_ = static_cast<std::int64_t>(packed.get_size()) / kFloatBytes;
  dw_is_plain_ = packed == layouts.plain_gradient;
  if (!dw_is_plain_) unpack_ = create_reorder(runtime_, packed, layouts.plain_gradient);
}

// The scratch memory contains oneDNN's scratchpads, then results, then copies of dy and x.
void WeightGradient::reserve_scratch() {
  const std::int64_t value_bytes = size_of(spec_.type);
  packed_offset_ = round_up(std::max(parts_.scratchpad_bytes(), unpack_.scratchpad_bytes()), 64);
  dy_offset_ = packed_offset_ + division_.size() * packed_stride();
  x_offset_ = dy_offset_ + (copies_dy() ? round_up(spec_.y().count() * value_bytes, 64) : 0);
  runtime_.workspace().reserve(x_offset_ + (copies_x() ? spec_.x.count() * value_bytes : 0));
}

void WeightGradient::run(const void* x, const void* dy, float* dw) {
  const auto *from_x = static_cast<const std::byte*>(x), *from_dy = static_cast<const std::byte*>(dy);
  if (copies_dy()) {
    copy_ranges(dy, spec_.y(), scratch(dy_offset_));
    from_dy = scratch(dy_offset_);
  }
  if (copies_x()) {
    copy_ranges(x, spec_.x, scratch(x_offset_));
    from_x = scratch(x_offset_);
  }
  const std::int64_t x_bytes = part_.x.count() * size_of(spec_.type),
                     dy_bytes = part_.y().count() * size_of(spec_.type);
  parts_.run([&](DnnlCall& call, std::int64_t i, std::int64_t scratchpad_offset) {
    const std::int64_t filters = i / division_.samples, samples = i % division_.samples;
    call.run({from_x + (copies_x() ? i : samples) * x_bytes, from_dy + i * dy_bytes, result(samples, filters, dw)},
             scratchpad_offset);
  });
  if (division_.samples > 1) add_up(dw);
  if (dw_is_plain_) return;
  for (std::int64_t f = 0; f < division_.filters; ++f) unpack_.run({result(0, f, dw), dw + f * part_.weight_count()});
}

// Copies (N,H,W,C) to (filters, N, H, W, C / filters).
void WeightGradient::copy_ranges(const void* from, const Shape& shape, std::byte* to) const {
  const std::int64_t pixels = shape.pixels(), range_bytes = shape.c / division_.filters * size_of(spec_.type);
  const auto* const bytes = static_cast<const std::byte*>(from);
#pragma omp parallel for schedule(static) num_threads(runtime_.workspace().threads())
  for (std::int64_t pixel = 0; pixel < pixels; ++pixel)
    for (std::int64_t f = 0; f < division_.filters; ++f)
      std::memcpy(to + (f * pixels + pixel) * range_bytes, bytes + (pixel * division_.filters + f) * range_bytes,
                  static_cast<std::size_t>(range_bytes));
}

// The memory to which a part writes its result: dw, if the layout is that of dw and the part is the first range of
// samples; else scratch memory.
float* WeightGradient::result(std::int64_t samples, std::int64_t filters, float* dw) const {
  if (dw_is_plain_ && samples == 0) return dw + filters * part_.weight_count();
  return reinterpret_cast<float*>(scratch(packed_offset_ + (filters * division_.samples + samples) * packed_stride()));
}

// Adds up the results in the order of the samples.
void WeightGradient::add_up(float* dw) const {
  for (std::int64_t f = 0; f < division_.filters; ++f)
    add_in_order(result(0, f, dw), result(1, f, dw), packed_count_, division_.samples - 1,
                 packed_stride() / kFloatBytes, runtime_.workspace().threads());
}

}  // namespace convoy::ops::cpu
