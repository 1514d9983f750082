/// The loss of outputs with targets on the CPU, in double. One thread computes a part of a sample.
#include "convoy/ops/target_loss.h"

#include <algorithm>
#include <memory>

#include "ops/cpu/parallel.h"
#include "ops/cpu/resources.h"
#include "ops/cpu/storage.h"
#include "ops/target_loss_math.h"

namespace convoy::ops::cpu {

namespace {

template <typename T>
class CpuTargetLoss final : public TargetLossOp {
 public:
  CpuTargetLoss(const TargetLossSpec& spec, Workspace& workspace)
      : extents_(spec),
        error_{spec.kind, double{spec.huber_delta}},
        numbers_(numbers_of_outputs(spec)),
        workspace_(workspace) {
    workspace.reserve(extents_.n * extents_.parts * static_cast<std::int64_t>(sizeof(LossPart)));
  }

  void forward(const float* outputs, const float* targets, SampleScore* scores) override {
    auto* const parts = reinterpret_cast<LossPart*>(workspace_.scratch());
    for_each_part([&](std::int64_t p, std::int64_t /*n*/, Range range) {
      LossPart sum;
      for_each_value(range, [&](std::int64_t i, const OutputNumbers& of) {
        const LossPart part = error_.part(double{outputs[i]}, double{targets[i]}, of);
        sum.loss += part.loss;
        sum.num_correct += part.num_correct;
        sum.num_labels += part.num_labels;
      });
      parts[p] = sum;
    });
    for (std::int64_t n = 0; n < extents_.n; ++n) scores[n] = score_of(parts + n * extents_.parts, extents_.parts);
  }

  void backward(const float* outputs, const float* targets, const SampleScore* scores, const SampleScore* dscores,
                void* doutputs) override {
    T* const dy = values_at<T>(doutputs);
    for_each_part([&](std::int64_t /*p*/, std::int64_t n, Range range) {
      const double scale = double{dscores[n].loss} / std::max(double{scores[n].num_labels}, 1.0);
      for_each_value(range, [&](std::int64_t i, const OutputNumbers& of) {
        dy[i] = rounded_to<T>(static_cast<float>(scale * error_.slope(double{outputs[i]}, double{targets[i]}, of)));
      });
    });
  }

 private:
  /// Calls loop(part, sample, its values) for all parts of all samples.
  template <typename Loop>
  void for_each_part(const Loop& loop) const {
    const std::int64_t num_parts = extents_.n * extents_.parts, values = extents_.values;
    const int threads = extents_.n * values < kWorthThreads ? 1 : workspace_.threads();
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (std::int64_t p = 0; p < num_parts; ++p) {
      const std::int64_t n = p / extents_.parts, begin = p % extents_.parts * kValuesOfPart;
      loop(p, n, Range{n * values + begin, n * values + std::min(begin + kValuesOfPart, values)});
    }
  }

  /// Calls loop(value, the numbers of its output).
  template <typename Loop>
  void for_each_value(Range range, const Loop& loop) const {
    std::int64_t k = range.begin % extents_.outputs;
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      loop(i, numbers_[static_cast<std::size_t>(k)]);
      if (++k == extents_.outputs) k = 0;
    }
  }

  TargetExtents extents_;
  TargetError error_;
  std::vector<OutputNumbers> numbers_;
  const Workspace& workspace_;
};

}  // namespace

template <>
std::unique_ptr<TargetLossOp> make_op(const TargetLossSpec& spec, const Resources& resources) {
  return make_stored<CpuTargetLoss, TargetLossOp>(spec, resources.workspace);
}

}  // namespace convoy::ops::cpu
