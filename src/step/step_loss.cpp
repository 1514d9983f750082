/// The three kinds of losses: of a class, of labels or numbers, and of scores.
#include "step/step_loss.h"

#include <cmath>

#include "convoy/base/features.h"
#include "convoy/data/batch_source.h"
#include "convoy/data/loader.h"
#include "convoy/ops/operations.h"

#include "step/rank_runtime.h"

namespace convoy {

namespace {

/// Softmax cross-entropy of logits (N,1,1,classes) and labels, which are in the host's memory.
class LabelLoss final : public StepLoss {
 public:
  LabelLoss(const RankRuntime& runtime, std::int64_t num_micro_batches, bool in_training)
      : StepLoss(runtime.device(), num_micro_batches, 1), n_(runtime.plan().spec().batch.micro) {
    const RuntimeSpec& spec = runtime.plan().spec();
    op_ = runtime.operations().create<ops::SoftmaxCrossEntropyOp>(
        {.n = n_,
         .num_classes = spec.network.num_classes,
         .label_smoothing = in_training ? static_cast<float>(spec.train.label_smoothing) : 0.0f,
         .gradient_scale = 1.0f / static_cast<float>(spec.batch.global),
         .type = spec.network.type,
         .class_weights = in_training ? spec.output_weights : std::vector<float>{}});
    const std::int64_t count = num_micro_batches * n_;
    labels_ = HostBuffer(runtime.device(), count * static_cast<std::int64_t>(sizeof(std::int32_t)));
    if (in_training && spec.mixes_labels)
      mixed_labels_ = HostBuffer(runtime.device(), count * static_cast<std::int64_t>(sizeof(ops::MixedLabel)));
  }

  std::vector<WantedFeature> features() const override {
    std::vector<WantedFeature> wanted = {{.name = features::kLabel, .spec = features::label_spec(n_), .by_host = true}};
    if (mixes_labels())
      wanted.push_back({.name = features::kMixedLabel, .spec = features::mixed_label_spec(n_), .by_host = true});
    return wanted;
  }

  void load(BatchSource& source, std::int64_t m) override {
    source.load(features::kLabel, m, labels_of(m));
    if (mixes_labels()) source.load(features::kMixedLabel, m, mixed_labels_of(m));
  }

  void run(const Arguments& args) override {
    op_->run({.logits = static_cast<const float*>(args.y),
              .labels = labels_of(args.micro_batch),
              .mixed_labels = mixed_labels_of(args.micro_batch),
              .dlogits = args.dy,
              .loss_scale = args.loss_scale,
              .sums = sums_of(args.micro_batch)});
  }

 private:
  bool mixes_labels() const { return mixed_labels_.size_bytes() > 0; }
  std::int32_t* labels_of(std::int64_t m) const { return labels_.as<std::int32_t>().data() + m * n_; }
  ops::MixedLabel* mixed_labels_of(std::int64_t m) const {
    return mixes_labels() ? mixed_labels_.as<ops::MixedLabel>().data() + m * n_ : nullptr;
  }

  std::int64_t n_;
  std::unique_ptr<ops::SoftmaxCrossEntropyOp> op_;
  HostBuffer labels_;        ///< by micro-batch
  HostBuffer mixed_labels_;  ///< by micro-batch; empty if labels are not mixed
};

ops::TargetLossKind kind_of(LossKind loss) {
  switch (loss) {
    case LossKind::kBinaryCrossEntropy:
      return ops::TargetLossKind::kBinaryCrossEntropy;
    case LossKind::kMae:
      return ops::TargetLossKind::kAbsoluteError;
    case LossKind::kHuber:
      return ops::TargetLossKind::kHuberError;
    default:
      return ops::TargetLossKind::kSquaredError;
  }
}

/// The mean error of outputs (N,D,H,W,K) against targets of the same shape: numbers or several labels. Targets lie in
/// the memory of the device, all micro-batches of a step next to each other, because a schedule may load several before
/// the first loss. Scores are overwritten by the next micro-batch: the device works in order.
class TargetLoss final : public StepLoss {
 public:
  TargetLoss(const RankRuntime& runtime, std::int64_t num_micro_batches, bool in_training)
      : StepLoss(runtime.device(), num_micro_batches, 1),
        wanted_{.name = features::kTarget,
                .spec = features::target_spec(runtime.plan().target(), runtime.plan().spec().batch.micro)} {
    const RuntimeSpec& spec = runtime.plan().spec();
    const Target& target = runtime.plan().target();
    op_ = runtime.operations().create<ops::TargetLossOp>(
        {.n = spec.batch.micro,
         .num_pixels = target.shape.length(),
         .num_outputs = spec.network.num_classes,
         .kind = kind_of(runtime.plan().loss()),
         .huber_delta = static_cast<float>(spec.train.huber_delta),
         .type = spec.network.type,
         .mean = target.mean,
         .stddev = target.stddev,
         .weights = in_training ? spec.output_weights : std::vector<float>{}});
    sums_op_ = runtime.operations().create<ops::ScoreSumsOp>(
        {.n = spec.batch.micro, .gradient_scale = 1.0f / static_cast<float>(spec.batch.global)});
    targets_ = Buffer(runtime.device(), num_micro_batches * wanted_.spec.bytes());
    for (Buffer* scores : {&scores_, &dscores_})
      *scores = Buffer(runtime.device(), spec.batch.micro * static_cast<std::int64_t>(sizeof(ops::SampleScore)));
  }

