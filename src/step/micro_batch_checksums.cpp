/// Five checksums for each chunk, one for the loss, then one for each bucket.
#include "step/micro_batch_checksums.h"

#include <algorithm>

#include "step/step_loss.h"

namespace convoy {

namespace {

using Kind = ChecksumItem::Kind;

constexpr Kind kOfChunk[] = {Kind::kFeatures, Kind::kInput, Kind::kOutput, Kind::kOutputGradient, Kind::kInputGradient};

}  // namespace

std::vector<ChecksumItem> checksum_items(const StagePlan& plan) {
  std::vector<ChecksumItem> items;
  for (std::int64_t chunk = 0; chunk < std::ssize(plan.chunks); ++chunk)
    for (const Kind kind : kOfChunk) items.push_back({.kind = kind, .chunk = chunk});
  items.push_back({.kind = Kind::kLoss});
  for (std::int64_t chunk = 0; chunk < std::ssize(plan.layout.runs); ++chunk) {
    const ArenaRun& run = plan.layout.runs[chunk];
    for (std::int64_t b = 0; b < run.num_buckets; ++b)
      items.push_back({.kind = Kind::kWeightGradient, .chunk = chunk, .bucket = run.first_bucket + b});
  }
  return items;
}

MicroBatchChecksums::MicroBatchChecksums(const RankRuntime& runtime, const StepLoss* loss, GradientTree& tree)
    : stage_(runtime.stage()),
      elementwise_(runtime.operations().elementwise()),
      loss_(loss),
      tree_(tree),
      sums_(runtime.device(),
            std::ssize(checksum_items(stage_.plan())) * static_cast<std::int64_t>(sizeof(std::uint64_t))) {}

void MicroBatchChecksums::begin_recording(std::int64_t m) {
  std::ranges::fill(sums_.as<std::uint64_t>(), 0);
  micro_batch_ = m;
}

// What an instruction reads or sends.
void MicroBatchChecksums::begin(const Action& action) {
  const Instruction& i = action.instruction;
  if (i.micro_batch != micro_batch_) return;
  const ChunkPlan& chunk = stage_.plan().chunks[i.chunk];
  const FrameId frame{.chunk = i.chunk, .number = action.frame};
  if (i.op == Op::kForward) add(Kind::kInput, i.chunk, stage_.input(frame), chunk.boundary_in_bytes);
  if (i.op == Op::kSendActivation) add(Kind::kOutput, i.chunk, stage_.output(frame), chunk.boundary_out_bytes);
  if (action.first_piece)
    add(Kind::kOutputGradient, i.chunk, stage_.dy_of(frame, action.gradient_in),
        chunk.is_last ? stage_.last_cell().dy().bytes() : chunk.boundary_out_bytes);
  if (i.op == Op::kSendGradient)
    add(Kind::kInputGradient, i.chunk, stage_.gradient_out(i.chunk, action.gradient_out), chunk.boundary_in_bytes);
}

// What an instruction has written.
void MicroBatchChecksums::end(const Action& action) {
  const Instruction& i = action.instruction;
  if (i.micro_batch != micro_batch_) return;
  if (i.op == Op::kLoad)
    stage_.for_each_feature({.chunk = i.chunk, .number = action.frame}, [&](const Feature& feature, const void* data) {
      add(Kind::kFeatures, i.chunk, data, feature.spec.bytes());
    });
  if (i.op == Op::kLoss) add_loss(action);
  if (i.op == Op::kBackward || i.op == Op::kBackwardWeight) add_weight_gradients(i);
}

void MicroBatchChecksums::add_loss(const Action& action) {
  const Instruction& i = action.instruction;
  const std::span<const ops::LossSums> sums = loss_->sums_of_micro_batch(i.micro_batch);
  add(Kind::kOutput, i.chunk, stage_.output({.chunk = i.chunk, .number = action.frame}),
      stage_.last_cell().y().bytes());
  add(Kind::kLoss, i.chunk, sums.data(), static_cast<std::int64_t>(sums.size_bytes()));
}

std::uint64_t* MicroBatchChecksums::sum_of(Kind kind, std::int64_t chunk) const {
  std::uint64_t* const sums = sums_.as<std::uint64_t>().data();
  if (kind == Kind::kLoss) return sums + std::size(kOfChunk) * stage_.plan().chunks.size();
  return sums + std::ssize(kOfChunk) * chunk + (std::ranges::find(kOfChunk, kind) - std::begin(kOfChunk));
}

void MicroBatchChecksums::add(Kind kind, std::int64_t chunk, const void* data, std::int64_t size_bytes) {
  elementwise_.add_checksum(data, size_bytes, sum_of(kind, chunk));
}

// A leaf of an even number: the tree has added nothing to it yet.
void MicroBatchChecksums::add_weight_gradients(const Instruction& instruction) {
  std::uint64_t* const first = sum_of(Kind::kLoss, 0) + 1;
  const CellRange cells = stage_.plan().piece_of(instruction.chunk, instruction.bucket).cells;
  const float* const gradients = tree_.leaf(instruction.micro_batch);
  const ArenaLayout& layout = stage_.plan().layout;
  const ArenaRun& run = layout.runs[instruction.chunk];
  for (std::int64_t b = run.first_bucket; b < run.first_bucket + run.num_buckets; ++b) {
    const Bucket& bucket = layout.buckets[b];
    if (bucket.cells.begin < cells.begin || bucket.cells.end > cells.end) continue;
    elementwise_.add_checksum(gradients + bucket.begin, bucket.count() * kFloatBytes, first + b);
  }
}

}  // namespace convoy
