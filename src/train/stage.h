/// A stage: runs of cells with the memory of every micro-batch in flight, as its plan has them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "convoy/model/network.h"
#include "convoy/ops/library.h"
#include "convoy/schedule/bound_program.h"

#include "train/sharded_update.h"
#include "train/stage_plan.h"

namespace convoy {

/// Called between cells, so that messages move while the stage computes.
using Poke = std::function<void()>;

/// Where a micro-batch stays while it is in a chunk.
struct FramePlace {
  std::int64_t chunk = 0, frame = 0;
};

class Stage {
 public:
  /// Plans the cells of plan.layout; `network` and `library` outlive the stage.
  Stage(ops::Library& library, const Network& network, StagePlan plan);

  const StagePlan& plan() const { return plan_; }
  const Cell& first_cell() const { return *cells_.front(); }
  const Cell& last_cell() const { return *cells_.back(); }

  void* input(const FramePlace& place) const { return at(place, plan_.chunks[place.chunk].x_offsets.front()); }
  void* output(const FramePlace& place) const { return at(place, plan_.chunks[place.chunk].x_offsets.back()); }
  /// The network's last chunk: output() is float32.
  const float* logits(const FramePlace& place) const { return static_cast<const float*>(output(place)); }
  void* dlogits(const FramePlace& place) const { return at(place, plan_.chunks[place.chunk].dlogits_offset); }
  void* gradient_in(std::int64_t chunk, std::int64_t buffer) const {
    return memory_[chunk].gradients_in[buffer].data();
  }
  void* gradient_out(std::int64_t chunk, std::int64_t buffer) const {
    return memory_[chunk].gradients_out[buffer].data();
  }
  ParameterArenas parameters() const {
    return {.masters = parameters_.floats(), .copies = copies_.data(), .type = plan_.type};
  }

  /// The masters were written from outside: rounds their copies, and tells all cells.
  void reload_weights();
  /// The parameters of these cells (of the network) of the chunk, copies included, have changed.
  void load_weights(std::int64_t chunk, const CellRange& cells);

  /// Calls visit(feature's name, where it is to be) for what the chunk's cells read of the samples.
  template <typename Visit>
  void for_each_feature(const FramePlace& place, Visit&& visit) const {
    for (std::int64_t i = 0; i < plan_.chunks[place.chunk].cells.size(); ++i) {
      const Frame cell_frame = frame_of(place, i);
      for (const Feature& feature : cell(place.chunk, i).features()) visit(feature.name, cell_frame[feature.place]);
    }
  }

  /// x in input(place), y into output(place).
  void forward(const FramePlace& place, bool training, const Poke& poke) const;

  /// Backward of one micro-batch through a chunk, in one or several pieces from the last cells to the first, with no
  /// other chunk's in between. The piece with the last cell starts from `dy`, which is consumed; the one with the first
  /// writes the input's gradient to `dx` (null in the network's first chunk). Cells before the first that is trained
  /// have nothing to do, and leave dx as it is.
  struct BackwardPiece {
    FramePlace place;
    CellRange cells;
    void* dy = nullptr;
    void* dx = nullptr;
    float* gradients = nullptr;  ///< an arena
  };
  void backward(const BackwardPiece& piece, const Poke& poke) const;

  /// The same in two parts, for a stage that is planned so: the gradients have the same bits. By input, in pieces as
  /// above, without piece.gradients; then, at any time before the frame's next forward, by weight, in pieces of any
  /// order, with neither dy nor dx. A recomputed cell is so twice: nothing of it stays between the two but what its
  /// layers keep.
  void backward_input(const BackwardPiece& piece, const Poke& poke) const;
  void backward_weight(const BackwardPiece& piece, const Poke& poke) const;

 private:
  /// Of a chunk.
  struct ChunkMemory {
    Buffer frames;
    std::vector<Buffer> gradients_in, gradients_out;
  };

  std::byte* at(const FramePlace& place, std::int64_t offset) const {
    return memory_[place.chunk].frames.data() + place.frame * plan_.chunks[place.chunk].frame_bytes + offset;
  }
  // Cells are counted within their chunk.
  Cell& cell(std::int64_t chunk, std::int64_t i) const { return *cells_[plan_.chunks[chunk].first_cell + i]; }
  std::int64_t arena_offset(std::int64_t chunk, std::int64_t i) const {
    return plan_.layout.cell_offsets[plan_.chunks[chunk].first_cell + i];
  }
  Weights weights_of(std::int64_t chunk, std::int64_t i) const;
  Frame frame_of(const FramePlace& place, std::int64_t i) const;
  enum class Part { kWhole, kInput, kWeight };
  Frame backward_frame(const BackwardPiece& piece, std::int64_t i, Part part) const;
  void backward_to_input(const BackwardPiece& piece, Part part, const Poke& poke) const;
  void recompute(const Frame& cell_frame, const FramePlace& place, std::int64_t i, const Poke& poke) const;

  StagePlan plan_;
  std::vector<Cell*> cells_;  ///< chunk after chunk
  ops::Library& library_;
  Buffer parameters_, copies_, recomputed_, scratch_;
  std::vector<Buffer> inner_gradients_;
  std::vector<ChunkMemory> memory_;
};

}  // namespace convoy
