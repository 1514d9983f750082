/// Sums of scores on the GPU: a few values per sample.
#include <cstdint>
#include <memory>

#include "convoy/ops/score_sums.h"

#include "ops/cuda/launch.h"
#include "ops/cuda/loss/softmax_rows.h"
#include "ops/cuda/resources.h"

namespace convoy::ops::cuda {

namespace {

/// Grid: O, a block for each objective. Block: 256. Each thread adds up every 256th sample in order, then the block
/// adds up its threads. Whole numbers are exact in double. Shared memory: below 1 KB.
__global__ void __launch_bounds__(kMaxRowThreads)
    add_up_scores(std::int64_t n, const SampleScore* scores, SampleScore* dscores, float scale, LossSums* sums) {
  __shared__ double shared[4][kMaxRowWarps];
  const std::int64_t first = std::int64_t{blockIdx.x} * n;
  double loss = 0, correct = 0, labels = 0, samples = 0;
  for (std::int64_t i = first + threadIdx.x; i < first + n; i += blockDim.x) {
    loss += scores[i].loss;
    correct += scores[i].num_correct;
    labels += scores[i].num_labels;
    samples += scores[i].num_labels > 0 ? 1 : 0;
    if (dscores == nullptr) continue;
    dscores[i].loss = scale;
    dscores[i].num_correct = dscores[i].num_labels = 0;
  }
  loss = sum_of_block(loss, shared[0]);
  correct = sum_of_block(correct, shared[1]);
  labels = sum_of_block(labels, shared[2]);
  samples = sum_of_block(samples, shared[3]);
  if (threadIdx.x != 0) return;
  LossSums& mine = sums[blockIdx.x];
  mine.loss = loss;
  mine.num_correct = static_cast<std::int64_t>(correct);
  mine.num_labels = static_cast<std::int64_t>(labels);
  mine.num_samples = static_cast<std::int64_t>(samples);
}

class CudaScoreSums final : public ScoreSumsOp {
 public:
  CudaScoreSums(const ScoreSumsSpec& spec, const Context& context) : spec_(spec), context_(context) {}

  void run(const ScoreSumsArguments& args) override {
    const LaunchShape shape{{static_cast<unsigned>(spec_.num_objectives)}, {kMaxRowThreads}};
    const auto scale = static_cast<float>(double{args.loss_scale} * double{spec_.gradient_scale});
    launch(add_up_scores, shape, context_.stream(), spec_.n, args.scores, args.dscores, scale, args.sums);
  }

 private:
  ScoreSumsSpec spec_;
  const Context& context_;
};

}  // namespace

template <>
std::unique_ptr<ScoreSumsOp> make_op(const ScoreSumsSpec& spec, const Resources& resources) {
  return std::make_unique<CudaScoreSums>(spec, resources.context);
}

}  // namespace convoy::ops::cuda
