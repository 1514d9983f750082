/// The memory plan of a stage, and its cells' forward and backward in order.
#include "train/stage.h"

#include <algorithm>
#include <cassert>

#include "train/gradient_tree.h"

namespace convoy {

namespace {

constexpr std::int64_t kAlignmentBytes = 64;
constexpr std::int64_t kFloatBytes = size_of(DataType::kFloat32);

}  // namespace

StagePlan plan_stage(const Network& network, const StagePlanSpec& spec) {
  StagePlan plan{.layout = make_arena_layout(network, spec.cells, spec.bucket_floats), .num_frames = spec.num_frames};
  plan.type = network.front()->memory().type();
  plan.is_first = spec.cells.begin == 0;
  plan.is_last = spec.cells.end == std::ssize(network);
  while (network[plan.first_trained]->is_frozen()) ++plan.first_trained;
  const auto reserve = [&](std::int64_t bytes) {
    const std::int64_t offset = plan.frame_bytes;
    plan.frame_bytes += round_up(bytes, kAlignmentBytes);
    return offset;
  };
  for (std::int64_t i = spec.cells.begin; i < spec.cells.end; ++i) {
    const Cell& cell = *network[i];
    const std::int64_t saved_bytes = cell.memory().saved_size_bytes();
    // Before the first cell that is trained there is no backward.
    const bool shares = i < plan.first_trained || (!spec.recomputed.empty() && spec.recomputed[i]);
    plan.shares_saved.push_back(shares);
    if (shares) plan.shared_saved_bytes = std::max(plan.shared_saved_bytes, saved_bytes);
    plan.x_offsets.push_back(reserve(cell.x_bytes()));
    plan.saved_offsets.push_back(reserve(shares ? 0 : saved_bytes));
    plan.noted_offsets.push_back(reserve(cell.memory().noted_size_bytes()));
    if (spec.splits_backward)
      plan.kept_offsets.push_back(reserve(cell.is_frozen() ? 0 : cell.memory().kept_size_bytes()));
    plan.scratch_bytes = std::max(plan.scratch_bytes, cell.memory().scratch_size_bytes());
    if (i > spec.cells.begin) plan.inner_gradient_bytes = std::max(plan.inner_gradient_bytes, cell.x_bytes());
  }
  const Cell& last = *network[spec.cells.end - 1];
  plan.x_offsets.push_back(reserve(last.y_bytes()));
  if (plan.is_last) plan.dlogits_offset = reserve(last.dy_bytes());
  if (!plan.is_first) plan.boundary_in_bytes = network[spec.cells.begin]->x_bytes();
  if (!plan.is_last) plan.boundary_out_bytes = last.y_bytes();
  return plan;
}

StageMemory stage_memory(const StagePlan& plan, const StageUse& use) {
  const std::int64_t arena_bytes = plan.layout.count * kFloatBytes;
  std::int64_t shard_bytes = 0;
  for (const Bucket& bucket : plan.layout.buckets)
    shard_bytes += slice_of(bucket, 0, use.num_replicas).count() * kFloatBytes;
  std::int64_t convolution_bytes = 0;
  for (const ArenaEntry& entry : plan.layout.entries)
    if (entry.spec.kind == ParameterKind::kConvolutionWeight) convolution_bytes += entry.spec.count() * kFloatBytes;
  const bool has_copies = plan.type != DataType::kFloat32;
  return {.parameters = arena_bytes + (has_copies ? plan.layout.count * size_of(plan.type) : 0),
          .packed_weights = 2 * convolution_bytes,
          .gradients = GradientTree::num_levels(use.num_leaves) * arena_bytes + (use.num_replicas - 1) * shard_bytes,
          .optimizer_state = use.num_slots * shard_bytes,
          .frames = plan.num_frames * plan.frame_bytes,
          .recomputed = plan.shared_saved_bytes,
          .working = plan.scratch_bytes + 2 * plan.inner_gradient_bytes +
                     kGradientBuffers * (plan.boundary_in_bytes + plan.boundary_out_bytes)};
}

Stage::Stage(ops::Library& library, const Network& network, StagePlan plan)
    : plan_(std::move(plan)), library_(library) {
  Device& device = library.device();
  for (std::int64_t i = plan_.layout.cells.begin; i < plan_.layout.cells.end; ++i) {
    network[i]->plan(library);
    cells_.push_back(network[i].get());
  }
  parameters_ = Buffer(device, plan_.layout.count * kFloatBytes);
  if (plan_.type != DataType::kFloat32) copies_ = Buffer(device, plan_.layout.count * size_of(plan_.type));
  frames_ = Buffer(device, plan_.num_frames * plan_.frame_bytes);
  shared_saved_ = Buffer(device, plan_.shared_saved_bytes);
  scratch_ = Buffer(device, plan_.scratch_bytes);
  for (int i = 0; i < 2; ++i) inner_gradients_.emplace_back(device, plan_.inner_gradient_bytes);
  for (std::int64_t i = 0; i < kGradientBuffers; ++i) {
    gradients_in_.emplace_back(device, plan_.boundary_out_bytes);
    gradients_out_.emplace_back(device, plan_.boundary_in_bytes);
  }
}

Weights Stage::weights_of(std::int64_t i) const {
  const std::byte* arena = plan_.type == DataType::kFloat32 ? parameters_.data() : copies_.data();
  return {.data = arena + plan_.layout.cell_offsets[i] * size_of(plan_.type), .type = plan_.type};
}

Frame Stage::frame_of(std::int64_t frame, std::int64_t i) const {
  return {.saved = plan_.shares_saved[i] ? shared_saved_.data() : at(frame, plan_.saved_offsets[i]),
          .noted = at(frame, plan_.noted_offsets[i]),
          .scratch = scratch_.data(),
          .parameters = parameters_.floats() + plan_.layout.cell_offsets[i],
          .weights = weights_of(i)};
}

void Stage::reload_weights() {
  if (plan_.type != DataType::kFloat32)
    library_.elementwise().round_to(plan_.type, parameters_.floats(), copies_.data(), plan_.layout.count);
  load_weights(plan_.layout.cells);
}

void Stage::load_weights(const CellRange& cells) {
  for (std::int64_t i = cells.begin - plan_.layout.cells.begin; i < cells.end - plan_.layout.cells.begin; ++i)
    cells_[i]->load_weights(weights_of(i));
}

void Stage::forward(std::int64_t frame, bool training, const Poke& poke) const {
  for (std::int64_t i = 0; i < std::ssize(cells_); ++i) {
    Frame cell_frame = frame_of(frame, i);
    cell_frame.training = training && !cells_[i]->is_frozen();
    cells_[i]->forward(cell_frame, at(frame, plan_.x_offsets[i]), at(frame, plan_.x_offsets[i + 1]));
    poke();
  }
}

void Stage::backward(const BackwardPiece& piece, const Poke& poke) const {
  backward_to_input(piece, Part::kWhole, poke);
}

void Stage::backward_input(const BackwardPiece& piece, const Poke& poke) const {
  assert(!plan_.kept_offsets.empty());
  backward_to_input(piece, Part::kInput, poke);
}

// The k-th cell from the stage's end writes its dx into inner buffer k mod 2, in whichever piece it is.
void Stage::backward_to_input(const BackwardPiece& piece, Part part, const Poke& poke) const {
  const std::int64_t first = plan_.layout.cells.begin;
  std::int64_t k = plan_.layout.cells.end - piece.cells.end;
  void* dy = k == 0 ? piece.dy : inner_gradients_[(k - 1) % 2].data();
  const std::int64_t begin = std::max(piece.cells.begin, plan_.first_trained);
  for (std::int64_t i = piece.cells.end - 1 - first; i >= begin - first; --i) {
    const Frame cell_frame = backward_frame(piece, i, part);
    const void* x = x_for_backward(cell_frame, piece.frame, i, poke);
    void* dx = i > 0 ? inner_gradients_[k++ % 2].data() : piece.dx;
    cells_[i]->backward(cell_frame, x, at(piece.frame, plan_.x_offsets[i + 1]), dy, dx);
    dy = dx;
    poke();
  }
}

void Stage::backward_weight(const BackwardPiece& piece, const Poke& poke) const {
  assert(!plan_.kept_offsets.empty());
  const std::int64_t first = plan_.layout.cells.begin;
  for (std::int64_t i = piece.cells.end - 1 - first; i >= piece.cells.begin - first; --i) {
    if (cells_[i]->is_frozen()) continue;
    const Frame cell_frame = backward_frame(piece, i, Part::kWeight);
    cells_[i]->backward_weight(cell_frame, x_for_backward(cell_frame, piece.frame, i, poke));
    poke();
  }
}

Frame Stage::backward_frame(const BackwardPiece& piece, std::int64_t i, Part part) const {
  Frame cell_frame = frame_of(piece.frame, i);
  cell_frame.training = !cells_[i]->is_frozen();
  if (!cell_frame.training) return cell_frame;
  if (part != Part::kWhole) cell_frame.kept = at(piece.frame, plan_.kept_offsets[i]);
  if (part != Part::kInput) cell_frame.gradients = piece.gradients + plan_.layout.cell_offsets[i];
  return cell_frame;
}

// The cell's input, and what it saved in its place.
const void* Stage::x_for_backward(const Frame& cell_frame, std::int64_t frame, std::int64_t i, const Poke& poke) const {
  const void* x = at(frame, plan_.x_offsets[i]);
  if (plan_.shares_saved[i]) {
    cells_[i]->recompute(cell_frame, x);
    poke();
  }
  return x;
}

}  // namespace convoy
