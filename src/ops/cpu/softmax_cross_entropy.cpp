/// The loss on the CPU, in double, since all gradients depend on it.
#include "convoy/ops/softmax_cross_entropy.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "convoy/base/error.h"

#include "ops/cpu/resources.h"
#include "ops/cpu/softmax_rows.h"
#include "ops/cpu/storage.h"

namespace convoy::ops::cpu {

namespace {

constexpr std::int64_t kWorthThreads = 1 << 13;  // logits: below, waking threads costs more than the loop

/// What one row adds to LossSums.
struct RowResult {
  double loss = 0;
  std::int64_t num_correct = 0, num_samples = 0;
};

template <typename T>
class CpuSoftmaxCrossEntropy final : public SoftmaxCrossEntropyOp {
 public:
  CpuSoftmaxCrossEntropy(const SoftmaxCrossEntropySpec& spec, Workspace& workspace)
      : spec_(spec),
        smooth_(double{spec.label_smoothing} / static_cast<double>(spec.num_classes)),
        workspace_(workspace) {
    workspace.reserve(spec.n * static_cast<std::int64_t>(sizeof(RowResult)));
  }

  void run(const LossArguments& args) override {
    check_labels(args);
    auto* rows = reinterpret_cast<RowResult*>(workspace_.scratch());
    const bool alone = spec_.n * spec_.num_classes < kWorthThreads || workspace_.threads() == 1;
#pragma omp parallel for schedule(static) num_threads(workspace_.threads()) if (!alone)
    for (std::int64_t n = 0; n < spec_.n; ++n) rows[n] = run_row(args, n);
    *args.sums = {};
    for (std::int64_t n = 0; n < spec_.n; ++n) {
      args.sums->loss += rows[n].loss;
      args.sums->num_correct += rows[n].num_correct;
      args.sums->num_samples += rows[n].num_samples;
    }
    args.sums->num_labels = args.sums->num_samples;
  }

 private:
  /// Before threads begin, which could throw nothing.
  void check_labels(const LossArguments& args) const {
    for (std::int64_t n = 0; n < spec_.n; ++n) {
      if (args.labels[n] == kNoLabel) continue;
      check_label(args.labels[n]);
      if (args.mixed_labels != nullptr) check_label(args.mixed_labels[n].label);
    }
  }
  void check_label(std::int32_t label) const {
    if (label < 0 || label >= spec_.num_classes) {
      fail("label {} in the data, the network has {} classes (0 to {}); import the data again", label,
           spec_.num_classes, spec_.num_classes - 1);
    }
  }

  /// With d = z - max z, log p = d - log sum exp d, and as the targets sum to 1:
  ///   loss = log sum exp d - (1 - s) ((1 - share) d_label + share d_second) - s/classes sum d
  RowResult run_row(const LossArguments& args, std::int64_t n) const {
    const std::int64_t classes = spec_.num_classes;
    T* dz = args.dlogits == nullptr ? nullptr : values_at<T>(args.dlogits) + n * classes;
    if (args.labels[n] == kNoLabel) {
      if (dz != nullptr) std::fill_n(dz, classes, T{});
      return {};
    }
    const std::int64_t label = args.labels[n];
    const MixedLabel mixed = args.mixed_labels == nullptr ? MixedLabel{args.labels[n], 0} : args.mixed_labels[n];
    const std::int64_t second = mixed.label, answer = mixed.share > 0.5f ? second : label;
    const float* z = args.logits + n * classes;
    const RowSums row = sum_row(z, classes);
    const double log_sum_exp = std::log(row.sum_exp), hit = 1.0 - double{spec_.label_smoothing};
    const double second_hit = hit * double{mixed.share}, first_hit = hit - second_hit;
    const double loss = log_sum_exp - first_hit * (double{z[label]} - row.max) -
                        second_hit * (double{z[second]} - row.max) - smooth_ * row.sum;
    if (dz != nullptr) {
      const double scale = double{args.loss_scale} * double{spec_.gradient_scale};
      const auto write = [&](std::int64_t k) {
        const double p = std::exp(double{z[k]} - row.max - log_sum_exp);
        const double target = smooth_ + (k == label ? first_hit : 0.0) + (k == second ? second_hit : 0.0);
        dz[k] = rounded_to<T>(static_cast<float>(scale * (p - target)));
      };
      if (classes <= kFewSoftmaxClasses) {
        for (std::int64_t k = 0; k < classes; ++k) write(k);
      } else {
        write_gradient(z, classes, {row.max, log_sum_exp, scale, smooth_}, dz);
        write(label);
        write(second);
      }
    }
    return {loss, std::isfinite(loss) && row.best == answer ? 1 : 0, 1};
  }

  SoftmaxCrossEntropySpec spec_;
  double smooth_;  ///< the target of every class but the label's
  const Workspace& workspace_;
};

}  // namespace

template <>
std::unique_ptr<SoftmaxCrossEntropyOp> make_op(const SoftmaxCrossEntropySpec& spec, const Resources& resources) {
  return make_stored<CpuSoftmaxCrossEntropy, SoftmaxCrossEntropyOp>(spec, resources.workspace);
}

}  // namespace convoy::ops::cpu
