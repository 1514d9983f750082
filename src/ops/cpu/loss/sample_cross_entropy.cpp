/// The loss of samples with several labels on the CPU, in double. One thread computes a row; the rows of a sample are
/// added in order.
#include "convoy/ops/sample_cross_entropy.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "convoy/base/error.h"

#include "ops/cpu/loss/softmax_rows.h"
#include "ops/cpu/parallel.h"
#include "ops/cpu/resources.h"
#include "ops/cpu/storage.h"
#include "ops/loss_part.h"

namespace convoy::ops::cpu {

namespace {

template <typename T>
class CpuSampleCrossEntropy final : public SampleCrossEntropyOp {
 public:
  CpuSampleCrossEntropy(const SampleCrossEntropySpec& spec, Workspace& workspace)
      : spec_(spec),
        threads_(spec.n * spec.num_rows * spec.num_classes < kWorthThreads ? 1 : workspace.threads()),
        workspace_(workspace) {
    workspace.reserve(num_rows() * static_cast<std::int64_t>(sizeof(LossPart)));
  }

  void forward(const float* logits, const std::int32_t* labels, SampleScore* scores) override {
    check_labels(labels);
    auto* const rows = reinterpret_cast<LossPart*>(workspace_.scratch());
#pragma omp parallel for schedule(static) num_threads(threads_) if (threads_ > 1)
    for (std::int64_t r = 0; r < num_rows(); ++r) {
      rows[r] = labels[r] == kNoLabel ? LossPart{} : score_row(logits + r * spec_.num_classes, labels[r]);
    }
    for (std::int64_t n = 0; n < spec_.n; ++n) scores[n] = score_of(rows + n * spec_.num_rows, spec_.num_rows);
  }

  void backward(const float* logits, const std::int32_t* labels, const SampleScore* dscores, void* dlogits) override {
    T* const dz = values_at<T>(dlogits);
#pragma omp parallel for schedule(static) num_threads(threads_) if (threads_ > 1)
    for (std::int64_t r = 0; r < num_rows(); ++r) {
      const std::int64_t offset = r * spec_.num_classes;
      if (labels[r] == kNoLabel) {
        std::fill_n(dz + offset, spec_.num_classes, T{});
      } else {
        const std::int64_t n = r / spec_.num_rows;
        write_row(logits + offset, labels[r], double{dscores[n].loss} / num_labels_of(labels, n), dz + offset);
      }
    }
  }

 private:
  std::int64_t num_rows() const {
    return spec_.n * spec_.num_rows;
  }

  /// Throws Error if a label is not allowed. It is called before the parallel region, which no exception may leave.
  void check_labels(const std::int32_t* labels) const {
    for (std::int64_t r = 0; r < num_rows(); ++r) {
      if (labels[r] == kNoLabel || (labels[r] >= 0 && labels[r] < spec_.num_classes)) continue;
      fail(
          "label {} in row {} of sample {} of a batch is not allowed: the network has {} classes (0 to {}); import the "
          "data again",
          labels[r], r % spec_.num_rows, r / spec_.num_rows, spec_.num_classes, spec_.num_classes - 1);
    }
  }

  double num_labels_of(const std::int32_t* labels, std::int64_t n) const {
    const std::int32_t* const first = labels + n * spec_.num_rows;
    return static_cast<double>(spec_.num_rows - std::count(first, first + spec_.num_rows, kNoLabel));
  }

  LossPart score_row(const float* z, std::int32_t label) const {
    const RowSums row = sum_row(z, spec_.num_classes);
    const double loss = std::log(row.sum_exp) - (double{z[label]} - row.max);
    return {loss, std::isfinite(loss) && row.best == label ? 1 : 0, 1};
  }

  /// dz may be z: z[label] is read before it is overwritten.
  void write_row(const float* z, std::int32_t label, double scale, T* dz) const {
    const RowSums row = sum_row(z, spec_.num_classes);
    const double log_sum_exp = std::log(row.sum_exp), z_of_label = z[label];
    const auto probability = [&](double value) { return std::exp(value - row.max - log_sum_exp); };
    if (spec_.num_classes <= kFewSoftmaxClasses) {
      for (std::int64_t k = 0; k < spec_.num_classes; ++k)
        dz[k] = rounded_to<T>(static_cast<float>(scale * probability(double{z[k]})));
    } else {
      write_gradient(z, spec_.num_classes, {row.max, log_sum_exp, scale, 0}, dz);
    }
    dz[label] = rounded_to<T>(static_cast<float>(scale * (probability(z_of_label) - 1.0)));
  }

  SampleCrossEntropySpec spec_;
  int threads_;
  const Workspace& workspace_;
};

}  // namespace

template <>
std::unique_ptr<SampleCrossEntropyOp> make_op(const SampleCrossEntropySpec& spec, const Resources& resources) {
  return make_stored<CpuSampleCrossEntropy, SampleCrossEntropyOp>(spec, resources.workspace);
}

}  // namespace convoy::ops::cpu
