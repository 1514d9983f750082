/// Forward-only passes over a data set.
#include "train/evaluation.h"

#include <algorithm>
#include <iterator>

#include "train/input.h"

namespace convoy {

namespace {

constexpr int kEvaluationTag = 9004, kLogitsTag = 9005, kBadTag = 9006;

/// Images whose labels mean other classes than the network's: none counts.
class UnlabelledSource final : public BatchSource {
 public:
  UnlabelledSource(BatchSource& source, std::int64_t batch_micro) : source_(source), batch_micro_(batch_micro) {}

  void load_images(std::int64_t micro_batch, void* x) override { source_.load_images(micro_batch, x); }
  void load_labels(std::int64_t micro_batch, std::int32_t* labels, ops::SecondLabel* seconds) override {
    source_.load_labels(micro_batch, labels, seconds);
    std::fill_n(labels, batch_micro_, ops::kNoLabel);
  }

 private:
  BatchSource& source_;
  std::int64_t batch_micro_;
};

/// Hands the logits of all samples to rank 0's observer, step after step.
class LogitsChannel {
 public:
  LogitsChannel(Engine& engine, const Loader& loader, const EvaluationSpec& spec)
      : engine_(engine),
        loader_(loader),
        spec_(spec),
        num_classes_(engine.plan().spec().network.num_classes),
        logits_(engine, {.item_bytes = spec.params.batch.micro * num_classes_ * std::int64_t{sizeof(float)},
                         .tag = kLogitsTag,
                         .stage = engine.grid().num_stages() - 1}) {
    if (spec.bad != nullptr) bad_.emplace(engine, StepChannel::Spec{spec.params.batch.micro, kBadTag, 0});
    engine.keep_logits();
  }

  void post() {
    logits_.post(std::as_bytes(engine_.logits()));
    if (bad_) bad_->post(std::as_bytes(loader_.bad_places()));
  }
  void collect() {
    const std::int64_t left = spec_.samples.info().num_samples - first_sample_;
    const auto count = static_cast<std::size_t>(std::min(spec_.params.batch.global, left));
    StepLogits step{.first_sample = first_sample_};
    const auto* logits = reinterpret_cast<const float*>(logits_.collect().data());
    step.logits = {logits, count * static_cast<std::size_t>(num_classes_)};
    if (bad_) step.bad = {reinterpret_cast<const std::uint8_t*>(bad_->collect().data()), count};
    spec_.observe(step);
    first_sample_ += spec_.params.batch.global;
  }
  void finish() {
    logits_.finish();
    if (bad_) bad_->finish();
  }

 private:
  Engine& engine_;
  const Loader& loader_;
  const EvaluationSpec& spec_;
  std::int64_t num_classes_;
  StepChannel logits_;
  std::optional<StepChannel> bad_;
  std::int64_t first_sample_ = 0;  ///< of the next step
};

}  // namespace

std::optional<StepMetrics> evaluate_dataset(Engine& engine, const EvaluationSpec& spec) {
  // 1. All samples in order
  const io::DatasetInfo& data = spec.samples.info();
  const std::int64_t num_samples = data.num_samples, batch_global = spec.params.batch.global;
  const std::int64_t num_steps = (num_samples + batch_global - 1) / batch_global;
  const Sampler sampler({.num_samples = num_samples, .seed = 0, .shuffle = false});
  const Augmenter augmenter = make_augmenter(spec.card, data, evaluation_augmentation(spec.card, data));
  LoaderSpec loading = loader_spec(engine, spec.params);
  loading.num_steps = num_steps;
  loading.steps_per_epoch = num_steps;
  loading.skips_bad = spec.bad != nullptr;
  Loader loader(spec.samples, sampler, augmenter, engine.operations(), loading);
  UnlabelledSource unlabelled(loader, spec.params.batch.micro);
  const bool labels_count = data.class_names == spec.card.class_names;
  BatchSource& source = labels_count ? static_cast<BatchSource&>(loader) : unlabelled;
  // 2. Step by step; rank 0 looks at each while the next one computes
  MetricsChannel metrics(engine, kEvaluationTag);
  std::optional<LogitsChannel> logits;
  if (spec.observe) logits.emplace(engine, loader, spec);
  StepMetrics total;
  const auto collect = [&] {
    if (!engine.grid().is_root()) return;
    total += metrics.collect();
    if (logits) logits->collect();
  };
  std::int64_t step = 0;
  for (; step < num_steps && !spec.stop(); ++step) {
    engine.evaluate_step(source);
    metrics.post();
    if (logits) logits->post();
    if (spec.bad != nullptr) std::ranges::move(loader.take_bad(), std::back_inserter(*spec.bad));
    if (step > 0) collect();
  }
  if (step > 0) collect();
  // 3. Nothing is under way
  metrics.finish();
  if (logits) logits->finish();
  engine.finish();
  if (step < num_steps) return std::nullopt;
  return total;
}

}  // namespace convoy
