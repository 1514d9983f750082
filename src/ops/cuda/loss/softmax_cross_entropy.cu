/// The loss on the GPU, in double as on the CPU: there are only a few hundred thousand values, and all gradients depend
/// on them.
#include <cstdint>
#include <memory>
#include <numeric>

#include "convoy/ops/softmax_cross_entropy.h"

#include "ops/cuda/element.h"
#include "ops/cuda/launch.h"
#include "ops/cuda/loss/softmax_rows.h"
#include "ops/cuda/resources.h"
#include "ops/loss_part.h"

namespace convoy::ops::cuda {

namespace {

struct Arguments {
  LossArguments of;
  LossPart* rows;         ///< (N) scratch
  unsigned* num_arrived;  ///< number of blocks that have written their row; 0 between calls
  std::int64_t n, classes;
  double hit, smooth;          ///< the target: smooth for every class, plus hit for the label or shared by two labels
  const float* class_weights;  ///< (classes), or null
  double sum_of_weights;
  double scale;
};

/// With d = z - max z, log p = d - log sum exp d:
///   loss = sum_k w_k target_k log sum exp d - (1 - s) ((1 - share) w_label d_label + share w_second d_second)
///          - s/classes sum_k w_k d_k
/// Without weights the targets sum to 1.
template <typename T>
__device__ LossPart run_row(const Arguments& args, std::int64_t n, std::int32_t label, const MixedLabel& mixed, T* dz) {
  __shared__ Largest shared_largest[kMaxRowWarps];
  __shared__ double shared_exp[kMaxRowWarps], shared_d[kMaxRowWarps];
  const float* z = args.of.logits + n * args.classes;
  const auto weight_of = [&](std::int64_t k) {
    return args.class_weights != nullptr ? double{args.class_weights[k]} : 1.0;
  };

  const Largest best = largest_of_row(z, args.classes, shared_largest);
  const double max = best.value;

  double my_exp = 0, my_d = 0;
  for (std::int64_t k = threadIdx.x; k < args.classes; k += blockDim.x) {
    const double d = double{z[k]} - max;  // NaN if z is NaN or for +-inf - inf: then the loss is NaN
    my_exp += exp(d);
    my_d += weight_of(k) * d;
  }
  const double log_sum_exp = log(sum_of_block(my_exp, shared_exp)), sum = sum_of_block(my_d, shared_d);
  const double second_share = args.hit * double{mixed.share};
  const double first_hit = (args.hit - second_share) * weight_of(label);
  const double second_hit = second_share * weight_of(mixed.label);
  const double total = args.class_weights != nullptr ? first_hit + second_hit + args.smooth * args.sum_of_weights : 1.0;
  if (dz != nullptr) {
    for (std::int64_t k = threadIdx.x; k < args.classes; k += blockDim.x) {
      const double p = exp(double{z[k]} - max - log_sum_exp);
      const double target =
          args.smooth * weight_of(k) + (k == label ? first_hit : 0.0) + (k == mixed.label ? second_hit : 0.0);
      dz[k] = from_float<T>(static_cast<float>(args.scale * (total * p - target)));
    }
  }
  const double loss = total * log_sum_exp - first_hit * (double{z[label]} - max) -
                      second_hit * (double{z[mixed.label]} - max) - args.smooth * sum;
  const std::int32_t answer = mixed.share > 0.5f ? mixed.label : label;
  return {loss, isfinite(loss) && best.index == answer ? 1 : 0, 1};
}

/// The result of a row without a label, or with one that is no class: the result is then NaN, as a kernel cannot throw.
template <typename T>
__device__ LossPart run_unlabelled(const Arguments& args, bool is_padding, T* dz) {
  const float value = is_padding ? 0.0f : NAN;
  if (dz != nullptr) {
    for (std::int64_t k = threadIdx.x; k < args.classes; k += blockDim.x) dz[k] = from_float<T>(value);
  }
  return {value, 0, is_padding ? 0 : 1};
}

/// Adds up all rows, after they have been written: each thread every blockDim-th row, then the block its threads.
__device__ void sum_rows(const Arguments& args) {
  __shared__ double shared_loss[kMaxRowWarps], shared_correct[kMaxRowWarps], shared_counted[kMaxRowWarps];
  double loss = 0, correct = 0, counted = 0;  // whole numbers are exact in double
  for (std::int64_t n = threadIdx.x; n < args.n; n += blockDim.x) {
    loss += __ldcg(&args.rows[n].loss);
    correct += __ldcg(&args.rows[n].num_correct);
    counted += __ldcg(&args.rows[n].num_labels);
  }
  loss = sum_of_block(loss, shared_loss);
  correct = sum_of_block(correct, shared_correct);
  counted = sum_of_block(counted, shared_counted);
  if (threadIdx.x != 0) return;
  args.of.sums->loss = loss;
  args.of.sums->num_correct = static_cast<std::int64_t>(correct);
  args.of.sums->num_labels = args.of.sums->num_samples = static_cast<std::int64_t>(counted);
}

/// Grid: N, a block for each row; the last block to end adds up the rows. Block: threads_for_row.
/// Shared memory: below 1 KB. Sums in double. Reads the logits once (again from L1) and writes dlogits once.
template <typename T>
__global__ void __launch_bounds__(kMaxRowThreads) softmax_cross_entropy(Arguments args) {
  __shared__ bool is_last;
  const std::int64_t n = blockIdx.x;
  const std::int32_t label = args.of.labels[n];
  const MixedLabel mixed = args.of.mixed_labels != nullptr ? args.of.mixed_labels[n] : MixedLabel{label, 0};
  const bool labelled = label >= 0 && label < args.classes, both = mixed.label >= 0 && mixed.label < args.classes;
  T* const dz = args.of.dlogits == nullptr ? nullptr : static_cast<T*>(args.of.dlogits) + n * args.classes;
  const LossPart result =
      labelled && both ? run_row(args, n, label, mixed, dz) : run_unlabelled(args, label == kNoLabel, dz);
  if (threadIdx.x == 0) {
    args.rows[n] = result;
    __threadfence();
    is_last = atomicInc(args.num_arrived, gridDim.x - 1) == gridDim.x - 1;  // 0 again after the last
  }
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  sum_rows(args);
}

template <typename T>
class CudaSoftmaxCrossEntropy final : public SoftmaxCrossEntropyOp {
 public:
  CudaSoftmaxCrossEntropy(const SoftmaxCrossEntropySpec& spec, Context& context)
      : spec_(spec),
        context_(context),
        num_arrived_(context.device(), sizeof(unsigned)),
        sum_of_weights_(std::accumulate(spec.class_weights.begin(), spec.class_weights.end(), 0.0)),
        threads_(threads_for_row(spec.num_classes)) {
    context.reserve_scratch(spec.n * static_cast<std::int64_t>(sizeof(LossPart)));
    if (spec.class_weights.empty()) return;
    class_weights_ =
        Buffer(context.device(), std::ssize(spec.class_weights) * static_cast<std::int64_t>(sizeof(float)));
    context.device().copy_to_device(class_weights_.data(), spec.class_weights.data(), class_weights_.size_bytes());
  }

