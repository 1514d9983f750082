/// Checks extents, windows and channels.
#include "ops/check_spec.h"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "convoy/base/error.h"

namespace convoy::ops {

namespace {

constexpr std::array<std::int64_t, 4> kHeadWidths = {16, 32, 64, 128};
constexpr std::int64_t kMaxDropoutCount = std::int64_t{1} << 35;  // blocks of eight are counted in 32 bits
constexpr std::int64_t kMaxVectors = 65535;                       // the third extent of a CUDA grid
constexpr std::int64_t kMaxWords = std::int64_t{1} << 30;         // of a batch or a table: they are counted in 32 bits

void check_shape(const char* operation, const Shape& x) {
  if (std::min({x.n, x.h, x.w, x.c}) < 1) fail("{} of {}: every extent must be at least 1", operation, to_string(x));
  if (x.d != 1) fail("{} of {}: volumes are not supported; give one slice per sample", operation, to_string(x));
}

/// Checks the spec of an operation that slides a window of this extent over x.
template <typename Spec>
void check_window(const char* operation, const Spec& spec, std::int64_t window) {
  check_shape(operation, spec.x);
  if (spec.kernel < 1 || spec.stride < 1 || spec.padding < 0) {
    fail("{} of {}: kernel {} and stride {} must be at least 1, padding {} at least 0", operation, to_string(spec.x),
         spec.kernel, spec.stride, spec.padding);
  }
  const std::int64_t smallest = std::min(spec.x.h, spec.x.w) + 2 * spec.padding;
  if (smallest < window) {
    fail("{} of {}: a {}x{} window with padding {} does not fit; use larger images", operation, to_string(spec.x),
         window, window, spec.padding);
  }
}

void check_share(const char* operation, float p) {
  if (!(p >= 0 && p < 1)) fail("{} with p = {}: at least 0 and less than 1 allowed", operation, p);
}

void check_pooling(const char* operation, const PoolingSpec& spec) {
  check_window(operation, spec, spec.kernel);
  if (spec.padding >= spec.kernel) {
    fail("{} of {}: padding {} must be below the kernel's {}, or a window holds nothing", operation, to_string(spec.x),
         spec.padding, spec.kernel);
  }
}

}  // namespace

template <>
void check<ConvolutionOp>(const ConvolutionSpec& spec) {
  if (spec.dilation < 1) fail("convolution of {}: dilation {}, at least 1 needed", to_string(spec.x), spec.dilation);
  check_window(ConvolutionOp::kName, spec, spec.window());
  if (spec.num_filters < 1) {
    fail("convolution of {}: {} filters, at least 1 needed", to_string(spec.x), spec.num_filters);
  }
  if (spec.groups < 1 || spec.x.c % spec.groups != 0 || spec.num_filters % spec.groups != 0) {
    fail("convolution of {} by {} filters in {} groups: the groups must divide channels and filters", to_string(spec.x),
         spec.num_filters, spec.groups);
  }
}

template <>
void check<BroadcastOp>(const BroadcastSpec& spec) {
  check_shape(BroadcastOp::kName, Shape::images(1, 1, spec.num_rows, spec.num_columns));
  const bool is_a_sum = spec.num_vectors < spec.num_rows;
  if (spec.num_vectors < 1 || spec.num_rows % spec.num_vectors != 0 || (is_a_sum && spec.num_vectors > kMaxVectors))
    fail("broadcast of {} vectors to {} rows: the first number must divide the second, and be at most {}",
         spec.num_vectors, spec.num_rows, kMaxVectors);
  if (spec.vector_type != DataType::kFloat32 && spec.vector_type != spec.type)
    fail("broadcast in {}: vectors in {}, but f32 or {} needed", to_string(spec.type), to_string(spec.vector_type),
         to_string(spec.type));
}

template <>
void check<PrependOp>(const PrependSpec& spec) {
  check_shape(PrependOp::kName, Shape::sequences(spec.n, spec.length, spec.width));
}

template <>
void check<MaxPoolOp>(const PoolingSpec& spec) {
  check_pooling(MaxPoolOp::kName, spec);
  if (spec.counts_padding || spec.is_adaptive()) {
    fail("max pooling of {}: only averages count padding or have adaptive windows", to_string(spec.x));
  }
  if (spec.kernel > MaxPoolOp::kMaxKernel) {
    fail("max pooling of {}: kernel {}, at most {} allowed", to_string(spec.x), spec.kernel, MaxPoolOp::kMaxKernel);
  }
}

template <>
void check<BatchNormOp>(const BatchNormSpec& spec) {
  check_shape(spec.name(), spec.x);
  const bool is_one = spec.num_branches == 1, is_two = spec.num_branches == 2 && spec.relu && !spec.residual;
  if (!is_one && !is_two) {
    fail("{} of {}: {} branches, but only one is supported, or two with a ReLU and without a residual",
         BatchNormOp::kName, to_string(spec.x), spec.num_branches);
  }
  if (!spec.pooling) return;
  check<MaxPoolOp>(*spec.pooling);
  if (!spec.relu || spec.stores_mask() || spec.pooling->x != spec.x || spec.pooling->type != spec.type) {
    fail("{} of {}: a ReLU must come between them, and nothing else", spec.name(), to_string(spec.x));
  }
  if (!BatchNormSpec::can_pool(*spec.pooling)) {
    fail(
        "{} of {}: kernel {} and stride {}, but channels must be a multiple of {}, the kernel at most twice the stride",
        spec.name(), to_string(spec.x), spec.pooling->kernel, spec.pooling->stride, BatchNormSpec::kChannelGroup);
  }
}

template <>
void check<AveragePoolOp>(const PoolingSpec& spec) {
  if (!spec.is_adaptive() && spec.adaptive_w == 0) return check_pooling(AveragePoolOp::kName, spec);
  check_shape(AveragePoolOp::kName, spec.x);
  const auto overflows = [](std::int64_t pixels, std::int64_t windows) {  // 32 bits, in which a GPU computes indices
    return (pixels + 1) * (windows + 1) > std::numeric_limits<std::int32_t>::max();
  };
  if (overflows(spec.x.h, spec.adaptive_h) || overflows(spec.x.w, spec.adaptive_w)) {
    fail("{} of {}: {} x {} adaptive windows are too many", AveragePoolOp::kName, to_string(spec.x), spec.adaptive_h,
         spec.adaptive_w);
  }
  if (std::min(spec.adaptive_h, spec.adaptive_w) < 1 || spec.counts_padding) {
    fail("{} of {}: {} x {} adaptive windows: at least 1 x 1 needed, and no padding to count", AveragePoolOp::kName,
         to_string(spec.x), spec.adaptive_h, spec.adaptive_w);
  }
}

template <>
void check<GlobalAveragePoolOp>(const GlobalPoolingSpec& spec) {
  check_shape(GlobalAveragePoolOp::kName, spec.x);
}

template <>
void check<AttentionOp>(const AttentionSpec& spec) {
  check_shape(AttentionOp::kName, Shape::images(spec.n, spec.length, spec.num_heads, spec.head_width));
  if (std::ranges::find(kHeadWidths, spec.head_width) == kHeadWidths.end()) {
    fail(
        "attention with {} heads of width {}: only widths of {} are supported; change the number of heads or the width",
        spec.num_heads, spec.head_width, fmt::join(kHeadWidths, ", "));
  }
  check_share("dropout of attention", spec.dropout);
  const double num_weights =
      static_cast<double>(spec.n * spec.num_heads * spec.length) * static_cast<double>(spec.length);
  if (spec.dropout > 0 && num_weights > static_cast<double>(kMaxDropoutCount)) {
    fail(
        "dropout of attention: {} sequences, {} heads and length {} have {} weights, at most {} allowed; use a smaller "
        "micro-batch",
        spec.n, spec.num_heads, spec.length, num_weights, kMaxDropoutCount);
  }
}

template <>
void check<DropoutOp>(const DropoutSpec& spec) {
  if (spec.count < 1 || spec.count > kMaxDropoutCount)
    fail("dropout of {} values: at least 1 and at most {} allowed", spec.count, kMaxDropoutCount);
  if (spec.values_per_draw < 1 || spec.count % spec.values_per_draw != 0)
    fail("dropout of {} values, {} per draw: the second number must divide the first", spec.count,
         spec.values_per_draw);
  check_share(DropoutOp::kName, spec.p);
}

template <>
void check<EmbeddingOp>(const EmbeddingSpec& spec) {
  check_shape(EmbeddingOp::kName, Shape::sequences(spec.n, spec.length, spec.width));
  if (spec.num_rows < 1 || spec.num_rows > kMaxWords)
    fail("embedding by a table of {} rows: at least 1 and at most {} allowed", spec.num_rows, kMaxWords);
  if (spec.n > kMaxWords / spec.length)
    fail("embedding of {} sequences of {} words: at most {} words allowed", spec.n, spec.length, kMaxWords);
}

void check_positions(const EmbeddingSpec& spec) {
  if (spec.length <= spec.num_rows) return;
  fail("embedding of {} positions by a table of {} rows: lengthen the table, or shorten the sequences", spec.length,
       spec.num_rows);
}

template <>
void check<LayerNormOp>(const LayerNormSpec& spec) {
  check_shape(LayerNormOp::kName, Shape::vectors(spec.num_rows, spec.width));
  if (!(spec.epsilon > 0))
    fail("layer norm with epsilon {}: more than 0 needed, for rows of equal values", spec.epsilon);
  if (spec.num_pixels < 1 || spec.num_groups < 1 || spec.width % spec.num_groups != 0)
    fail("group norm of {} pixels and {} columns in {} groups: the groups must divide the columns", spec.num_pixels,
         spec.width, spec.num_groups);
  if (!spec.is_centred && !spec.has_one_group()) fail("RMS norm in {} groups: only one is supported", spec.num_groups);
}

template <>
void check<SequenceMeanOp>(const SequenceMeanSpec& spec) {
  check_shape(SequenceMeanOp::kName, Shape::sequences(spec.n, spec.length, spec.width));
}

template <>
void check<ActivationOp>(const ActivationSpec& spec) {
  if (spec.count < 1) fail("{} of {} values: at least 1 needed", ActivationOp::kName, spec.count);
  if (spec.activation == Activation::kLeakyRelu && !(spec.factor >= 0))
    fail("leaky ReLU with slope {}: at least 0 needed, so that its output tells its derivative", spec.factor);
}

template <>
void check<LinearOp>(const LinearSpec& spec) {
  check_shape(LinearOp::kName, Shape::images(spec.n, 1, spec.num_outputs, spec.num_inputs));
  if (spec.y_type != DataType::kFloat32 && spec.y_type != spec.type) {
    fail("linear layer in {}: results in {}, but f32 or {} needed", to_string(spec.type), to_string(spec.y_type),
         to_string(spec.type));
  }
}

template <>
void check<SoftmaxOp>(const SoftmaxSpec& spec) {
  check_shape(SoftmaxOp::kName, Shape::vectors(spec.num_rows, spec.width));
}

template <>
void check<SoftmaxCrossEntropyOp>(const SoftmaxCrossEntropySpec& spec) {
  check_shape(SoftmaxCrossEntropyOp::kName, Shape::vectors(spec.n, spec.num_classes));
  if (!spec.class_weights.empty() && std::ssize(spec.class_weights) != spec.num_classes)
    fail("{}: {} class weights, but {} classes", SoftmaxCrossEntropyOp::kName, spec.class_weights.size(),
         spec.num_classes);
}

template <>
void check<SampleCrossEntropyOp>(const SampleCrossEntropySpec& spec) {
  check_shape(SampleCrossEntropyOp::kName, Shape::sequences(spec.n, spec.num_rows, spec.num_classes));
}

template <>
void check<TargetLossOp>(const TargetLossSpec& spec) {
  check_shape(TargetLossOp::kName, Shape::sequences(spec.n, spec.num_pixels, spec.num_outputs));
  if (spec.num_pixels > kMaxTargets / spec.num_outputs)
    fail("{}: {} pixels with {} outputs are more than {} targets of a sample", TargetLossOp::kName, spec.num_pixels,
         spec.num_outputs, kMaxTargets);
  for (const std::size_t count : {spec.mean.size(), spec.stddev.size(), spec.weights.size()})
    if (count != 0 && static_cast<std::int64_t>(count) != spec.num_outputs)
      fail("{}: {} means, standard deviations or weights, but {} outputs", TargetLossOp::kName, count,
           spec.num_outputs);
  if (!(spec.huber_delta > 0)) fail("{} with delta {}: more than 0 needed", TargetLossOp::kName, spec.huber_delta);
}

template <>
void check<ScoreSumsOp>(const ScoreSumsSpec& spec) {
  check_shape(ScoreSumsOp::kName, Shape::sequences(spec.num_objectives, spec.n, 1));
}

template <>
void check<GatherOp>(const GatherSpec& spec) {
  check_shape(GatherOp::kName, Shape::sequences(spec.n, spec.length, spec.width));
  check_shape(GatherOp::kName, Shape::sequences(spec.n, spec.num_taken, spec.width));
}

void check_positions(const GatherSpec& spec) {
  if (spec.num_taken <= spec.length) return;
  fail("gather: the first {} words of sequences of {}: take fewer, or lengthen the sequences", spec.num_taken,
       spec.length);
}

template <>
void check<ChannelCopyOp>(const ChannelCopySpec& spec) {
  check_shape(ChannelCopyOp::kName, spec.x);
  if (spec.stride < 1 || spec.count < 1) {
    fail("{} of {}: stride {} and number of channels {} must be at least 1", ChannelCopyOp::kName, to_string(spec.x),
         spec.stride, spec.count);
  }
  const auto fits = [&](std::int64_t first, std::int64_t channels) {
    return first >= 0 && first <= channels - spec.count;
  };
  if (!fits(spec.x_first, spec.x.c) || !fits(spec.y_first, spec.num_channels)) {
    fail("{} of {}: {} channels from channel {} on, to channel {} of {}: they do not fit", ChannelCopyOp::kName,
         to_string(spec.x), spec.count, spec.x_first, spec.y_first, spec.num_channels);
  }
}

template <>
void check<ImageBatchOp>(const ImageBatchSpec& spec) {
  check_shape(ImageBatchOp::kName, spec.x);
  if (static_cast<std::int64_t>(spec.value_of.size()) != spec.x.c * kNumBytes) {
    fail("batch of images {}: {} values of bytes, {} per channel needed", to_string(spec.x), spec.value_of.size(),
         kNumBytes);
  }
}

}  // namespace convoy::ops
