/// A stage of the network on this rank: its cells, its parameters, and the memory of every micro-batch in flight, as
/// its StagePlan lays it out.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "convoy/device/device.h"
#include "convoy/model/network.h"
#include "convoy/ops/backend.h"

#include "plan/stage_plan.h"
#include "update/sharded_update.h"

namespace convoy {

/// A function that is called between cells, so that messages make progress while the stage computes.
using ProgressHook = std::function<void()>;

/// The number of a chunk, and of one of its frames: a frame is the memory of one micro-batch in the chunk.
struct FrameId {
  std::int64_t chunk = 0, number = 0;
};

/// The device memory of a stage's parameters: the float32 masters, and copies rounded to the network's type (empty if
/// that is float32).
struct WeightArenas {
  Buffer masters, copies;
};
/// Allocates zeroed memory for the parameters of the stage.
WeightArenas make_weight_arenas(Device& device, const StagePlan& plan);

/// Computes the forward and the backward of a stage's cells. Its members issue device work and do not wait for it.
class Stage {
 public:
  /// Creates the operations of the plan's cells. `network` and `backend` must outlive the stage. If `arenas` do not own
  /// their memory, its owner must outlive the stage too.
  Stage(ops::Backend& backend, const Network& network, StagePlan plan, WeightArenas arenas);
  /// Creates the operations of the plan's cells, and allocates the memory of their parameters.
  Stage(ops::Backend& backend, const Network& network, const StagePlan& plan);

  const StagePlan& plan() const { return plan_; }
  const Cell& first_cell() const { return *cells_.front(); }
  const Cell& last_cell() const { return *cells_.back(); }

  /// The input of the chunk in this frame, in device memory.
  void* input(const FrameId& frame) const { return at(frame, plan_.chunks[frame.chunk].x_offsets.front()); }
  /// The output of the chunk in this frame, in device memory.
  void* output(const FrameId& frame) const { return at(frame, plan_.chunks[frame.chunk].x_offsets.back()); }
  /// The output of the chunk's cell i, counted from 0. In a network that does not train, a later cell overwrites it.
  void* output_of(const FrameId& frame, std::int64_t i) const {
    return at(frame, plan_.chunks[frame.chunk].x_offsets[i + 1]);
  }
  /// The gradient of the network's output. Only the last chunk of the last stage has it, and only if the network has a
  /// backward. Elsewhere it returns a wrong address, not null.
  void* output_gradient(const FrameId& frame) const {
    return at(frame, plan_.chunks[frame.chunk].output_gradient_offset);
  }
  /// Memory for the gradient of the chunk's output that the next virtual stage sends; `buffer` is below
  /// kGradientBuffers.
  void* gradient_in(std::int64_t chunk, std::int64_t buffer) const {
    return memory_[chunk].gradients_in[buffer].data();
  }
  /// The gradient of the chunk's output: output_gradient() in the last chunk, else gradient_in().
  void* dy_of(const FrameId& frame, std::int64_t buffer) const {
    return plan_.chunks[frame.chunk].is_last ? output_gradient(frame) : gradient_in(frame.chunk, buffer);
  }
  /// Memory for the gradient of the chunk's input, which is sent to the previous virtual stage; `buffer` is below
  /// kGradientBuffers.
  void* gradient_out(std::int64_t chunk, std::int64_t buffer) const {
    return memory_[chunk].gradients_out[buffer].data();
  }
  ParameterArenas parameters() const {
    return {.masters = arenas_.masters.floats(), .copies = arenas_.copies.data(), .type = plan_.type};
  }

  /// Called after the float32 parameters were written from outside: rounds their copies, and lets all cells load them.
  void reload_weights();
  /// Lets the cells `cells` of the chunk load their parameters, which have changed together with their copies. Cells
  /// are numbered in the network.
  void load_weights(std::int64_t chunk, const CellRange& cells);
  /// All cells of the stage, chunk after chunk. The network owns them.
  std::span<Cell* const> cells() const { return cells_; }
  /// The weights that the cell at index `index` of cells() reads.
  Weights weights_of(std::int64_t index) const;

  /// Calls visit(feature, destination) for each feature of the samples that the chunk's cells read. `destination` is
  /// its memory in the frame, on the device.
  template <typename Visit>
  void for_each_feature(const FrameId& frame, Visit&& visit) const {
    for (std::int64_t i = 0; i < plan_.chunks[frame.chunk].cells.size(); ++i) for_each_feature_of(frame, i, visit);
  }
  /// Calls visit(feature, destination) as for_each_feature(), but only for the features that the chunk's cell i reads.
  template <typename Visit>
  void for_each_feature_of(const FrameId& frame, std::int64_t i, Visit&& visit) const {
    const Frame cell_frame = frame_of(frame, i);
    for (const Feature& feature : cell(frame.chunk, i).features()) visit(feature, cell_frame[feature.location]);
  }

