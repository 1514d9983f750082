/// Words taken out of sequences on the CPU: copies, bound by memory.
#include "convoy/ops/gather.h"

#include <algorithm>
#include <memory>

#include "ops/check_spec.h"
#include "ops/cpu/parallel.h"
#include "ops/cpu/resources.h"
#include "ops/cpu/sequence/refuse_token.h"
#include "ops/cpu/simd.h"

namespace convoy::ops::cpu {

namespace {

template <typename T>
class CpuGather final : public GatherOp {
 public:
  CpuGather(const GatherSpec& spec, const Workspace& workspace) : spec_(spec), workspace_(workspace) {}

  void forward(const void* x_data, const std::int32_t* positions, void* y_data) override {
    check(positions);
    const T* x = values_at<T>(x_data);
    T* y = values_at<T>(y_data);
    in_parts_of(spec_.n * spec_.num_taken, [&](Range taken) {
      for (std::int64_t i = taken.begin; i < taken.end; ++i) {
        const std::int64_t n = i / spec_.num_taken, position = position_of(positions, i);
        if (position == kNoPosition) {
          std::fill_n(y + i * spec_.width, spec_.width, T{});
        } else {
          std::copy_n(x + (n * spec_.length + position) * spec_.width, spec_.width, y + i * spec_.width);
        }
      }
    });
  }

  void backward(const void* dy_data, const std::int32_t* positions, void* dx_data) override {
    check(positions);
    const T* dy = values_at<T>(dy_data);
    T* dx = values_at<T>(dx_data);
    in_parts_of(spec_.n * spec_.length, [&](Range words) {
      for (std::int64_t word = words.begin; word < words.end; ++word)
        sum_word(dy, positions, word / spec_.length, word % spec_.length, dx + word * spec_.width);
    });
  }

 private:
  /// Calls loop(Range) for each thread's part of `num` words.
  template <typename Loop>
  void in_parts_of(std::int64_t num, const Loop& loop) const {
    const bool alone = num * spec_.width < kWorthThreads || workspace_.threads() == 1;
#pragma omp parallel num_threads(workspace_.threads()) if (!alone)
    loop(my_part_of(num));
  }

  void check(const std::int32_t* positions) const {
    if (positions == nullptr) return check_positions(spec_);
    for (std::int64_t i = 0; i < spec_.n * spec_.num_taken; ++i)
      if (positions[i] != kNoPosition && (positions[i] < 0 || positions[i] >= spec_.length))
        refuse_position(spec_, positions, i);
  }

  /// The position of the i-th taken word, counted through all sequences.
  std::int64_t position_of(const std::int32_t* positions, std::int64_t i) const {
    return positions == nullptr ? i % spec_.num_taken : positions[i];
  }

  void sum_word(const T* dy, const std::int32_t* positions, std::int64_t n, std::int64_t t, T* dx) const {
    const std::int64_t end = (n + 1) * spec_.num_taken;
    std::int64_t first = n * spec_.num_taken;
    while (first < end && position_of(positions, first) != t) ++first;
    for_lanes(0, spec_.width, [&]<typename V>(std::int64_t c, V) {
      V sum{};
      for (std::int64_t i = first; i < end; ++i)
        if (position_of(positions, i) == t) sum = sum + read<V>(dy + i * spec_.width + c);
      write(dx + c, sum);
    });
  }

  GatherSpec spec_;
  const Workspace& workspace_;
};

}  // namespace

template <>
std::unique_ptr<GatherOp> make_op(const GatherSpec& spec, const Resources& resources) {
  return make_stored<CpuGather, GatherOp>(spec, resources.workspace);
}

}  // namespace convoy::ops::cpu
