/// Forward-only passes over a data set.
#include "evaluation/evaluation.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <limits>
#include <memory>

#include "convoy/base/features.h"
#include "convoy/base/progress_line.h"
#include "convoy/comm/tags.h"
#include "convoy/data/loader.h"
#include "convoy/data/make_sample_path.h"
#include "convoy/params/parameters.h"

#include "evaluation/output_channel.h"
#include "watchdog/status_board.h"

namespace convoy {

namespace {

/// Samples whose targets mean something else than the network's outputs: none is known.
class UnlabelledStore final : public io::SampleStore {
 public:
  UnlabelledStore(const io::SampleStore& samples, const io::ModelMetadata& metadata)
      : samples_(samples), info_(samples.info()) {
    info_.class_names = metadata.class_names;
    info_.class_counts.clear();
    info_.target = metadata.target;
  }

  const io::DatasetInfo& info() const override { return info_; }
  void read_pixels(std::int64_t sample, std::span<std::byte> pixels) const override {
    samples_.read_pixels(sample, pixels);
  }
  std::span<const std::byte> read_file(std::int64_t sample, std::vector<std::byte>& memory) const override {
    return samples_.read_file(sample, memory);
  }
  std::int64_t num_tokens(std::int64_t sample) const override { return samples_.num_tokens(sample); }
  std::span<const std::int32_t> read_tokens(std::int64_t sample, std::vector<std::int32_t>& memory) const override {
    return samples_.read_tokens(sample, memory);
  }
  std::span<const std::byte> read_array(std::int64_t sample, std::size_t input,
                                        std::vector<std::byte>& memory) const override {
    return samples_.read_array(sample, input, memory);
  }
  void read_target(std::int64_t, std::span<float> values) const override {
    std::ranges::fill(values, std::numeric_limits<float>::quiet_NaN());
  }
  bool reads_in_order() const override { return samples_.reads_in_order(); }
  std::int32_t label(std::int64_t) const override { return ops::kNoLabel; }
  std::string name(std::int64_t sample) const override { return samples_.name(sample); }

 private:
  const io::SampleStore& samples_;
  io::DatasetInfo info_;
};

/// All samples in order, as they are or mirrored, for one pass of a runtime.
class View {
 public:
  View(const EvaluationStep& evaluation, const EvaluationSpec& spec, SampleView view)
      : unlabelled_(spec.samples, spec.metadata),
        sampler_({.num_samples = spec.samples.info().num_samples, .seed = 0, .shuffle = false}),
        path_(make_sample_path({.samples = spec.targets_count() ? spec.samples : unlabelled_,
                                .metadata = spec.metadata,
                                .params = spec.params,
                                .view = view,
                                .type = evaluation.runtime().plan().spec().network.type})),
        loader_(*path_, sampler_, evaluation.runtime().operations(), loading(evaluation, spec)) {}

  Loader& loader() { return loader_; }

 private:
  static LoaderSpec loading(const EvaluationStep& evaluation, const EvaluationSpec& spec) {
    LoaderSpec loading = evaluation.runtime().loader_spec(evaluation.loss());
    loading.num_steps = loading.steps_per_epoch = spec.num_steps();
    loading.skips_bad = spec.bad != nullptr;
    if (spec.samples.reads_in_order()) loading.threads = 1;
    if (spec.params.evaluate.mirror) {  // plain and mirrored: together the threads and the memory of one
      loading.threads = (loading.threads + 1) / 2;
      loading.read_ahead = 1;
    }
    return loading;
  }

  UnlabelledStore unlabelled_;
  Sampler sampler_;
  std::unique_ptr<SamplePath> path_;
  Loader loader_;
};

}  // namespace

bool EvaluationSpec::targets_count() const {
  const io::DatasetInfo& info = samples.info();
  return info.target.kind == metadata.target.kind && info.target.dims == metadata.target.dims &&
         info.class_names == metadata.class_names;
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
  if (runtime.plan().gives_logits() && (spec.targets_count() || spec.observe || mirrors))
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
  if (runtime.grid().is_root() && !spec.work.empty())
    progress.emplace(fmt::format("{}s", input_kinds::one_of(spec.metadata.kind())));
  for (; step < num_steps && !spec.stop(); ++step) {
    if (progress) progress->show(spec.work, step * spec.params.batch.global, spec.samples.info().num_samples);
    for (View& view : views) {
      evaluation.run(view.loader());
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
  if (outputs) outputs->write_scores_to(total);
  return total;
}

}  // namespace convoy
