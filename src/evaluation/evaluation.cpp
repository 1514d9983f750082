/// Forward-only passes over a data set.
#include "evaluation/evaluation.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <memory>

#include "convoy/base/features.h"
#include "convoy/base/progress_line.h"
#include "convoy/comm/tags.h"
#include "convoy/data/loader.h"
#include "convoy/data/make_sample_path.h"
#include "convoy/params/parameters.h"

#include "watchdog/status_board.h"

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
  View(const EvaluationStep& evaluation, const EvaluationSpec& spec, SampleView view)
      : sampler_({.num_samples = spec.samples.info().num_samples, .seed = 0, .shuffle = false}),
        path_(make_sample_path({.samples = spec.samples,
                                .metadata = spec.metadata,
                                .params = spec.params,
                                .view = view,
                                .type = evaluation.runtime().plan().spec().network.type})),
        loader_(*path_, sampler_, evaluation.runtime().operations(), loading(evaluation, spec)),
        unlabelled_(loader_, spec.params.batch.micro),
        labels_count_(spec.labels_count()) {}

  BatchSource& source() { return labels_count_ ? static_cast<BatchSource&>(loader_) : unlabelled_; }
  Loader& loader() { return loader_; }

 private:
  static LoaderSpec loading(const EvaluationStep& evaluation, const EvaluationSpec& spec) {
    LoaderSpec loading = evaluation.runtime().loader_spec(evaluation.loss());
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

/// Counts predictions by class, on rank 0.
class ClassCounter {
 public:
  ClassCounter(const EvaluationSpec& spec, std::int64_t num_classes) : spec_(spec) {
    if (spec.labels_count()) counts_.classes.resize(static_cast<std::size_t>(num_classes));
  }

  void add(std::int64_t sample, const Guesses& guesses) {
    const std::int32_t label = counts_.classes.empty() ? ops::kNoLabel : spec_.samples.label(sample);
    if (label == ops::kNoLabel) return;
    ClassCounts &of_label = class_of(label), &of_predicted = class_of(guesses.front());
    ++of_label.num_samples;
    ++of_predicted.num_predicted;
    if (label == guesses.front()) ++of_label.num_correct;
    if (std::ranges::find(guesses, label) != guesses.end()) ++counts_.num_among_five;
    if (spec_.confusion != nullptr) spec_.confusion->add(label, guesses.front());
  }
  /// Its objectives are empty.
  const StepMetrics& counts() const { return counts_; }

 private:
  ClassCounts& class_of(std::int32_t label) { return counts_.classes[static_cast<std::size_t>(label)]; }

  const EvaluationSpec& spec_;
  StepMetrics counts_{.objectives = {}};
};

/// Brings the network's output for all samples to rank 0, pass after pass: the logits if they are needed, else the
/// classes of the largest ones.
class OutputChannel {
 public:
  OutputChannel(EvaluationStep& evaluation, const EvaluationSpec& spec)
      : evaluation_(evaluation),
        spec_(spec),
        num_classes_(evaluation.runtime().plan().spec().network.num_classes),
        sends_logits_(spec.observe || spec.params.evaluate.mirror),
        channel_(evaluation.runtime(),
                 {.item_bytes = spec.params.batch.micro * (sends_logits_ ? num_classes_ * kLogitBytes : kGuessesBytes),
                  .tag = tags::kLogits,
                  .stage = evaluation.runtime().grid().num_stages() - 1}),
        counter_(spec, num_classes_) {
    if (spec.bad != nullptr)
      bad_.emplace(evaluation.runtime(), StepChannel::Spec{spec.params.batch.micro, tags::kBadSamples, 0});
    evaluation.keep_logits();
  }

  void post(const Loader& loader) {
    const std::span<const float> logits = evaluation_.logits();  // empty but on the last stage
    channel_.post(sends_logits_ ? std::as_bytes(logits) : std::as_bytes(std::span(guess_all(logits))));
    if (bad_) bad_->post(std::as_bytes(loader.bad_flags()));
  }
  /// With test-time augmentation the plain pass waits for the mirrored one; what both give is counted here.
  void collect() {
    const std::int64_t left = spec_.samples.info().num_samples - first_sample_;
    const auto count = static_cast<std::size_t>(std::min(spec_.params.batch.global, left));
    const std::byte* const received = channel_.collect().data();
    StepLogits step{.first_sample = first_sample_};
    if (bad_) step.bad = {reinterpret_cast<const std::uint8_t*>(bad_->collect().data()), count};
    if (!sends_logits_) return count_classes(step, {reinterpret_cast<const Guesses*>(received), count});
    step.logits = {reinterpret_cast<const float*>(received), count * static_cast<std::size_t>(num_classes_)};
    collect_logits(step);
  }
  void finish() {
    channel_.finish();
    if (bad_) bad_->finish();
  }
  /// Losses of both passes; empty without test-time augmentation.
  const StepMetrics& scores() const { return scores_; }
  /// Its objectives are empty.
  const StepMetrics& class_counts() const { return counter_.counts(); }

 private:
  static constexpr std::int64_t kLogitBytes = sizeof(float), kGuessesBytes = sizeof(Guesses);

  template <typename Use>
  void for_each_row(std::span<const float> logits, const Use& use) const {
    const auto classes = static_cast<std::size_t>(num_classes_);
    for (; !logits.empty(); logits = logits.subspan(classes)) use(logits.first(classes));
  }

  void collect_logits(StepLogits& step) {
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
    count_classes(step, guess_all(step.logits));
    if (spec_.observe) spec_.observe(step);
  }

  // Counts the predictions of a step, and advances first_sample_ to the next step's. Bad samples are not counted: they
  // were replaced by padding.
  void count_classes(const StepLogits& step, std::span<const Guesses> guesses) {
    for (std::size_t i = 0; i < guesses.size(); ++i, ++first_sample_)
      if (step.bad.empty() || step.bad[i] == 0) counter_.add(first_sample_, guesses[i]);
  }

  const std::vector<Guesses>& guess_all(std::span<const float> logits) {
    guesses_.clear();
    for_each_row(logits, [this](std::span<const float> row) { guesses_.push_back(best_five(row)); });
    return guesses_;
  }

  void count_scores(const StepLogits& step) {
    if (counter_.counts().classes.empty()) return;
    std::int64_t sample = step.first_sample;
    for_each_row(step.logits, [&](std::span<const float> row) {
      const std::int32_t label = spec_.samples.label(sample++);
      if (label != ops::kNoLabel) scores_ += {{score(row, label)}};
    });
  }

  EvaluationStep& evaluation_;
  const EvaluationSpec& spec_;
  std::int64_t num_classes_;
  bool sends_logits_;
  StepChannel channel_;
  std::optional<StepChannel> bad_;
  ClassCounter counter_;
  std::int64_t first_sample_ = 0;  ///< of the next step
  std::vector<Guesses> guesses_;   ///< of a step's samples
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

std::optional<StepMetrics> evaluate_dataset(EvaluationStep& evaluation, const EvaluationSpec& spec) {
  RankRuntime& runtime = evaluation.runtime();
  const ScopedActivity activity(runtime.board(), Activity::kEvaluating);
  // 1. All samples in order, once or twice
  const bool mirrors = spec.params.evaluate.mirror && runtime.plan().gives_logits();
  std::deque<View> views;
  views.emplace_back(evaluation, spec, SampleView::kEvaluation);
  if (mirrors) views.emplace_back(evaluation, spec, SampleView::kMirrored);
  // 2. Pass by pass; rank 0 looks at each while the next one computes
  MetricsChannel metrics(runtime, tags::kEvaluationLosses);
  std::optional<OutputChannel> outputs;
  if (runtime.plan().gives_logits() && (spec.labels_count() || spec.observe || mirrors))
    outputs.emplace(evaluation, spec);
  StepMetrics total;
  const auto collect = [&] {
    if (!runtime.grid().is_root()) return;
    metrics.collect_into(total);
    if (outputs) outputs->collect();
  };
  const std::int64_t num_steps = spec.num_steps();
  std::int64_t step = 0, passes = 0;
  std::optional<CountedProgress> progress;
  if (runtime.grid().is_root()) progress.emplace(fmt::format("{}s", input_kinds::one_of(spec.metadata.kind())));
  for (; step < num_steps && !spec.stop(); ++step) {
    if (progress) progress->show(spec.work, step * spec.params.batch.global, spec.samples.info().num_samples);
    for (View& view : views) {
      evaluation.run(view.source());
      metrics.post(evaluation.loss());
      if (outputs) outputs->post(view.loader());
      if (passes++ > 0) collect();
    }
    if (spec.bad != nullptr) std::ranges::move(views.front().loader().take_bad(), std::back_inserter(*spec.bad));
  }
  if (passes > 0) collect();
  // 3. Nothing is under way
  metrics.finish();
  if (outputs) outputs->finish();
  runtime.finish();
  if (step < num_steps) return std::nullopt;
  if (mirrors) total = outputs->scores();
  if (outputs) total += outputs->class_counts();
  return total;
}

}  // namespace convoy
