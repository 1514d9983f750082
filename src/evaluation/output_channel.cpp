/// Packs, receives, observes and scores outputs.
#include "evaluation/output_channel.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/comm/tags.h"
#include "convoy/params/parameters.h"

namespace convoy {

namespace {

constexpr std::int64_t kOutputBytes = sizeof(float), kGuessesBytes = sizeof(Guesses);
// The largest count of a message that MPI takes.
constexpr std::int64_t kMaxMessageBytes = std::numeric_limits<int>::max();

// Whether all outputs are sent to rank 0: only the scores of classes can be computed from the largest ones.
bool needs_outputs(const EvaluationSpec& spec) {
  return spec.observe || spec.params.evaluate.mirror || spec.metadata.target.kind != TargetKind::kClass;
}

std::unique_ptr<OutputScores> make_scores(const EvaluationSpec& spec) {
  switch (spec.metadata.target.kind) {
    case TargetKind::kLabels:
      return std::make_unique<LabelScores>(spec.samples);
    case TargetKind::kNumbers:
      return std::make_unique<NumberScores>(spec.samples, spec.metadata.target);
    default:
      return std::make_unique<ClassScores>(spec.samples, spec.params.evaluate.mirror, spec.confusion);
  }
}

StepChannel::Spec channel_spec(const RankRuntime& runtime, std::int64_t sample_bytes) {
  const StepPlan& plan = runtime.plan();
  check_output_message(plan.spec().batch, plan.grid().replicas, plan.micro_batches_of(plan.busiest_replica()).size(),
                       sample_bytes);
  return {.item_bytes = runtime.plan().spec().batch.micro * sample_bytes,
          .tag = tags::kLogits,
          .stage = runtime.grid().num_stages() - 1};
}

}  // namespace

void check_output_message(const BatchParams& batch, std::int64_t replicas, std::int64_t micro_batches,
                          std::int64_t sample_bytes) {
  const std::int64_t max_micro_batches = kMaxMessageBytes / (batch.micro * sample_bytes);
  if (micro_batches <= max_micro_batches) return;
  refuse(
      "batch.global = {}: the outputs for a step's {} samples of one replica, {} each, are larger than a message, "
      "which holds at most 2 GiB. Allowed here: {}.",
      batch.global, micro_batches * batch.micro, human_bytes(sample_bytes),
      max_micro_batches > 0 ? fmt::format("batch.global = {} or less", max_micro_batches * batch.micro * replicas)
                            : fmt::format("batch.micro = {} or less", kMaxMessageBytes / sample_bytes));
}

OutputChannel::OutputChannel(EvaluationStep& evaluation, const EvaluationSpec& spec)
    : evaluation_(evaluation),
      spec_(spec),
      num_outputs_(spec.metadata.target.num_values(evaluation.runtime().plan().spec().network.num_classes)),
      sends_outputs_(needs_outputs(spec)),
      channel_(evaluation.runtime(),
               channel_spec(evaluation.runtime(), sends_outputs_ ? num_outputs_ * kOutputBytes : kGuessesBytes)) {
  if (spec.targets_count()) scores_ = make_scores(spec);
  if (!sends_outputs_) class_scores_ = static_cast<ClassScores*>(scores_.get());
  if (spec.bad != nullptr)
    bad_.emplace(evaluation.runtime(), StepChannel::Spec{spec.params.batch.micro, tags::kBadSamples, 0});
  evaluation.keep_logits();
}

void OutputChannel::post(const Loader& loader) {
  const std::span<const float> outputs = evaluation_.logits();  // empty but on the last stage
  channel_.post(sends_outputs_ ? std::as_bytes(outputs) : std::as_bytes(std::span(guess_all(outputs))));
  if (bad_) bad_->post(std::as_bytes(loader.bad_flags()));
}

void OutputChannel::collect() {
  const std::int64_t left = spec_.samples.info().num_samples - first_sample_;
  const auto count = static_cast<std::size_t>(std::min(spec_.params.batch.global, left));
  const std::byte* const received = channel_.collect().data();
  StepOutputs step{.first_sample = first_sample_};
  if (bad_) step.bad = {reinterpret_cast<const std::uint8_t*>(bad_->collect().data()), count};
  if (sends_outputs_) {
    step.outputs = {reinterpret_cast<const float*>(received), count * static_cast<std::size_t>(num_outputs_)};
    return collect_outputs(step);
  }
  const auto* const guesses = reinterpret_cast<const Guesses*>(received);
  for (std::size_t i = 0; i < count; ++i, ++first_sample_)
    if (!step.is_bad(i)) class_scores_->add(first_sample_, guesses[i]);
}

void OutputChannel::finish() {
  channel_.finish();
  if (bad_) bad_->finish();
}

void OutputChannel::write_scores_to(StepMetrics& total) {
  if (scores_) scores_->write_to(total);
}

const std::vector<Guesses>& OutputChannel::guess_all(std::span<const float> logits) {
  guesses_.clear();
  for (std::size_t i = 0; i * static_cast<std::size_t>(num_outputs_) < logits.size(); ++i)
    guesses_.push_back(best_five(row(logits, i)));
  return guesses_;
}

std::span<const float> OutputChannel::row(std::span<const float> outputs, std::size_t i) const {
  const auto width = static_cast<std::size_t>(num_outputs_);
  return outputs.subspan(i * width, width);
}

void OutputChannel::collect_outputs(StepOutputs& step) {
  if (spec_.params.evaluate.mirror) {
    if (plain_.empty()) {
      plain_.assign(step.outputs.begin(), step.outputs.end());
      return;
    }
    both_ = mean_of_views(plain_, step.outputs, num_outputs_);
    plain_.clear();
    step.outputs = both_;
  }
  score(step);
  if (spec_.observe) spec_.observe(step);
}

// Bad samples do not count: they were replaced by padding.
void OutputChannel::score(const StepOutputs& step) {
  const std::size_t count = step.outputs.size() / static_cast<std::size_t>(num_outputs_);
  for (std::size_t i = 0; i < count; ++i, ++first_sample_)
    if (scores_ && !step.is_bad(i)) scores_->add(first_sample_, row(step.outputs, i));
}

}  // namespace convoy
