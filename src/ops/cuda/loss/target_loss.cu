/// The loss of outputs with targets on the GPU, in double: a block for each part of a sample, then a thread for each
/// sample.
#include <algorithm>
#include <cstdint>
#include <memory>

#include "convoy/ops/target_loss.h"

#include "ops/cuda/element.h"
#include "ops/cuda/launch.h"
#include "ops/cuda/loss/score_samples.h"
#include "ops/cuda/loss/softmax_rows.h"
#include "ops/cuda/resources.h"
#include "ops/target_loss_math.h"

namespace convoy::ops::cuda {

namespace {

struct Arguments {
  TargetExtents extents;
  TargetError error;
  const OutputNumbers* numbers;  ///< (K)
  const float *outputs, *targets;

  __device__ const OutputNumbers& numbers_of(std::int64_t value) const { return numbers[value % extents.outputs]; }
};

/// Grid: parts of all samples. Block: threads_for_row. Shared memory: below 1 KB. Reads outputs and targets once.
__global__ void __launch_bounds__(kMaxRowThreads) score_parts(Arguments args, LossPart* parts) {
  __shared__ double shared_loss[kMaxRowWarps], shared_correct[kMaxRowWarps], shared_labels[kMaxRowWarps];
  const std::int64_t n = blockIdx.x / args.extents.parts, part = blockIdx.x % args.extents.parts;
  const std::int64_t begin = part * kValuesOfPart, rest = args.extents.values - begin;
  const std::int64_t first = n * args.extents.values + begin, count = rest < kValuesOfPart ? rest : kValuesOfPart;
  double loss = 0, correct = 0, labels = 0;  // whole numbers are exact in double
  for (std::int64_t i = first + threadIdx.x; i < first + count; i += blockDim.x) {
    const LossPart value = args.error.part(double{args.outputs[i]}, double{args.targets[i]}, args.numbers_of(i));
    loss += value.loss;
    correct += value.num_correct;
    labels += value.num_labels;
  }
  loss = sum_of_block(loss, shared_loss);
  correct = sum_of_block(correct, shared_correct);
  labels = sum_of_block(labels, shared_labels);
  if (threadIdx.x == 0)
    parts[blockIdx.x] = {loss, static_cast<std::int32_t>(correct), static_cast<std::int32_t>(labels)};
}

/// Grid: over all values. doutputs may be outputs: a thread overwrites the value that it alone has read.
template <typename T>
__global__ void __launch_bounds__(kThreads)
    write_gradients(Arguments args, const SampleScore* scores, const SampleScore* dscores, T* doutputs) {
  const std::int64_t i = my_index(), n = i / args.extents.values;
  if (n >= args.extents.n) return;
  const double labels = scores[n].num_labels, scale = double{dscores[n].loss} / (labels > 1 ? labels : 1.0);
  const double slope = args.error.slope(double{args.outputs[i]}, double{args.targets[i]}, args.numbers_of(i));
  doutputs[i] = from_float<T>(static_cast<float>(scale * slope));
}

template <typename T>
class CudaTargetLoss final : public TargetLossOp {
 public:
  CudaTargetLoss(const TargetLossSpec& spec, Context& context)
      : extents_(spec), error_{spec.kind, double{spec.huber_delta}}, context_(context) {
    context.reserve_scratch(num_parts() * static_cast<std::int64_t>(sizeof(LossPart)));
    const std::vector<OutputNumbers> numbers = numbers_of_outputs(spec);
    numbers_ = Buffer(context.device(), std::ssize(numbers) * static_cast<std::int64_t>(sizeof(OutputNumbers)));
    context.device().copy_to_device(numbers_.data(), numbers.data(), numbers_.size_bytes());
  }

  void forward(const float* outputs, const float* targets, SampleScore* scores) override {
    auto* const parts = reinterpret_cast<LossPart*>(context_.scratch());
    const LaunchShape shape{{static_cast<unsigned>(num_parts())},
                            {static_cast<unsigned>(threads_for_row(std::min(extents_.values, kValuesOfPart)))}};
    launch(score_parts, shape, context_.stream(), arguments(outputs, targets), parts);
    launch(score_samples, shape_for(extents_.n), context_.stream(), extents_.n, extents_.parts, parts, scores);
  }

  void backward(const float* outputs, const float* targets, const SampleScore* scores, const SampleScore* dscores,
                void* doutputs) override {
    launch(write_gradients<T>, shape_for(extents_.n * extents_.values), context_.stream(), arguments(outputs, targets),
           scores, dscores, static_cast<T*>(doutputs));
  }

 private:
  std::int64_t num_parts() const { return extents_.n * extents_.parts; }
  Arguments arguments(const float* outputs, const float* targets) const {
    return {extents_, error_, reinterpret_cast<const OutputNumbers*>(numbers_.data()), outputs, targets};
  }

  TargetExtents extents_;
  TargetError error_;
  Context& context_;
  Buffer numbers_;
};

}  // namespace

template <>
std::unique_ptr<TargetLossOp> make_op(const TargetLossSpec& spec, const Resources& resources) {
  std::unique_ptr<TargetLossOp> op;
  with_type(spec.type, [&]<typename T>(T*) { op = std::make_unique<CudaTargetLoss<T>>(spec, resources.context); });
  return op;
}

}  // namespace convoy::ops::cuda
