/// Arena-wide loops on the CPU. Compiled without contraction to fused multiply-adds: a vector loop and the scalars at
/// its end then round alike, so a value's result does not depend on where its slice begins.
#include "convoy/ops/elementwise.h"

#include <algorithm>
#include <memory>

#include "ops/cpu/operations.h"
#include "ops/cpu/parallel.h"
#include "ops/cpu/workspace.h"

namespace convoy::ops::cpu {

namespace {

constexpr std::int64_t kWorthThreads = 1 << 15;  // below, waking threads costs more than the loop

class CpuElementwise final : public ElementwiseOps {
 public:
  explicit CpuElementwise(const Workspace& workspace) : workspace_(workspace) {}

  void add(const float* a, const float* b, float* sum, std::int64_t count) override {
    in_parts(count, [=](Range range) {
#pragma omp simd
      for (std::int64_t i = range.begin; i < range.end; ++i) sum[i] = a[i] + b[i];
    });
  }

  void copy(const float* from, float* to, std::int64_t count) override {
    in_parts(count, [=](Range range) { std::copy(from + range.begin, from + range.end, to + range.begin); });
  }

  void sgd(const SgdSpec& spec, const float* gradient, float* momentum, float* weight, std::int64_t count) override {
    if (spec.nesterov) {
      sgd_as<true>(spec, gradient, momentum, weight, count);
    } else {
      sgd_as<false>(spec, gradient, momentum, weight, count);
    }
  }

  void moving_average(float keep, float scale, const float* sum, float* running, std::int64_t count) override {
    const float take = (1.0f - keep) * scale;
    in_parts(count, [=](Range range) {
#pragma omp simd
      for (std::int64_t i = range.begin; i < range.end; ++i) running[i] = keep * running[i] + take * sum[i];
    });
  }

 private:
  template <typename Loop>
  void in_parts(std::int64_t count, Loop&& loop) const {
    if (count < kWorthThreads || workspace_.threads() == 1) {
      loop(Range{0, count});
      return;
    }
#pragma omp parallel num_threads(workspace_.threads())
    loop(my_part_of(count));
  }

  template <bool kNesterov>
  void sgd_as(const SgdSpec& spec, const float* gradient, float* momentum, float* weight, std::int64_t count) const {
    in_parts(count, [=](Range range) {
#pragma omp simd
      for (std::int64_t i = range.begin; i < range.end; ++i) {
        const float g = gradient[i] + spec.weight_decay * weight[i];
        const float v = spec.momentum * momentum[i] + g;
        momentum[i] = v;
        weight[i] -= spec.lr * (kNesterov ? g + spec.momentum * v : v);
      }
    });
  }

  const Workspace& workspace_;
};

}  // namespace

std::unique_ptr<ElementwiseOps> make_elementwise(const Workspace& workspace) {
  return std::make_unique<CpuElementwise>(workspace);
}

}  // namespace convoy::ops::cpu
