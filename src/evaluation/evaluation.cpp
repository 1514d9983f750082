/// Forward-only passes over a data set.
#include "evaluation/evaluation.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <memory>

#include "convoy/base/features.h"
#include "convoy/base/progress_line.h"
#include "convoy/comm/tags.h"
#include "convoy/data/make_sample_path.h"

#include "evaluation/logits.h"
#include "watch/status_board.h"

namespace convoy {

namespace {

/// Images whose labels mean other classes than the network's: none counts.
class UnlabelledSource final : public BatchSource {
 public:
  UnlabelledSource(BatchSource& source, std::int64_t batch_micro) : source_(source), batch_micro_(batch_micro) {}

  void begin_step() override { source_.begin_step(); }
  void load(std::string_view feature, std::int64_t micro_batch, void* to) override {
    if (feature != features::kLabel) return source_.load(feature, micro_batch, to);
    std::fill_n(static_cast<std::int32_t*>(to), batch_micro_, ops::kNoLabel);
  }

 private:
  BatchSource& source_;
  std::int64_t batch_micro_;
};

/// All samples in order, as they are or mirrored, for one pass of a runtime.
class View {
 public:
  View(const RankRuntime& runtime, ops::Backend& backend, const EvaluationSpec& spec, SampleView view)
      : sampler_({.num_samples = spec.samples.info().num_samples, .seed = 0, .shuffle = false}),
        path_(make_sample_path({.samples = spec.samples,
                                .metadata = spec.metadata,
                                .params = spec.params,
                                .view = view,
                                .type = runtime.plan().spec().network.type})),
        loader_(*path_, sampler_, backend, loading(runtime, spec, view)),
        unlabelled_(loader_, spec.params.batch.micro),
        labels_count_(spec.labels_count()) {}

  BatchSource& source() { return labels_count_ ? static_cast<BatchSource&>(loader_) : unlabelled_; }
  Loader& loader() { return loader_; }

 private:
  static LoaderSpec loading(const RankRuntime& runtime, const EvaluationSpec& spec, SampleView view) {
    LoaderSpec loading = runtime.loader_spec(spec.params, view);
    loading.num_steps = loading.steps_per_epoch = spec.num_steps();
    loading.skips_bad = spec.bad != nullptr;
    if (spec.params.evaluate.mirror) {  // plain and mirrored: together the threads and the memory of one
      loading.threads = (loading.threads + 1) / 2;
      loading.read_ahead = 1;
    }
    return loading;
  }

  Sampler sampler_;
  std::unique_ptr<SamplePath> path_;
  Loader loader_;
  UnlabelledSource unlabelled_;
  bool labels_count_;
};

/// Brings the logits of all samples to rank 0, pass after pass, and hands them on.
class LogitsChannel {
 public:
  LogitsChannel(RankRuntime& runtime, const EvaluationSpec& spec)
      : runtime_(runtime),
        spec_(spec),
        labels_count_(spec.labels_count()),
        num_classes_(runtime.plan().spec().network.num_classes),
        logits_(runtime, {.item_bytes = spec.params.batch.micro * num_classes_ * std::int64_t{sizeof(float)},
                          .tag = tags::kLogits,
                          .stage = runtime.grid().num_stages() - 1}) {
    if (spec.bad != nullptr) bad_.emplace(runtime, StepChannel::Spec{spec.params.batch.micro, tags::kBadSamples, 0});
    runtime.keep_logits();
  }

