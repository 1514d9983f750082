/// The loss on the CPU, in double: a few thousand values a step, on which everything hangs.
#include "convoy/ops/softmax_cross_entropy.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "convoy/base/error.h"

#include "ops/cpu/operations.h"
#include "ops/cpu/storage.h"

namespace convoy::ops::cpu {

namespace {

template <typename T>
class CpuSoftmaxCrossEntropy final : public SoftmaxCrossEntropyOp {
 public:
  explicit CpuSoftmaxCrossEntropy(const SoftmaxCrossEntropySpec& spec)
      : spec_(spec), smooth_(double{spec.label_smoothing} / static_cast<double>(spec.num_classes)) {}

  void run(const LossArguments& args) override {
    T* dlogits = values_at<T>(args.dlogits);
    *args.sums = {};
    for (std::int64_t n = 0; n < spec_.n; ++n) {
      const std::int64_t offset = n * spec_.num_classes;
      T* dz = dlogits == nullptr ? nullptr : dlogits + offset;
      if (args.labels[n] == kNoLabel) {
        if (dz != nullptr) std::fill_n(dz, spec_.num_classes, T{});
      } else {
        run_sample(args, n, dz);
      }
    }
  }

 private:
  std::int64_t checked_label(std::int32_t label) const {
    if (label < 0 || label >= spec_.num_classes) {
      fail("label {} in the data, the network has {} classes (0 to {}); import the data again", label,
           spec_.num_classes, spec_.num_classes - 1);
    }
    return label;
  }

  /// With d = z - max z, log p = d - log sum exp d, and as the targets sum to 1:
  ///   loss = log sum exp d - (1 - s) ((1 - share) d_label + share d_second) - s/classes sum d
  void run_sample(const LossArguments& args, std::int64_t n, T* dz) const {
    const std::int64_t classes = spec_.num_classes, label = checked_label(args.labels[n]);
    const SecondLabel mixed = args.seconds == nullptr ? SecondLabel{args.labels[n], 0} : args.seconds[n];
    const std::int64_t second = checked_label(mixed.label), answer = mixed.share > 0.5f ? second : label;
    const float* z = args.logits + n * classes;
    const std::int64_t best = std::max_element(z, z + classes) - z;
    const auto max = double{z[best]};
    double sum_exp = 0, sum = 0;
    for (std::int64_t k = 0; k < classes; ++k) {
      const double d = double{z[k]} - max;  // NaN where z is NaN or +-inf - inf: then so is the loss
      sum_exp += std::exp(d);
      sum += d;
    }
    const double log_sum_exp = std::log(sum_exp), hit = 1.0 - double{spec_.label_smoothing};
    const double second_hit = hit * double{mixed.share}, first_hit = hit - second_hit;
    const double loss =
        log_sum_exp - first_hit * (double{z[label]} - max) - second_hit * (double{z[second]} - max) - smooth_ * sum;
    args.sums->loss += loss;
    args.sums->num_correct += std::isfinite(loss) && best == answer ? 1 : 0;
    args.sums->num_samples += 1;
    if (dz == nullptr) return;
    const double scale = double{args.loss_scale} * double{spec_.gradient_scale};
    for (std::int64_t k = 0; k < classes; ++k) {
      const double p = std::exp(double{z[k]} - max - log_sum_exp);
      const double target = smooth_ + (k == label ? first_hit : 0.0) + (k == second ? second_hit : 0.0);
      dz[k] = rounded_to<T>(static_cast<float>(scale * (p - target)));
    }
  }

  SoftmaxCrossEntropySpec spec_;
  double smooth_;  ///< the target of every class but the label's
};

}  // namespace

std::unique_ptr<SoftmaxCrossEntropyOp> make_softmax_cross_entropy(const SoftmaxCrossEntropySpec& spec) {
  return make_stored<CpuSoftmaxCrossEntropy, SoftmaxCrossEntropyOp>(spec);
}

}  // namespace convoy::ops::cpu
