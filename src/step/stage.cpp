/// The cells' forward and backward in order, in the memory that the plan lays out.
#include "step/stage.h"

#include <algorithm>
#include <cassert>

#include "convoy/ops/dropout.h"
#include "convoy/schedule/bound_program.h"

namespace convoy {

WeightArenas make_weight_arenas(Device& device, const StagePlan& plan) {
  const bool has_copies = plan.type != DataType::kFloat32;
  return {.masters = Buffer(device, plan.layout.count * kFloatBytes),
          .copies = Buffer(device, has_copies ? plan.layout.count * size_of(plan.type) : 0)};
}

Stage::Stage(ops::Backend& backend, const Network& network, const StagePlan& plan)
    : Stage(backend, network, plan, make_weight_arenas(backend.device(), plan)) {}

Stage::Stage(ops::Backend& backend, const Network& network, StagePlan plan, WeightArenas arenas)
    : plan_(std::move(plan)), backend_(backend), arenas_(std::move(arenas)) {
  Device& device = backend.device();
  for (const ChunkPlan& chunk : plan_.chunks) {
    for (std::int64_t i = chunk.cells.begin; i < chunk.cells.end; ++i) {
      network[i]->create_ops(backend);
      cells_.push_back(network[i].get());
    }
    ChunkMemory& memory = memory_.emplace_back();
    memory.frames = Buffer(device, chunk.num_frames * chunk.frame_bytes);
    for (std::int64_t i = 0; plan_.has_backward && i < kGradientBuffers; ++i) {
      memory.gradients_in.emplace_back(device, chunk.boundary_out_bytes);
      memory.gradients_out.emplace_back(device, chunk.boundary_in_bytes);
    }
  }
  recomputed_ = Buffer(device, plan_.recomputed_bytes);
  scratch_ = Buffer(device, plan_.scratch_bytes);
  for (int i = 0; i < 2; ++i) inner_gradients_.emplace_back(device, plan_.inner_gradient_bytes);
}

Weights Stage::weights_of(std::int64_t index) const {
  const std::byte* arena = (plan_.type == DataType::kFloat32 ? arenas_.masters : arenas_.copies).data();
  return {.data = arena + plan_.layout.cell_offsets[index] * size_of(plan_.type), .type = plan_.type};
}

Frame Stage::frame_of(const FrameId& frame, std::int64_t i) const {
  const ChunkPlan& chunk = plan_.chunks[frame.chunk];
  return {.x = at(frame, chunk.x_offsets[i]),
          .y = at(frame, chunk.x_offsets[i + 1]),
          .activations = chunk.is_recomputed[i] ? recomputed_.data() : at(frame, chunk.activation_offsets[i]),
          .statistics = at(frame, chunk.statistic_offsets[i]),
          .features = at(frame, chunk.feature_offsets[i]),
          .scratch = scratch_.data(),
          .draw_key = chunk.draws ? draw_key(frame) : nullptr,
          .parameters = arenas_.masters.floats() + arena_offset(frame.chunk, i),
          .weights = weights_of(frame.chunk, i),
          .observer = observer_};
}

void Stage::reload_weights() {
  if (plan_.type != DataType::kFloat32)
    backend_.elementwise().round_to(plan_.type, arenas_.masters.floats(), arenas_.copies.data(), plan_.layout.count);
  for (std::int64_t chunk = 0; chunk < std::ssize(plan_.chunks); ++chunk)
    load_weights(chunk, plan_.chunks[chunk].cells);
}

void Stage::load_weights(std::int64_t chunk, const CellRange& cells) {
  const std::int64_t first = plan_.chunks[chunk].cells.begin;
  for (std::int64_t i = cells.begin - first; i < cells.end - first; ++i)
    cell(chunk, i).load_weights(weights_of(chunk, i));
}

void Stage::set_draw_key(const FrameId& frame, const ops::DrawKey* key) const {
  backend_.elementwise().copy(key, draw_key(frame), sizeof(*key));
}

void Stage::forward(const FrameId& frame, bool training, const ProgressHook& on_progress) const {
  const ChunkPlan& chunk = plan_.chunks[frame.chunk];
  for (std::int64_t i = 0; i < chunk.cells.size(); ++i) {
    Cell& own = cell(frame.chunk, i);
    Frame cell_frame = frame_of(frame, i);
    cell_frame.training = training && !own.is_frozen();
    own.forward(cell_frame);
    on_progress();
  }
}

void Stage::backward(const BackwardPiece& piece, const ProgressHook& on_progress) const {
  backward_to_input(piece, Part::kWhole, on_progress);
}

void Stage::backward_input(const BackwardPiece& piece, const ProgressHook& on_progress) const {
  assert(!plan_.chunks[piece.frame.chunk].weight_gradient_input_offsets.empty());
  backward_to_input(piece, Part::kInput, on_progress);
}

// The k-th cell from the chunk's end writes its dx into inner buffer k mod 2, in whichever piece it is. If a block's
// gradient comes in two parts, the block before adds them as it reads them. Not across pieces: by then their buffers
// may hold other gradients.
void Stage::backward_to_input(const BackwardPiece& piece, Part part, const ProgressHook& on_progress) const {
  const ChunkPlan& chunk = plan_.chunks[piece.frame.chunk];
  const std::int64_t first = chunk.cells.begin;
  std::int64_t k = chunk.cells.end - piece.cells.end;
  std::byte* dy = k == 0 ? static_cast<std::byte*>(piece.dy) : inner_gradients_[(k - 1) % 2].data();
  const std::byte* dy_addend = nullptr;
  const std::int64_t begin = std::max(piece.cells.begin, plan_.first_trained);
  for (std::int64_t i = piece.cells.end - 1 - first; i >= begin - first; --i) {
    Frame cell_frame = backward_frame(piece, i, part);
    recompute(cell_frame, piece.frame, i, on_progress);
    const Cell& own = cell(piece.frame.chunk, i);
    cell_frame.dy = dy;
    cell_frame.dy_addend = dy_addend;
    cell_frame.dx = i > 0 ? inner_gradients_[k++ % 2].data() : static_cast<std::byte*>(piece.dx);
    cell_frame.leaves_dx_in_parts =
        i > begin - first && own.can_leave_dx_in_parts() && cell(piece.frame.chunk, i - 1).takes_dy_in_parts();
    own.backward(cell_frame);
    dy_addend = cell_frame.leaves_dx_in_parts ? dy : nullptr;
    dy = cell_frame.dx;
    on_progress();
  }
}

void Stage::backward_weight(const BackwardPiece& piece, const ProgressHook& on_progress) const {
  const ChunkPlan& chunk = plan_.chunks[piece.frame.chunk];
  assert(!chunk.weight_gradient_input_offsets.empty());
  for (std::int64_t i = piece.cells.end - 1 - chunk.cells.begin; i >= piece.cells.begin - chunk.cells.begin; --i) {
    const Cell& own = cell(piece.frame.chunk, i);
    if (own.is_frozen()) continue;
    const Frame cell_frame = backward_frame(piece, i, Part::kWeight);
    recompute(cell_frame, piece.frame, i, on_progress);
    own.backward_weight(cell_frame);
    on_progress();
  }
}

Frame Stage::backward_frame(const BackwardPiece& piece, std::int64_t i, Part part) const {
  const FrameId& frame = piece.frame;
  Frame cell_frame = frame_of(frame, i);
  cell_frame.training = !cell(frame.chunk, i).is_frozen();
  if (!cell_frame.training) return cell_frame;
  if (part != Part::kWhole)
    cell_frame.weight_gradient_inputs = at(frame, plan_.chunks[frame.chunk].weight_gradient_input_offsets[i]);
  if (part != Part::kInput) cell_frame.gradients = piece.gradients + arena_offset(frame.chunk, i);
  return cell_frame;
}

// Recomputes the cell's activations, if they were not kept.
void Stage::recompute(const Frame& cell_frame, const FrameId& frame, std::int64_t i,
                      const ProgressHook& on_progress) const {
  if (!plan_.chunks[frame.chunk].is_recomputed[i]) return;
  cell(frame.chunk, i).recompute(cell_frame);
  on_progress();
}

}  // namespace convoy
