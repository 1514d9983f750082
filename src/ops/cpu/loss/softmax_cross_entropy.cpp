/// The loss on the CPU, in double, since all gradients depend on it.
#include "convoy/ops/softmax_cross_entropy.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "convoy/base/error.h"

#include "ops/cpu/loss/softmax_rows.h"
#include "ops/cpu/resources.h"
#include "ops/cpu/storage.h"
#include "ops/loss_part.h"

namespace convoy::ops::cpu {

namespace {

constexpr std::int64_t kWorthThreads = 1 << 13;  // logits: below, waking threads costs more than the loop

template <typename T>
class CpuSoftmaxCrossEntropy final : public SoftmaxCrossEntropyOp {
 public:
  CpuSoftmaxCrossEntropy(const SoftmaxCrossEntropySpec& spec, Workspace& workspace)
      : spec_(spec),
        smooth_(double{spec.label_smoothing} / static_cast<double>(spec.num_classes)),
        sum_of_weights_(std::accumulate(spec.class_weights.begin(), spec.class_weights.end(), 0.0)),
        workspace_(workspace) {
    workspace.reserve(spec.n * static_cast<std::int64_t>(sizeof(LossPart)));
  }

  void run(const LossArguments& args) override {
    check_labels(args);
    auto* rows = reinterpret_cast<LossPart*>(workspace_.scratch());
    const bool alone = spec_.n * spec_.num_classes < kWorthThreads || workspace_.threads() == 1;
#pragma omp parallel for schedule(static) num_threads(workspace_.threads()) if (!alone)
    for (std::int64_t n = 0; n < spec_.n; ++n) rows[n] = run_row(args, n);
    *args.sums = {};
    for (std::int64_t n = 0; n < spec_.n; ++n) {
      args.sums->loss += rows[n].loss;
      args.sums->num_correct += rows[n].num_correct;
      args.sums->num_samples += rows[n].num_labels;
    }
    args.sums->num_labels = args.sums->num_samples;
  }

 private:
  /// Throws Error if a label is not allowed. It is called before the parallel region, which no exception may leave.
  void check_labels(const LossArguments& args) const {
    for (std::int64_t n = 0; n < spec_.n; ++n) {
      if (args.labels[n] == kNoLabel) continue;
      check_label(args.labels[n]);
      if (args.mixed_labels != nullptr) check_label(args.mixed_labels[n].label);
    }
  }
  void check_label(std::int32_t label) const {
    if (label < 0 || label >= spec_.num_classes) {
      fail("label {} in the data is not allowed: the network has {} classes (0 to {}); import the data again", label,
           spec_.num_classes, spec_.num_classes - 1);
    }
  }

  /// With d = z - max z, log p = d - log sum exp d:
  ///   loss = sum_k w_k target_k log sum exp d - (1 - s) ((1 - share) w_label d_label + share w_second d_second)
  ///          - s/classes sum_k w_k d_k
  /// Without weights the targets sum to 1.
  LossPart run_row(const LossArguments& args, std::int64_t n) const {
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
    const bool weighted = !spec_.class_weights.empty();
    const auto weight_of = [&](std::int64_t k) {
      return weighted ? double{spec_.class_weights[static_cast<std::size_t>(k)]} : 1.0;
    };
    const double second_share = hit * double{mixed.share};
    const double first_hit = (hit - second_share) * weight_of(label), second_hit = second_share * weight_of(second);
    double total = 1, log_term = log_sum_exp, sum = row.sum;
    if (weighted) {
      total = first_hit + second_hit + smooth_ * sum_of_weights_;
      log_term = total * log_sum_exp;
      sum = 0;
      for (std::int64_t k = 0; k < classes; ++k) sum += weight_of(k) * (double{z[k]} - row.max);
    }
    const double loss = log_term - first_hit * (double{z[label]} - row.max) -
                        second_hit * (double{z[second]} - row.max) - smooth_ * sum;
    if (dz != nullptr) {
      const double scale = double{args.loss_scale} * double{spec_.gradient_scale};
      const auto write = [&](std::int64_t k) {
        const double p = std::exp(double{z[k]} - row.max - log_sum_exp);
        const double target =
            smooth_ * weight_of(k) + (k == label ? first_hit : 0.0) + (k == second ? second_hit : 0.0);
        dz[k] = rounded_to<T>(static_cast<float>(scale * (total * p - target)));
      };
      if (weighted || classes <= kFewSoftmaxClasses) {
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
  double smooth_;  ///< target of every class that is not the label
  double sum_of_weights_;
  const Workspace& workspace_;
};

}  // namespace

template <>
std::unique_ptr<SoftmaxCrossEntropyOp> make_op(const SoftmaxCrossEntropySpec& spec, const Resources& resources) {
  return make_stored<CpuSoftmaxCrossEntropy, SoftmaxCrossEntropyOp>(spec, resources.workspace);
}

}  // namespace convoy::ops::cpu