  void post(const Loader& loader) {
    logits_.post(std::as_bytes(runtime_.logits()));
    if (bad_) bad_->post(std::as_bytes(loader.bad_flags()));
  }
  /// With test-time augmentation the plain pass waits for the mirrored one; what both give is counted here.
  void collect() {
    const std::int64_t left = spec_.samples.info().num_samples - first_sample_;
    const auto count = static_cast<std::size_t>(std::min(spec_.params.batch.global, left));
    StepLogits step{.first_sample = first_sample_};
    const auto* logits = reinterpret_cast<const float*>(logits_.collect().data());
    step.logits = {logits, count * static_cast<std::size_t>(num_classes_)};
    if (bad_) step.bad = {reinterpret_cast<const std::uint8_t*>(bad_->collect().data()), count};
    if (spec_.params.evaluate.mirror) {
      if (plain_.empty()) {
        plain_.assign(step.logits.begin(), step.logits.end());
        return;
      }
      both_ = mean_of_views(plain_, step.logits, num_classes_);
      plain_.clear();
      step.logits = both_;
      count_scores(step);
    }
    if (spec_.observe) spec_.observe(step);
    first_sample_ += spec_.params.batch.global;
  }
  void finish() {
    logits_.finish();
    if (bad_) bad_->finish();
  }
  /// Of both passes; empty without test-time augmentation.
  const StepMetrics& scores() const { return scores_; }

 private:
  void count_scores(const StepLogits& step) {
    if (!labels_count_) return;
    std::int64_t sample = step.first_sample;
    for (auto row = step.logits; !row.empty(); row = row.subspan(static_cast<std::size_t>(num_classes_))) {
      const std::int32_t label = spec_.samples.label(sample++);
      if (label != ops::kNoLabel) scores_ += {{score(row.first(static_cast<std::size_t>(num_classes_)), label)}};
    }
  }

  RankRuntime& runtime_;
  const EvaluationSpec& spec_;
  bool labels_count_;
  std::int64_t num_classes_;
  StepChannel logits_;
  std::optional<StepChannel> bad_;
  std::int64_t first_sample_ = 0;  ///< of the next step
  std::vector<float> plain_, both_;
  StepMetrics scores_;
};

}  // namespace

bool EvaluationSpec::labels_count() const {
  return samples.info().class_names == metadata.class_names;
}

std::int64_t EvaluationSpec::num_steps() const {
  return (samples.info().num_samples + params.batch.global - 1) / params.batch.global;
}

std::optional<StepMetrics> evaluate_dataset(RankRuntime& runtime, const EvaluationSpec& spec) {
  const ScopedActivity activity(runtime.board(), Activity::kEvaluating);
  // 1. All samples in order, once or twice
  const bool mirrors = spec.params.evaluate.mirror;
  std::deque<View> views;
  views.emplace_back(runtime, runtime.operations(), spec, SampleView::kEvaluation);
  if (mirrors) views.emplace_back(runtime, runtime.operations(), spec, SampleView::kMirrored);
  // 2. Pass by pass; rank 0 looks at each while the next one computes
  MetricsChannel metrics(runtime, tags::kEvaluationLosses);
  std::optional<LogitsChannel> logits;
  if (spec.observe || mirrors) logits.emplace(runtime, spec);
  StepMetrics total;
  const auto collect = [&] {
    if (!runtime.grid().is_root()) return;
    total += metrics.collect();
    if (logits) logits->collect();
  };
  const std::int64_t num_steps = spec.num_steps();
  std::int64_t step = 0, passes = 0;
  std::optional<CountedProgress> progress;
  if (runtime.grid().is_root()) progress.emplace(fmt::format("{}s", input_kinds::one_of(spec.metadata.kind())));
  for (; step < num_steps && !spec.stop(); ++step) {
    if (progress) progress->show(spec.work, step * spec.params.batch.global, spec.samples.info().num_samples);
    for (View& view : views) {
      runtime.evaluate_step(view.source());
      metrics.post();
      if (logits) logits->post(view.loader());
      if (passes++ > 0) collect();
    }
    if (spec.bad != nullptr) std::ranges::move(views.front().loader().take_bad(), std::back_inserter(*spec.bad));
  }
  if (passes > 0) collect();
  // 3. Nothing is under way
  metrics.finish();
  if (logits) logits->finish();
  runtime.finish();
  if (step < num_steps) return std::nullopt;
  return mirrors ? logits->scores() : total;
}

}  // namespace convoy