  void run(const LossArguments& args) override {
    const Arguments arguments{.of = args,
                              .rows = reinterpret_cast<LossPart*>(context_.scratch()),
                              .num_arrived = reinterpret_cast<unsigned*>(num_arrived_.data()),
                              .n = spec_.n,
                              .classes = spec_.num_classes,
                              .hit = 1.0 - double{spec_.label_smoothing},
                              .smooth = double{spec_.label_smoothing} / static_cast<double>(spec_.num_classes),
                              .class_weights = reinterpret_cast<const float*>(class_weights_.data()),
                              .sum_of_weights = sum_of_weights_,
                              .scale = double{args.loss_scale} * double{spec_.gradient_scale}};
    const LaunchShape shape{{static_cast<unsigned>(spec_.n)}, {static_cast<unsigned>(threads_)}};
    launch(softmax_cross_entropy<T>, shape, context_.stream(), arguments);
  }

 private:
  SoftmaxCrossEntropySpec spec_;
  Context& context_;
  Buffer num_arrived_;
  Buffer class_weights_;
  double sum_of_weights_;
  int threads_;
};

}  // namespace

template <>
std::unique_ptr<SoftmaxCrossEntropyOp> make_op(const SoftmaxCrossEntropySpec& spec, const Resources& resources) {
  std::unique_ptr<SoftmaxCrossEntropyOp> op;
  with_type(spec.type,
            [&]<typename T>(T*) { op = std::make_unique<CudaSoftmaxCrossEntropy<T>>(spec, resources.context); });
  return op;
}

}  // namespace convoy::ops::cuda
