/// What one micro-batch's passes through a stage consist of: the same in all schedules.
#include "schedule/stage_builder.h"

#include "convoy/base/error.h"

namespace convoy::schedule {

StageBuilder::StageBuilder(const PipelineSpec& spec, std::int64_t stage)
    : stage_(stage),
      stages_(spec.stages),
      micro_batches_(spec.micro_batches),
      num_buckets_(spec.num_buckets[static_cast<std::size_t>(stage)]),
      agrees_(spec.agree_on_update) {}

void StageBuilder::forward(std::int64_t m) {
  add(is_first() ? Op::kLoadInput : Op::kRecvActivation, m);
  add(Op::kForward, m);
  if (is_last()) {
    add(Op::kLoadLabels, m);
    add(Op::kLoss, m);
  } else {
    add(Op::kSendActivation, m);
  }
}

void StageBuilder::backward(std::int64_t m) {
  if (!is_last()) add(Op::kRecvGradient, m);
  if (m == micro_batches_ - 1) {
    backward_by_bucket(m);
  } else {
    add(Op::kBackward, m);
    if (!is_first()) add(Op::kSendGradient, m);
  }
}

/// The tail of a training step: the last micro-batch completes the gradients, last bucket (nearest the loss) first. A
/// bucket's exchange runs behind the backward of the next, so its fold and update come one bucket later:
///
///   B2 Reduce2  B1 Reduce1 Fold2 Update2  B0 SendGradient Reduce0 Fold1 Update1  Fold0 Update0  Gather2 Gather1
///   Gather0
///
/// Where ranks agree on the update first, updates wait for the last fold:
///
///   B2 Reduce2  B1 Reduce1 Fold2  B0 SendGradient Reduce0 Fold1  Fold0  Agree  Update2 Update1 Update0  Gather2 ...
///
/// The gradient leaves before anything that waits, because the stage before has nothing else to do.
void StageBuilder::backward_by_bucket(std::int64_t m) {
  for (std::int64_t b = num_buckets_ - 1; b >= 0; --b) {
    add(Op::kBackward, m, b);
    if (b == 0 && !is_first()) add(Op::kSendGradient, m);
    add_bucket(Op::kReduceBucket, b);
    if (b + 1 < num_buckets_) complete(b + 1);
  }
  complete(0);
  if (agrees_) {
    add(Op::kAgreeOnUpdate, -1);
    for (std::int64_t b = num_buckets_ - 1; b >= 0; --b) add_bucket(Op::kUpdateBucket, b);
  }
  for (std::int64_t b = num_buckets_ - 1; b >= 0; --b) add_bucket(Op::kGatherBucket, b);
}

void StageBuilder::complete(std::int64_t bucket) {
  add_bucket(Op::kFoldBucket, bucket);
  if (!agrees_) add_bucket(Op::kUpdateBucket, bucket);
}

namespace {

void check(const PipelineSpec& spec) {
  if (spec.stages < 1 || spec.micro_batches < 1) {
    fail("A pipeline of {} stages and {} micro-batches cannot be scheduled: at least 1 of each.", spec.stages,
         spec.micro_batches);
  }
  if (static_cast<std::int64_t>(spec.num_buckets.size()) != spec.stages) {
    fail("A pipeline of {} stages was given the bucket counts of {}.", spec.stages, spec.num_buckets.size());
  }
  for (std::size_t s = 0; s < spec.num_buckets.size(); ++s) {
    if (spec.num_buckets[s] < 1) fail("Stage {} has {} gradient buckets: at least 1.", s, spec.num_buckets[s]);
  }
}

}  // namespace

Schedule build(const PipelineSpec& spec, const std::function<void(StageBuilder&)>& write) {
  check(spec);
  Schedule schedule;
  for (std::int64_t stage = 0; stage < spec.stages; ++stage) {
    StageBuilder builder(spec, stage);
    write(builder);
    schedule.push_back(builder.take());
  }
  return schedule;
}

}  // namespace convoy::schedule