  /// Sets the key of the random numbers that the chunk's cells draw (dropout) from the next forward of this frame to
  /// its last backward. Called only if ChunkPlan::draws. `key` is in a HostBuffer; the device reads it later.
  void set_draw_key(const FrameId& frame, const ops::DrawKey* key) const;

  /// Sets the observer that is told about the work of each layer, from the next forward or backward on; null: none. A
  /// CUDA graph that is replayed calls no layer, so none may be replayed while there is an observer.
  void observe_layers(LayerObserver* observer) { observer_ = observer; }
  bool is_observed() const { return observer_ != nullptr; }

  /// Issues the forward of the chunk for one micro-batch: output(frame) from input(frame). `training` chooses batch
  /// statistics and random numbers of training.
  void forward(const FrameId& frame, bool training, const ProgressHook& on_progress) const;

  /// A part of the backward of one micro-batch: neighbouring cells of a chunk. The pieces of a chunk follow each other
  /// from its last cells to its first, without a piece of another chunk in between. The piece with the last cell reads
  /// `dy`, the gradient of the chunk's output, and overwrites it. The piece with the first cell writes the gradient of
  /// the input to `dx` (null in the network's first chunk). Cells before the first trained cell of the network do
  /// nothing and leave `dx` unchanged.
  struct BackwardPiece {
    FrameId frame;
    CellRange cells;
    void* dy = nullptr;
    void* dx = nullptr;
    float* gradients = nullptr;  ///< takes the weight gradients: an arena in device memory
  };
  /// Issues the backward of a piece: data gradients and weight gradients.
  void backward(const BackwardPiece& piece, const ProgressHook& on_progress) const;

  /// The backward in two parts, for a plan that splits it. The gradients have the same bits as those of backward().
  /// backward_input() computes data gradients, in the order of pieces that BackwardPiece describes, and does not use
  /// piece.gradients.
  void backward_input(const BackwardPiece& piece, const ProgressHook& on_progress) const;
  /// Computes weight gradients after backward_input(), at any time before the frame's next forward, in pieces of any
  /// order. It uses neither dy nor dx. A cell whose activations are recomputed is recomputed in both parts.
  void backward_weight(const BackwardPiece& piece, const ProgressHook& on_progress) const;

 private:
  /// The device memory of a chunk.
  struct ChunkMemory {
    Buffer frames;
    std::vector<Buffer> gradients_in, gradients_out;
  };

  std::byte* at(const FrameId& frame, std::int64_t offset) const {
    return memory_[frame.chunk].frames.data() + frame.number * plan_.chunks[frame.chunk].frame_bytes + offset;
  }
  ops::DrawKey* draw_key(const FrameId& frame) const {
    return reinterpret_cast<ops::DrawKey*>(at(frame, plan_.chunks[frame.chunk].draw_key_offset));
  }
  // The index i of a cell counts within its chunk.
  Cell& cell(std::int64_t chunk, std::int64_t i) const { return *cells_[plan_.chunks[chunk].first_cell + i]; }
  std::int64_t arena_offset(std::int64_t chunk, std::int64_t i) const {
    return plan_.layout.cell_offsets[plan_.chunks[chunk].first_cell + i];
  }
  Weights weights_of(std::int64_t chunk, std::int64_t i) const {
    return weights_of(plan_.chunks[chunk].first_cell + i);
  }
  Frame frame_of(const FrameId& frame, std::int64_t i) const;
  /// What a backward computes: both gradients, the data gradient, or the weight gradient.
  enum class Part { kWhole, kInput, kWeight };
  Frame backward_frame(const BackwardPiece& piece, std::int64_t i, Part part) const;
  void backward_to_input(const BackwardPiece& piece, Part part, const ProgressHook& on_progress) const;
  void recompute(const Frame& cell_frame, const FrameId& frame, std::int64_t i, const ProgressHook& on_progress) const;

  StagePlan plan_;
  std::vector<Cell*> cells_;  ///< chunk after chunk; the network owns them
  ops::Backend& backend_;
  WeightArenas arenas_;
  Buffer recomputed_, scratch_;
  std::vector<Buffer> inner_gradients_;
  std::vector<ChunkMemory> memory_;
  LayerObserver* observer_ = nullptr;
};

}  // namespace convoy
