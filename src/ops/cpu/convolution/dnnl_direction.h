/// One direction of a convolution, computed by oneDNN: forward, y of x, or the data gradient, dx of dy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "convoy/ops/convolution.h"

#include "ops/cpu/convolution/convolution_descriptions.h"
#include "ops/cpu/convolution/convolution_directions.h"
#include "ops/cpu/onednn/dnnl_parts.h"

namespace convoy::ops::cpu {

/// A copy of a convolution's weights in a layout of oneDNN. Its memory is allocated at the first load().
class PackedWeights {
 public:
  PackedWeights(DnnlRuntime& runtime, const dnnl::memory::desc& plain, const dnnl::memory::desc& layout)
      : layout_(layout),
        is_padded_(layout.get_size() > plain.get_size()),
        device_(runtime.workspace().device()),
        pack_(create_reorder(runtime, plain, layout)) {}

  const dnnl::memory::desc& layout() const { return layout_; }
  void load(const void* w) {
    if (buffer_.data() == nullptr) buffer_ = Buffer(device_, static_cast<std::int64_t>(layout_.get_size()));
    pack_.run({w, buffer_.data()});
  }
  const std::byte* data() const { return buffer_.data(); }
  /// Returns the buffer of the copy if it may be moved to read-only memory, else nothing. A copy with padding must not
  /// be moved: oneDNN writes zeros to the padding each time that it is given a pointer.
  std::vector<Buffer*> movable() { return is_padded_ ? std::vector<Buffer*>() : std::vector{&buffer_}; }

 private:
  dnnl::memory::desc layout_;
  bool is_padded_;
  Device& device_;
  Buffer buffer_;
  DnnlCall pack_;
};

/// Returns the number of equal ranges into which `samples` are divided for `threads` threads: the smallest for which
/// the thread with the most samples has as few as possible.
inline std::int64_t num_ranges(std::int64_t samples, std::int64_t threads) {
  std::int64_t best = 1;
  const auto samples_of_a_thread = [&](std::int64_t ranges) {
    return (ranges + threads - 1) / threads * (samples / ranges);
  };
  for (std::int64_t ranges = 2; ranges <= samples; ++ranges)
    if (samples % ranges == 0 && samples_of_a_thread(ranges) < samples_of_a_thread(best)) best = ranges;
  return best;
}

/// Returns whether oneDNN computes the primitive by matrix products, whose sums it divides according to the number of
/// threads. The names of such implementations contain "gemm", "brgconv" (oneDNN 2) or "brg_conv" (oneDNN 3).
template <typename Description>
bool is_by_matmul(const Description& description) {
  const std::string_view name = description.impl_info_str();
  return name.find("gemm") != std::string_view::npos || name.find("brg") != std::string_view::npos;
}

/// Returns whether two primitives have the same algorithm. oneDNN 3 may choose another one for fewer samples, for
/// example tiles (AMX) for bf16 products of many samples, and vectors for few.
template <typename Description>
bool is_same_algorithm(const Description& a, const Description& b) {
  return std::string_view(a.impl_info_str()) == b.impl_info_str();
}

/// One direction of a convolution, computed by oneDNN. Each value is computed by one thread, in an order that does not
/// depend on the number of threads. If oneDNN uses matrix products, the order may depend on that number: then the
/// samples are divided into equal ranges, each computed by one thread. The number of ranges changes no bit of a sample.
/// oneDNN guarantees neither property; tests check both. (A value of dw would be a sum over threads: see
/// WeightGradient.)
template <typename Primitive>
class DnnlDirection final : public ConvolutionDirection {
 public:
  /// `plain` is the layout of the weights that load_weights() gets. `other`, if not null, is the copy of the weights
  /// that the other direction makes; this direction uses it, too, if it needs the same layout.
  DnnlDirection(const ConvolutionSpec& spec, DnnlRuntime& runtime, const dnnl::memory::desc& plain,
                std::shared_ptr<PackedWeights> other = nullptr)
      : part_(spec), calls_(runtime) {
    std::optional<OneThread> one_thread(std::in_place, runtime);
    Description description = describe(spec, runtime);
    if (is_by_matmul(description)) {  // for one thread: oneDNN may choose another algorithm for several
      part_.x.n = spec.x.n / num_ranges(spec.x.n, runtime.workspace().threads());
      const Description of_part = describe(part_, runtime);
      if (is_same_algorithm(of_part, description)) {
        description = of_part;
      } else {
        part_ = spec;
      }
    } else {
      one_thread.reset();
      description = describe(spec, runtime);
    }
    const ConvolutionLayouts layouts(part_);
    const dnnl::memory::desc weights = description.weights_desc();
    for (std::int64_t sample = 0; sample < spec.x.n; sample += part_.x.n)
      calls_.add(DnnlCall::create<Primitive>(
          runtime, description,
          {{kIsForward ? DNNL_ARG_SRC : DNNL_ARG_DIFF_DST, kIsForward ? layouts.x : layouts.y},
           {DNNL_ARG_WEIGHTS, weights},
           {kIsForward ? DNNL_ARG_DST : DNNL_ARG_DIFF_SRC, kIsForward ? layouts.y : layouts.x}}));
    runtime.workspace().reserve(calls_.scratchpad_bytes());
    one_thread.reset();
    loads_ = other == nullptr || other->layout() != weights;
    weights_ = loads_ ? std::make_shared<PackedWeights>(runtime, plain, weights) : std::move(other);
  }

  /// Returns the number of bytes of the workspace's scratch memory that run() overwrites.
  std::int64_t scratch_bytes() const { return calls_.scratchpad_bytes(); }
  const std::shared_ptr<PackedWeights>& weights() const { return weights_; }

  void load_weights(const void* w) override {
    if (loads_) weights_->load(w);
  }
  std::vector<Buffer*> packed_weights() override { return loads_ ? weights_->movable() : std::vector<Buffer*>(); }

  void run(const void* from, void* to) override {
    const std::int64_t x_bytes = part_.x.count() * size_of(part_.type),
                       y_bytes = part_.y().count() * size_of(part_.type);
    const std::int64_t from_bytes = kIsForward ? x_bytes : y_bytes, to_bytes = kIsForward ? y_bytes : x_bytes;
    calls_.run([&](DnnlCall& call, std::int64_t i, std::int64_t scratchpad_offset) {
      call.run({static_cast<const std::byte*>(from) + i * from_bytes, weights_->data(),
                static_cast<std::byte*>(to) + i * to_bytes},
               scratchpad_offset);
    });
  }

 private:
  using Description = typename Primitive::primitive_desc;
  static constexpr bool kIsForward = std::is_same_v<Primitive, DnnlForward>;

  static Description describe(const ConvolutionSpec& spec, const DnnlRuntime& runtime) {
    if constexpr (kIsForward) {
      return describe_forward(spec, runtime.engine());
    } else {
      return describe_backward_input(spec, runtime.engine(), describe_forward(spec, runtime.engine()));
    }
  }

  ConvolutionSpec part_;  ///< the convolution of one range of samples, which one call computes
  bool loads_;
  std::shared_ptr<PackedWeights> weights_;
  DnnlParts calls_;
};

}  // namespace convoy::ops::cpu
