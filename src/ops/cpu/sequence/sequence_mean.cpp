/// Means over sequences on the CPU: bound by memory.
#include "convoy/ops/sequence_mean.h"

#include <algorithm>
#include <memory>

#include "ops/cpu/parallel.h"
#include "ops/cpu/resources.h"
#include "ops/cpu/simd.h"

namespace convoy::ops::cpu {

namespace {

constexpr std::int64_t kMinColumns = 64;     // of a sequence that a thread takes: some cache lines
constexpr std::int64_t kPartsPerThread = 4;  // so that threads share long and short sequences evenly

template <typename T>
class CpuSequenceMean final : public SequenceMeanOp {
 public:
  CpuSequenceMean(const SequenceMeanSpec& spec, Workspace& workspace)
      : spec_(spec),
        num_parts_(std::clamp<std::int64_t>(kPartsPerThread * workspace.threads() / spec.n, 1,
                                            std::max<std::int64_t>(1, spec.width / kMinColumns))),
        workspace_(workspace) {
    workspace_.reserve(spec.n * spec.width * kFloatBytes);
  }

  void forward(const void* x_data, const std::int32_t* lengths, void* y_data) override {
    const T* x = values_at<T>(x_data);
    T* y = values_at<T>(y_data);
#pragma omp parallel num_threads(workspace_.threads())
    {
      const Range parts = my_part_of(spec_.n * num_parts_);
      for (std::int64_t part = parts.begin; part < parts.end; ++part) {
        const std::int64_t n = part / num_parts_;
        mean_of_columns(x + n * spec_.length * spec_.width, length_of(lengths, n), columns(part % num_parts_),
                        reinterpret_cast<float*>(workspace_.scratch()) + n * spec_.width, y + n * spec_.width);
      }
    }
  }

  void backward(const void* dy_data, const std::int32_t* lengths, void* dx_data) override {
    const T* dy = values_at<T>(dy_data);
    T* dx = values_at<T>(dx_data);
#pragma omp parallel num_threads(workspace_.threads())
    {
      const Range words = my_part_of(spec_.n * spec_.length);
      for (std::int64_t word = words.begin; word < words.end;) {
        const std::int64_t n = word / spec_.length, end = std::min(words.end, (n + 1) * spec_.length);
        const std::int64_t num = end - word, length = length_of(lengths, n);
        const std::int64_t num_read = std::clamp<std::int64_t>(n * spec_.length + length - word, 0, num);
        T* to = dx + word * spec_.width;
        spread(dy + n * spec_.width, static_cast<float>(length), num_read, to);
        std::fill_n(to + num_read * spec_.width, (num - num_read) * spec_.width, T{});
        word = end;
      }
    }
  }

 private:
  std::int64_t length_of(const std::int32_t* lengths, std::int64_t n) const {
    return std::clamp<std::int64_t>(lengths[n], 1, spec_.length);
  }
  /// The columns of a part, in whole vectors. A column's sum depends neither on other columns nor on the division into
  /// parts.
  Range columns(std::int64_t part) const {
    const std::int64_t num = (spec_.width + kLanes - 1) / kLanes;
    const Range vectors = part_of(num, part, num_parts_);
    return {vectors.begin * kLanes, std::min(vectors.end * kLanes, spec_.width)};
  }

  /// Adds word after word, in the order of memory: the processor prefetches one stream better than several.
  void mean_of_columns(const T* x, std::int64_t length, const Range& part, float* sum, T* y) const {
    for_lanes(part.begin, part.end, [&]<typename V>(std::int64_t c, V) { write(sum + c, read<V>(x + c)); });
    for (std::int64_t t = 1; t < length; ++t) {
      const T* word = x + t * spec_.width;
      for_lanes(part.begin, part.end,
                [&]<typename V>(std::int64_t c, V) { write(sum + c, V(read<V>(sum + c) + read<V>(word + c))); });
    }
    for_lanes(part.begin, part.end,
              [&]<typename V>(std::int64_t c, V) { write(y + c, V(read<V>(sum + c) / static_cast<float>(length))); });
  }

  /// Writes dy / length to the first word, and copies of it to the others.
  void spread(const T* dy, float length, std::int64_t num_words, T* to) const {
    if (num_words == 0) return;
    for_lanes(0, spec_.width, [&]<typename V>(std::int64_t c, V) { write(to + c, V(read<V>(dy + c) / length)); });
    for (std::int64_t t = 1; t < num_words; ++t) {
      T* word = to + t * spec_.width;
      for_lanes(0, spec_.width, [&]<typename V>(std::int64_t c, V) { write(word + c, read<V>(to + c)); });
    }
  }

  SequenceMeanSpec spec_;
  std::int64_t num_parts_;  ///< number of parts into which the columns of a sequence are divided
  Workspace& workspace_;
};

}  // namespace

template <>
std::unique_ptr<SequenceMeanOp> make_op(const SequenceMeanSpec& spec, const Resources& resources) {
  return make_stored<CpuSequenceMean, SequenceMeanOp>(spec, resources.workspace);
}

}  // namespace convoy::ops::cpu
