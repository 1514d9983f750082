/// Extents, windows and channels that make sense.
#include "ops/check_spec.h"

#include <algorithm>

#include "convoy/base/error.h"

namespace convoy::ops {

namespace {

constexpr std::int64_t kMaxPoolKernel = 15;  // a winner's place in the window is one byte

bool is_positive(const Shape& s) {
  return std::min({s.n, s.h, s.w, s.c}) >= 1;
}

void check_shape(const char* operation, const Shape& x) {
  if (!is_positive(x)) fail("{} of {}: every extent must be at least 1", operation, to_string(x));
}

/// For what slides a window over x.
template <typename Spec>
void check_window(const char* operation, const Spec& spec) {
  check_shape(operation, spec.x);
  if (spec.kernel < 1 || spec.stride < 1 || spec.padding < 0) {
    fail("{} of {}: kernel {} and stride {} must be at least 1, padding {} at least 0", operation, to_string(spec.x),
         spec.kernel, spec.stride, spec.padding);
  }
  const std::int64_t smallest = std::min(spec.x.h, spec.x.w) + 2 * spec.padding;
  if (smallest < spec.kernel) {
    fail("{} of {}: a {}x{} kernel with padding {} does not fit; use larger images", operation, to_string(spec.x),
         spec.kernel, spec.kernel, spec.padding);
  }
}

void check_pooling(const char* operation, const PoolingSpec& spec) {
  check_window(operation, spec);
  if (spec.padding >= spec.kernel) {
    fail("{} of {}: padding {} must be below the kernel's {}, or a window holds nothing", operation, to_string(spec.x),
         spec.padding, spec.kernel);
  }
}

}  // namespace

void check(const ConvolutionSpec& spec) {
  check_window("convolution", spec);
  if (spec.num_filters < 1) {
    fail("convolution of {}: {} filters, at least 1 needed", to_string(spec.x), spec.num_filters);
  }
}

void check(const BatchNormSpec& spec) {
  check_shape("batch normalisation", spec.x);
}

void check_max_pool(const PoolingSpec& spec) {
  check_pooling("max pooling", spec);
  if (spec.kernel > kMaxPoolKernel) {
    fail("max pooling of {}: kernel {}, at most {} allowed", to_string(spec.x), spec.kernel, kMaxPoolKernel);
  }
}

void check_average_pool(const PoolingSpec& spec) {
  check_pooling("average pooling", spec);
}

void check(const GlobalPoolingSpec& spec) {
  check_shape("global average pooling", spec.x);
}

void check(const LinearSpec& spec) {
  check_shape("linear layer", {spec.n, 1, spec.num_outputs, spec.num_inputs});
}

void check(const SoftmaxCrossEntropySpec& spec) {
  check_shape("softmax cross-entropy", {spec.n, 1, 1, spec.num_classes});
}

void check(const ShortcutSpec& spec) {
  check_shape("shortcut", spec.x);
  if (spec.stride < 1 || spec.num_channels < spec.x.c) {
    fail("shortcut of {}: stride {} must be at least 1, {} channels at least those of the input", to_string(spec.x),
         spec.stride, spec.num_channels);
  }
  if (spec.channels_before < 0 || spec.channels_before > spec.num_channels - spec.x.c) {
    fail("shortcut of {}: {} channels before it and itself do not fit in {}", to_string(spec.x), spec.channels_before,
         spec.num_channels);
  }
}

void check(const ImageBatchSpec& spec) {
  check_shape("batch of images", spec.x);
  if (static_cast<std::int64_t>(spec.value_of.size()) != spec.x.c * kNumBytes) {
    fail("batch of images {}: {} values of bytes, {} a channel needed", to_string(spec.x), spec.value_of.size(),
         kNumBytes);
  }
}

}  // namespace convoy::ops
