/// Compares checksums before a step with those after it, and this rank's with another's.
#include "step/step_audit.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

namespace convoy {

MemoryChecksums::MemoryChecksums(const Stage& stage, const ShardedUpdate& update, Device& device,
                                 ops::ElementwiseOps& elementwise)
    : device_(device), elementwise_(elementwise) {
  const std::int64_t count = stage.plan().layout.count, shard_bytes = update.shard_count() * kFloatBytes;
  const ParameterArenas parameters = stage.parameters();
  parts_.push_back({.data = parameters.masters, .size_bytes = count * kFloatBytes});
  if (parameters.copies != nullptr)
    parts_.push_back({.data = parameters.copies, .size_bytes = count * size_of(parameters.type)});
  for (const float* state : update.states()) parts_.push_back({.data = state, .size_bytes = shard_bytes});
  if (update.ema() != nullptr) parts_.push_back({.data = update.ema(), .size_bytes = shard_bytes});
  sums_ = HostBuffer(device, std::ssize(parts_) * static_cast<std::int64_t>(sizeof(std::uint64_t)));
}

std::vector<std::string> MemoryChecksums::names(bool has_copies, std::int64_t num_states, bool has_ema) {
  std::vector<std::string> names;
  names.emplace_back("the parameters");
  if (has_copies) names.emplace_back("the parameters' rounded copies");
  for (std::int64_t state = 0; state < num_states; ++state)
    names.push_back(num_states == 1 ? "the optimizer's state" : fmt::format("the optimizer's state {}", state + 1));
  if (has_ema) names.emplace_back("the parameters' moving average");
  return names;
}

std::vector<std::uint64_t> MemoryChecksums::compute() {
  const std::span<std::uint64_t> sums = sums_.as<std::uint64_t>();
  std::ranges::fill(sums, 0);
  for (std::size_t i = 0; i < parts_.size(); ++i)
    elementwise_.add_checksum(parts_[i].data, parts_[i].size_bytes, &sums[i]);
  device_.synchronize();
  return {sums.begin(), sums.end()};
}

void MemoryChecksums::take() {
  taken_ = compute();
}

std::uint64_t MemoryChecksums::changes() {
  const std::vector<std::uint64_t> now = compute();
  std::uint64_t changed = 0;
  for (std::size_t i = 0; i < now.size(); ++i)
    if (now[i] != taken_[i]) changed |= std::uint64_t{1} << i;
  return changed;
}

MicroBatchRepeat::MicroBatchRepeat(RankRuntime& runtime, LossScale& loss_scale)
    : runtime_(runtime),
      tree_(runtime.device(), runtime.operations().elementwise(), runtime.stage().plan().layout.count, 1),
      loss_(make_step_loss(runtime, 1, /*in_training=*/true)),
      micro_batch_(runtime, loss_.get(), tree_),
      executor_(runtime, bind_program(runtime.plan().audit_schedule()[runtime.grid().stage()]),
                {.loss = loss_.get(), .tree = &tree_, .loss_scale = &loss_scale}) {
  executor_.tell(micro_batch_);
}

std::span<const std::uint64_t> MicroBatchRepeat::run(BatchSource& source, std::int64_t number, std::int64_t step) {
  micro_batch_.begin_recording(0);
  executor_.set_first_micro_batch(number);
  runtime_.run(executor_, source, step);
  return micro_batch_.values();
}

StepAudit::StepAudit(RankRuntime& runtime, const ExecutorParts& audited)
    : micro_batch_(runtime, audited.loss, *audited.tree),
      memory_(runtime.stage(), *audited.update, runtime.device(), runtime.operations().elementwise()),
      repeat_(runtime, *audited.loss_scale) {}

void StepAudit::begin(std::int64_t m, Expected expected) {
  expected_ = std::move(expected);
  micro_batch_.begin_recording(m);
  is_checking_ = true;
}

bool StepAudit::holds() {
  memory_changes_ = memory_.changes();
  return memory_changes_ == 0 && memory_.parameters() == expected_.parameters &&
         std::ranges::equal(micro_batch_.values(), expected_.micro_batch);
}

}  // namespace convoy
