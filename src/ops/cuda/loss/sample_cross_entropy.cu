/// The loss of samples with several labels on the GPU, in double: a block for each row, then a thread for each sample.
#include <cstdint>
#include <memory>

#include "convoy/ops/sample_cross_entropy.h"

#include "ops/cuda/element.h"
#include "ops/cuda/launch.h"
#include "ops/cuda/loss/score_samples.h"
#include "ops/cuda/loss/softmax_rows.h"
#include "ops/cuda/resources.h"

namespace convoy::ops::cuda {

namespace {

struct Extents {
  std::int64_t n, rows, classes;
};

/// Grid: N * K, a block for each row. Block: threads_for_row. Shared memory: below 1 KB. Reads the logits twice (the
/// second time from L1 or L2). If a label is no class, the loss is NaN: a kernel cannot throw.
__global__ void __launch_bounds__(kMaxRowThreads)
    score_rows(Extents extents, const float* logits, const std::int32_t* labels, LossPart* rows) {
  __shared__ Largest shared_largest[kMaxRowWarps];
  __shared__ double shared_exp[kMaxRowWarps];
  const std::int64_t row = blockIdx.x;
  const std::int32_t label = labels[row];
  if (label < 0 || label >= extents.classes) {
    if (threadIdx.x == 0) rows[row] = label == kNoLabel ? LossPart{} : LossPart{static_cast<double>(NAN), 0, 1};
    return;
  }
  const float* z = logits + row * extents.classes;
  const Largest best = largest_of_row(z, extents.classes, shared_largest);
  const double max = best.value;
  double my_exp = 0;
  for (std::int64_t k = threadIdx.x; k < extents.classes; k += blockDim.x) my_exp += exp(double{z[k]} - max);
  const double loss = log(sum_of_block(my_exp, shared_exp)) - (double{z[label]} - max);
  if (threadIdx.x == 0) rows[row] = {loss, isfinite(loss) && best.index == label ? 1 : 0, 1};
}

/// Grid and block: as for score_rows. dlogits may be logits: a thread overwrites only values that it was the last to
/// read.
template <typename T>
__global__ void __launch_bounds__(kMaxRowThreads)
    write_gradients(Extents extents, const float* logits, const std::int32_t* labels, const SampleScore* dscores,
                    T* dlogits) {
  __shared__ Largest shared_largest[kMaxRowWarps];
  __shared__ double shared_exp[kMaxRowWarps];
  const std::int64_t row = blockIdx.x, n = row / extents.rows;
  const std::int32_t label = labels[row];
  T* const dz = dlogits + row * extents.classes;
  if (label < 0 || label >= extents.classes) {
    const float value = label == kNoLabel ? 0.0f : NAN;
    for (std::int64_t k = threadIdx.x; k < extents.classes; k += blockDim.x) dz[k] = from_float<T>(value);
    return;
  }
  int num_labels = 0;
  for (std::int64_t r = n * extents.rows; r < (n + 1) * extents.rows; ++r) num_labels += labels[r] == kNoLabel ? 0 : 1;
  const double scale = double{dscores[n].loss} / num_labels;
  const float* z = logits + row * extents.classes;
  const double max = largest_of_row(z, extents.classes, shared_largest).value;
  double my_exp = 0;
  for (std::int64_t k = threadIdx.x; k < extents.classes; k += blockDim.x) my_exp += exp(double{z[k]} - max);
  const double log_sum_exp = log(sum_of_block(my_exp, shared_exp));
  for (std::int64_t k = threadIdx.x; k < extents.classes; k += blockDim.x) {
    const double p = exp(double{z[k]} - max - log_sum_exp);
    dz[k] = from_float<T>(static_cast<float>(scale * (p - (k == label ? 1.0 : 0.0))));
  }
}

template <typename T>
class CudaSampleCrossEntropy final : public SampleCrossEntropyOp {
 public:
  CudaSampleCrossEntropy(const SampleCrossEntropySpec& spec, Context& context)
      : extents_{spec.n, spec.num_rows, spec.num_classes}, context_(context) {
    context.reserve_scratch(spec.n * spec.num_rows * static_cast<std::int64_t>(sizeof(LossPart)));
  }

  void forward(const float* logits, const std::int32_t* labels, SampleScore* scores) override {
    auto* const rows = reinterpret_cast<LossPart*>(context_.scratch());
    launch(score_rows, shape_over_rows(), context_.stream(), extents_, logits, labels, rows);
    launch(score_samples, shape_for(extents_.n), context_.stream(), extents_.n, extents_.rows, rows, scores);
  }

  void backward(const float* logits, const std::int32_t* labels, const SampleScore* dscores, void* dlogits) override {
    launch(write_gradients<T>, shape_over_rows(), context_.stream(), extents_, logits, labels, dscores,
           static_cast<T*>(dlogits));
  }

 private:
  LaunchShape shape_over_rows() const {
    return {{static_cast<unsigned>(extents_.n * extents_.rows)},
            {static_cast<unsigned>(threads_for_row(extents_.classes))}};
  }

  Extents extents_;
  Context& context_;
};

}  // namespace

template <>
std::unique_ptr<SampleCrossEntropyOp> make_op(const SampleCrossEntropySpec& spec, const Resources& resources) {
  std::unique_ptr<SampleCrossEntropyOp> op;
  with_type(spec.type,
            [&]<typename T>(T*) { op = std::make_unique<CudaSampleCrossEntropy<T>>(spec, resources.context); });
  return op;
}

}  // namespace convoy::ops::cuda
