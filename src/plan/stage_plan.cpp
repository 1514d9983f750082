/// Lays out frames, and adds up arenas and the memory that cells share.
#include "plan/stage_plan.h"

#include <algorithm>

#include "convoy/ops/dropout.h"
#include "convoy/schedule/bound_program.h"

#include "update/gradient_tree.h"

namespace convoy {

namespace {

constexpr std::int64_t kAlignmentBytes = 64;

/// The largest activation between two cells of the run, and the largest statistics of a cell, in bytes.
struct LargestParts {
  LargestParts(const Network& network, const CellRange& cells) {
    for (std::int64_t i = cells.begin; i < cells.end; ++i) {
      if (i > cells.begin) between = std::max(between, network[i]->x().bytes());
      statistics = std::max(statistics, network[i]->memory().statistic_bytes());
    }
  }

  std::int64_t between = 0, statistics = 0;
};

// Plans a chunk, and enlarges the memory in `stage` that chunks share to what this one needs.
ChunkPlan plan_chunk(const Network& network, const StagePlanSpec& spec, const ArenaRun& run, StagePlan& stage) {
  const CellRange& cells = run.cells;
  ChunkPlan plan{.cells = cells, .first_cell = run.first_cell};
  plan.is_first = cells.begin == 0;
  plan.is_last = cells.end == std::ssize(network);
  const auto reserve = [&](std::int64_t bytes) {
    const std::int64_t offset = plan.frame_bytes;
    plan.frame_bytes += round_up(bytes, kAlignmentBytes);
    return offset;
  };
  // Without a backward, a cell's input is not read after its output is complete, and its statistics are not read later.
  const LargestParts largest(network, cells);
  std::int64_t between[2] = {}, statistics = 0;
  if (!stage.has_backward) {
    for (std::int64_t& offset : between) offset = reserve(largest.between);
    statistics = reserve(largest.statistics);
  }
  for (std::int64_t i = cells.begin; i < cells.end; ++i) {
    const Cell& cell = *network[i];
    const std::int64_t activation_bytes = cell.memory().activation_bytes();
    // Cells before the first trained one have no backward pass.
    const bool is_recomputed = i < stage.first_trained || (!spec.recomputed.empty() && spec.recomputed[i]);
    plan.is_recomputed.push_back(is_recomputed);
    if (is_recomputed) stage.recomputed_bytes = std::max(stage.recomputed_bytes, activation_bytes);
    const bool has_own_x = stage.has_backward || i == cells.begin;
    plan.x_offsets.push_back(has_own_x ? reserve(cell.x().bytes()) : between[i % 2]);
    plan.feature_offsets.push_back(reserve(cell.memory().feature_bytes()));
    plan.activation_offsets.push_back(reserve(is_recomputed ? 0 : activation_bytes));
    plan.statistic_offsets.push_back(stage.has_backward ? reserve(cell.memory().statistic_bytes()) : statistics);
    if (spec.splits_backward)
      plan.weight_gradient_input_offsets.push_back(
          reserve(cell.is_frozen() ? 0 : cell.memory().weight_gradient_input_bytes()));
    plan.draws = plan.draws || cell.memory().needs_draw_key();
    stage.scratch_bytes = std::max(stage.scratch_bytes, cell.memory().scratch_bytes());
  }
  if (stage.has_backward) stage.inner_gradient_bytes = std::max(stage.inner_gradient_bytes, largest.between);
  const Cell& last = *network[cells.end - 1];
  plan.x_offsets.push_back(reserve(last.y().bytes()));
  if (plan.is_last && stage.has_backward) plan.output_gradient_offset = reserve(last.dy().bytes());
  if (plan.draws) plan.draw_key_offset = reserve(sizeof(ops::DrawKey));
  if (!plan.is_first) plan.boundary_in_bytes = network[cells.begin]->x().bytes();
  if (!plan.is_last) plan.boundary_out_bytes = last.y().bytes();
  return plan;
}

}  // namespace

StagePlan plan_stage(const Network& network, const StagePlanSpec& spec) {
  StagePlan plan{.layout = make_arena_layout(network, spec.runs, spec.bucket_floats),
                 .type = network.front()->memory().type(),
                 .has_backward = network.front()->has_backward()};
  while (network[plan.first_trained]->is_frozen()) ++plan.first_trained;
  for (std::size_t c = 0; c < spec.runs.size(); ++c) {
    plan.chunks.push_back(plan_chunk(network, spec, plan.layout.runs[c], plan));
    plan.chunks.back().num_frames = spec.num_frames.at(c);
  }
  return plan;
}

StageMemory stage_memory(const StagePlan& plan, const StageUse& use) {
  const std::int64_t arena_bytes = plan.layout.count * kFloatBytes;
  const bool is_fast = use.reduction == ReductionKind::kFast;
  const std::int64_t sum_bytes = arena_bytes + (is_fast ? slack_of_slices(use.num_replicas) * kFloatBytes : 0);
  const std::int64_t shard_bytes = shard_of(plan.layout, 0, use.num_replicas).count * kFloatBytes;
  std::int64_t packed_bytes = 0;
  for (const ArenaEntry& entry : plan.layout.entries) packed_bytes += entry.spec.packed_count * kFloatBytes;
  std::int64_t frame_bytes = 0, boundary_bytes = 0;
  for (const ChunkPlan& chunk : plan.chunks) {
    frame_bytes += chunk.num_frames * chunk.frame_bytes;
    boundary_bytes += chunk.boundary_in_bytes + chunk.boundary_out_bytes;
  }
  const bool has_copies = plan.type != DataType::kFloat32;
  StageMemory memory{.parameters = arena_bytes + (has_copies ? plan.layout.count * size_of(plan.type) : 0),
                     .packed_weights = packed_bytes,
                     .frames = frame_bytes,
                     .recomputed = plan.recomputed_bytes,
                     .working = plan.scratch_bytes,
                     .libraries = use.gpu_library_bytes};
  if (plan.chunks.back().is_last) memory.working += use.loss_bytes;
  if (!plan.has_backward) return memory;
  const std::int64_t received = is_fast ? std::min<std::int64_t>(1, use.num_replicas - 1) : use.num_replicas - 1;
  memory.packed_weights += packed_bytes;
  memory.gradients =
      GradientTree::num_levels(use.num_leaves) * sum_bytes + (use.audits ? arena_bytes : 0) + received * shard_bytes;
  memory.optimizer_state = use.num_states * shard_bytes;
  memory.working += 2 * plan.inner_gradient_bytes + kGradientBuffers * boundary_bytes;
  return memory;
}

}  // namespace convoy
