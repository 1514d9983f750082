/// A stage: runs of cells with the memory of every micro-batch in flight, as laid out in its plan.
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

/// Called between cells, so that messages move while the stage computes.
using ProgressHook = std::function<void()>;

/// The memory of a micro-batch while it is in a chunk.
struct FrameSlot {
  std::int64_t chunk = 0, frame = 0;
};

/// The memory of a stage's parameters: float32, and copies rounded to the network's type if that is another.
struct WeightArenas {
  Buffer masters, copies;
};
WeightArenas make_weight_arenas(Device& device, const StagePlan& plan);

class Stage {
 public:
  /// Creates the operations of the plan's cells. `network` and `backend` must outlive the stage, and so must the memory
  /// of which the arenas are parts, if another object owns it.
  Stage(ops::Backend& backend, const Network& network, StagePlan plan, WeightArenas arenas);
  /// Creates the operations of the plan's cells, and arenas of its own.
  Stage(ops::Backend& backend, const Network& network, const StagePlan& plan);

  const StagePlan& plan() const { return plan_; }
  const Cell& first_cell() const { return *cells_.front(); }
  const Cell& last_cell() const { return *cells_.back(); }

  void* input(const FrameSlot& slot) const { return at(slot, plan_.chunks[slot.chunk].x_offsets.front()); }
  void* output(const FrameSlot& slot) const { return at(slot, plan_.chunks[slot.chunk].x_offsets.back()); }
  /// The output of the chunk's cell i, from 0. Without a backward a later cell overwrites it.
  void* output_of(const FrameSlot& slot, std::int64_t i) const {
    return at(slot, plan_.chunks[slot.chunk].x_offsets[i + 1]);
  }
  /// The gradient of the network's output; only on the last chunk.
  void* output_gradient(const FrameSlot& slot) const {
    return at(slot, plan_.chunks[slot.chunk].output_gradient_offset);
  }
  void* gradient_in(std::int64_t chunk, std::int64_t buffer) const {
    return memory_[chunk].gradients_in[buffer].data();
  }
  void* gradient_out(std::int64_t chunk, std::int64_t buffer) const {
    return memory_[chunk].gradients_out[buffer].data();
  }
  ParameterArenas parameters() const {
    return {.masters = arenas_.masters.floats(), .copies = arenas_.copies.data(), .type = plan_.type};
  }

  /// Called after the masters were written from outside: rounds their copies, and tells all cells.
  void reload_weights();
  /// Tells these cells of the chunk, numbered in the network, that their parameters and the copies have changed.
  void load_weights(std::int64_t chunk, const CellRange& cells);
  /// All cells of the stage, in the order in which reload_weights() tells them that their parameters have changed.
  std::span<Cell* const> cells() const { return cells_; }
  /// The weights that the cell at this index of cells() reads.
  Weights weights_of(std::int64_t index) const;

  /// Calls visit(feature, destination) for each feature of the samples that the chunk's cells read.
  template <typename Visit>
  void for_each_feature(const FrameSlot& slot, Visit&& visit) const {
    for (std::int64_t i = 0; i < plan_.chunks[slot.chunk].cells.size(); ++i) for_each_feature_of(slot, i, visit);
  }
  /// Calls visit(feature, destination) for each feature of the samples that the chunk's cell i reads.
  template <typename Visit>
  void for_each_feature_of(const FrameSlot& slot, std::int64_t i, Visit&& visit) const {
    const Frame cell_frame = frame_of(slot, i);
    for (const Feature& feature : cell(slot.chunk, i).features()) visit(feature, cell_frame[feature.location]);
  }

  /// Sets the key of the random numbers that the chunk draws from the frame's next forward in training to its last
  /// backward; only if the chunk draws any. `key` is in a HostBuffer, and the device reads it later.
  void set_draw_key(const FrameSlot& slot, const ops::DrawKey* key) const;

  /// Sets an observer that is told of each layer's work from the next call on; null: none. No recording may be replayed
  /// meanwhile.
  void watch_layers(LayerWatch* watch) { watch_ = watch; }
  bool is_watched() const { return watch_ != nullptr; }

  /// Computes output(slot) from input(slot).
  void forward(const FrameSlot& slot, bool training, const ProgressHook& on_progress) const;

  /// The cells of a chunk that one call of backward() goes through, for one micro-batch. The pieces of a chunk follow
  /// each other from the last cells to the first, without a piece of another chunk in between. The piece with the last
  /// cell starts from `dy`, which is consumed; the one with the first cell writes the input's gradient to `dx` (null in
  /// the network's first chunk). Cells before the first trained one have nothing to do, and leave dx unchanged.
  struct BackwardPiece {
    FrameSlot slot;
    CellRange cells;
    void* dy = nullptr;
    void* dx = nullptr;
    float* gradients = nullptr;  ///< an arena
  };
  void backward(const BackwardPiece& piece, const ProgressHook& on_progress) const;

  /// The backward in two parts, for a stage that splits it; the gradients have the same bits. backward_input() computes
  /// data gradients, in pieces as for backward(), without piece.gradients. backward_weight() then computes weight
  /// gradients, at any time before the frame's next forward, in pieces of any order, with neither dy nor dx. A
  /// recomputed cell is recomputed in both parts: between the two only what its layers keep is stored.
  void backward_input(const BackwardPiece& piece, const ProgressHook& on_progress) const;
  void backward_weight(const BackwardPiece& piece, const ProgressHook& on_progress) const;

 private:
  /// The memory of a chunk.
  struct ChunkMemory {
    Buffer frames;
    std::vector<Buffer> gradients_in, gradients_out;
  };

  std::byte* at(const FrameSlot& slot, std::int64_t offset) const {
    return memory_[slot.chunk].frames.data() + slot.frame * plan_.chunks[slot.chunk].frame_bytes + offset;
  }
  ops::DrawKey* draw_key(const FrameSlot& slot) const {
    return reinterpret_cast<ops::DrawKey*>(at(slot, plan_.chunks[slot.chunk].draw_key_offset));
  }
  // Cells are counted within their chunk.
  Cell& cell(std::int64_t chunk, std::int64_t i) const { return *cells_[plan_.chunks[chunk].first_cell + i]; }
  std::int64_t arena_offset(std::int64_t chunk, std::int64_t i) const {
    return plan_.layout.cell_offsets[plan_.chunks[chunk].first_cell + i];
  }
  Weights weights_of(std::int64_t chunk, std::int64_t i) const {
    return weights_of(plan_.chunks[chunk].first_cell + i);
  }
  Frame frame_of(const FrameSlot& slot, std::int64_t i) const;
  enum class Part { kWhole, kInput, kWeight };
  Frame backward_frame(const BackwardPiece& piece, std::int64_t i, Part part) const;
  void backward_to_input(const BackwardPiece& piece, Part part, const ProgressHook& on_progress) const;
  void recompute(const Frame& cell_frame, const FrameSlot& slot, std::int64_t i, const ProgressHook& on_progress) const;

  StagePlan plan_;
  std::vector<Cell*> cells_;  ///< chunk after chunk
  ops::Backend& backend_;
  WeightArenas arenas_;
  Buffer recomputed_, scratch_;
  std::vector<Buffer> inner_gradients_;
  std::vector<ChunkMemory> memory_;
  LayerWatch* watch_ = nullptr;
};

}  // namespace convoy
