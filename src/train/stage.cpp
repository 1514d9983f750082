/// The cells' forward and backward in order, on the memory of the plan.
#include "train/stage.h"

#include <algorithm>
#include <cassert>

namespace convoy {

Stage::Stage(ops::Library& library, const Network& network, StagePlan plan)
    : plan_(std::move(plan)), library_(library) {
  Device& device = library.device();
  for (const ChunkPlan& chunk : plan_.chunks) {
    for (std::int64_t i = chunk.cells.begin; i < chunk.cells.end; ++i) {
      network[i]->create_ops(library);
      cells_.push_back(network[i].get());
    }
    ChunkMemory& memory = memory_.emplace_back();
    memory.frames = Buffer(device, chunk.num_frames * chunk.frame_bytes);
    for (std::int64_t i = 0; i < kGradientBuffers; ++i) {
      memory.gradients_in.emplace_back(device, chunk.boundary_out_bytes);
      memory.gradients_out.emplace_back(device, chunk.boundary_in_bytes);
    }
  }
  parameters_ = Buffer(device, plan_.layout.count * kFloatBytes);
  if (plan_.type != DataType::kFloat32) copies_ = Buffer(device, plan_.layout.count * size_of(plan_.type));
  recomputed_ = Buffer(device, plan_.recomputed_bytes);
  scratch_ = Buffer(device, plan_.scratch_bytes);
  for (int i = 0; i < 2; ++i) inner_gradients_.emplace_back(device, plan_.inner_gradient_bytes);
}

Weights Stage::weights_of(std::int64_t chunk, std::int64_t i) const {
  const std::byte* arena = plan_.type == DataType::kFloat32 ? parameters_.data() : copies_.data();
  return {.data = arena + arena_offset(chunk, i) * size_of(plan_.type), .type = plan_.type};
}

Frame Stage::frame_of(const FramePlace& place, std::int64_t i) const {
  const ChunkPlan& chunk = plan_.chunks[place.chunk];
  return {.x = at(place, chunk.x_offsets[i]),
          .y = at(place, chunk.x_offsets[i + 1]),
          .activations = chunk.is_recomputed[i] ? recomputed_.data() : at(place, chunk.activation_offsets[i]),
          .statistics = at(place, chunk.statistic_offsets[i]),
          .features = at(place, chunk.feature_offsets[i]),
          .scratch = scratch_.data(),
          .parameters = parameters_.floats() + arena_offset(place.chunk, i),
          .weights = weights_of(place.chunk, i)};
}

void Stage::reload_weights() {
  if (plan_.type != DataType::kFloat32)
    library_.elementwise().round_to(plan_.type, parameters_.floats(), copies_.data(), plan_.layout.count);
  for (std::int64_t chunk = 0; chunk < std::ssize(plan_.chunks); ++chunk)
    load_weights(chunk, plan_.chunks[chunk].cells);
}

void Stage::load_weights(std::int64_t chunk, const CellRange& cells) {
  const std::int64_t first = plan_.chunks[chunk].cells.begin;
  for (std::int64_t i = cells.begin - first; i < cells.end - first; ++i)
    cell(chunk, i).load_weights(weights_of(chunk, i));
}

void Stage::forward(const FramePlace& place, bool training, const Poke& poke) const {
  const ChunkPlan& chunk = plan_.chunks[place.chunk];
  for (std::int64_t i = 0; i < chunk.cells.size(); ++i) {
    Cell& own = cell(place.chunk, i);
    Frame cell_frame = frame_of(place, i);
    cell_frame.training = training && !own.is_frozen();
    own.forward(cell_frame);
    poke();
  }
}

void Stage::backward(const BackwardPiece& piece, const Poke& poke) const {
  backward_to_input(piece, Part::kWhole, poke);
}

void Stage::backward_input(const BackwardPiece& piece, const Poke& poke) const {
  assert(!plan_.chunks[piece.place.chunk].weight_gradient_input_offsets.empty());
  backward_to_input(piece, Part::kInput, poke);
}

// The k-th cell from the chunk's end writes its dx into inner buffer k mod 2, in whichever piece it is.
void Stage::backward_to_input(const BackwardPiece& piece, Part part, const Poke& poke) const {
  const ChunkPlan& chunk = plan_.chunks[piece.place.chunk];
  const std::int64_t first = chunk.cells.begin;
  std::int64_t k = chunk.cells.end - piece.cells.end;
  std::byte* dy = k == 0 ? static_cast<std::byte*>(piece.dy) : inner_gradients_[(k - 1) % 2].data();
  const std::int64_t begin = std::max(piece.cells.begin, plan_.first_trained);
  for (std::int64_t i = piece.cells.end - 1 - first; i >= begin - first; --i) {
    Frame cell_frame = backward_frame(piece, i, part);
    recompute(cell_frame, piece.place, i, poke);
    cell_frame.dy = dy;
    cell_frame.dx = i > 0 ? inner_gradients_[k++ % 2].data() : static_cast<std::byte*>(piece.dx);
    cell(piece.place.chunk, i).backward(cell_frame);
    dy = cell_frame.dx;
    poke();
  }
}

void Stage::backward_weight(const BackwardPiece& piece, const Poke& poke) const {
  const ChunkPlan& chunk = plan_.chunks[piece.place.chunk];
  assert(!chunk.weight_gradient_input_offsets.empty());
  for (std::int64_t i = piece.cells.end - 1 - chunk.cells.begin; i >= piece.cells.begin - chunk.cells.begin; --i) {
    const Cell& own = cell(piece.place.chunk, i);
    if (own.is_frozen()) continue;
    const Frame cell_frame = backward_frame(piece, i, Part::kWeight);
    recompute(cell_frame, piece.place, i, poke);
    own.backward_weight(cell_frame);
    poke();
  }
}

Frame Stage::backward_frame(const BackwardPiece& piece, std::int64_t i, Part part) const {
  const FramePlace& place = piece.place;
  Frame cell_frame = frame_of(place, i);
  cell_frame.training = !cell(place.chunk, i).is_frozen();
  if (!cell_frame.training) return cell_frame;
  if (part != Part::kWhole)
    cell_frame.weight_gradient_inputs = at(place, plan_.chunks[place.chunk].weight_gradient_input_offsets[i]);
  if (part != Part::kInput) cell_frame.gradients = piece.gradients + arena_offset(place.chunk, i);
  return cell_frame;
}

// Its activations, where they have not stayed.
void Stage::recompute(const Frame& cell_frame, const FramePlace& place, std::int64_t i, const Poke& poke) const {
  if (!plan_.chunks[place.chunk].is_recomputed[i]) return;
  cell(place.chunk, i).recompute(cell_frame);
  poke();
}

}  // namespace convoy