  std::vector<WantedFeature> features() const override { return {wanted_}; }
  void load(BatchSource& source, std::int64_t m) override { source.load(features::kTarget, m, targets_of(m)); }

  void run(const Arguments& args) override {
    const auto* const outputs = static_cast<const float*>(args.y);
    const float* const targets = targets_of(args.micro_batch);
    auto* const scores = scores_.as<ops::SampleScore>().data();
    auto* const dscores = args.dy == nullptr ? nullptr : dscores_.as<ops::SampleScore>().data();
    op_->forward(outputs, targets, scores);
    sums_op_->run(
        {.scores = scores, .dscores = dscores, .loss_scale = args.loss_scale, .sums = sums_of(args.micro_batch)});
    if (dscores != nullptr) op_->backward(outputs, targets, scores, dscores, args.dy);
  }

 private:
  float* targets_of(std::int64_t m) const { return targets_.floats() + m * wanted_.spec.shape.count(); }

  WantedFeature wanted_;
  std::unique_ptr<ops::TargetLossOp> op_;
  std::unique_ptr<ops::ScoreSumsOp> sums_op_;
  Buffer targets_;           ///< by micro-batch
  Buffer scores_, dscores_;  ///< of one micro-batch
};

/// The sums of scores (O,N,1,3), whose labels the network's cells have read.
class ScoreLoss final : public StepLoss {
 public:
  ScoreLoss(const RankRuntime& runtime, std::int64_t num_micro_batches)
      : StepLoss(runtime.device(), num_micro_batches, runtime.plan().num_objectives()),
        op_(runtime.operations().create<ops::ScoreSumsOp>(
            {.n = runtime.plan().spec().batch.micro,
             .num_objectives = runtime.plan().num_objectives(),
             .gradient_scale = 1.0f / static_cast<float>(runtime.plan().spec().batch.global)})) {}

  std::vector<WantedFeature> features() const override { return {}; }
  void load(BatchSource&, std::int64_t) override {}
  void run(const Arguments& args) override {
    op_->run({.scores = static_cast<const ops::SampleScore*>(args.y),
              .dscores = static_cast<ops::SampleScore*>(args.dy),
              .loss_scale = args.loss_scale,
              .sums = sums_of(args.micro_batch)});
  }

 private:
  std::unique_ptr<ops::ScoreSumsOp> op_;
};

}  // namespace

StepLoss::StepLoss(Device& device, std::int64_t num_micro_batches, std::int64_t num_objectives)
    : num_objectives_(num_objectives),
      sums_(device, num_micro_batches * num_objectives * static_cast<std::int64_t>(sizeof(ops::LossSums))) {}

double StepLoss::mean_loss(std::int64_t m) const {
  double sum = 0;
  for (std::int64_t o = 0; o < num_objectives_; ++o) {
    const ops::LossSums& sums = sums_of(m)[o];
    sum += sums.num_samples > 0 ? sums.loss / static_cast<double>(sums.num_samples) : sums.loss;  // 0 without samples
  }
  return sum;
}

bool StepLoss::is_bad(std::int64_t m, double limit) const {
  const double loss = mean_loss(m);
  return !std::isfinite(loss) || (limit > 0 && loss > limit);
}

std::unique_ptr<StepLoss> make_step_loss(const RankRuntime& runtime, std::int64_t num_micro_batches, bool in_training) {
  if (!runtime.grid().is_last_stage()) return nullptr;
  if (!runtime.plan().gives_logits()) return std::make_unique<ScoreLoss>(runtime, num_micro_batches);
  if (runtime.plan().target().kind != TargetKind::kClass)
    return std::make_unique<TargetLoss>(runtime, num_micro_batches, in_training);
  return std::make_unique<LabelLoss>(runtime, num_micro_batches, in_training);
}

}  // namespace convoy
