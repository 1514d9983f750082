/// A stage: a run of cells with the memory of every micro-batch in flight, planned once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "convoy/model/arena_layout.h"
#include "convoy/model/network.h"
#include "convoy/ops/library.h"
#include "convoy/schedule/bound_program.h"

#include "train/sharded_update.h"

namespace convoy {

/// What a stage takes, in bytes; known before anything is allocated.
struct StageMemory {
  std::int64_t parameters = 0;       ///< float32 masters, and copies in the network's type
  std::int64_t packed_weights = 0;   ///< of convolutions, as forward and as backward by input want them, at most
  std::int64_t gradients = 0;        ///< the levels of the gradient tree, and what is received from other replicas
  std::int64_t optimizer_state = 0;  ///< this replica's shard
  std::int64_t frames = 0;           ///< activations of all micro-batches in flight
  std::int64_t recomputed = 0;       ///< activations that are not kept: the place of one cell's
  std::int64_t working = 0;          ///< gradients of activations, scratch

  std::int64_t total() const {
    return parameters + packed_weights + gradients + optimizer_state + frames + recomputed + working;
  }
};

/// One of a stage's runs of cells.
struct ChunkPlan {
  CellRange cells;
  std::int64_t first_cell = 0;           ///< among the stage's
  bool is_first = true, is_last = true;  ///< of the network
  std::int64_t num_frames = 0;
  // Offsets in a frame, bytes.
  std::vector<std::int64_t> x_offsets;      ///< of each cell's input; one more: the chunk's output
  std::vector<std::int64_t> saved_offsets;  ///< of what each cell saves, where it is kept
  std::vector<std::int64_t> noted_offsets;  ///< of what each cell notes
  std::vector<std::int64_t> kept_offsets;   ///< of what each cell keeps; empty where backward is one
  std::int64_t dlogits_offset = 0;          ///< the network's last chunk: the loss's gradient
  std::int64_t frame_bytes = 0;
  /// By cell: what it saves is not kept but lies in a place that all such cells of the stage share, to be recomputed
  /// where backward needs it.
  std::vector<bool> shares_saved;
  std::int64_t boundary_in_bytes = 0;   ///< of the input and of its gradient, where they are messages
  std::int64_t boundary_out_bytes = 0;  ///< of the output, likewise
};

struct StagePlan {
  ArenaLayout layout;                  ///< a run a chunk
  DataType type = DataType::kFloat32;  ///< the network's
  std::int64_t first_trained = 0;      ///< cell of the network: nothing before it needs a gradient
  std::vector<ChunkPlan> chunks;
  // Of which there is one for all chunks, as large as the largest of them needs.
  std::int64_t shared_saved_bytes = 0;
  std::int64_t scratch_bytes = 0;
  std::int64_t inner_gradient_bytes = 0;  ///< an activation between two cells of a chunk
};

struct StagePlanSpec {
  std::vector<CellRange> runs;  ///< a chunk each, in the network's order
  std::int64_t bucket_floats = 1;
  std::vector<std::int64_t> num_frames = {1};  ///< by chunk
  std::vector<bool> recomputed;                ///< by cell of the network; empty: none
  bool splits_backward = false;                ///< backward_input and backward_weight can be called
};

StagePlan plan_stage(const Network& network, const StagePlanSpec& spec);

struct StageUse {
  std::int64_t num_leaves = 1;  ///< micro-batches a replica a step
  std::int64_t num_replicas = 1;
  std::int64_t num_slots = 1;  ///< of the optimizer, and the moving average
};

/// Memory of one rank of the stage.
StageMemory stage_memory(const StagePlan& plan, const StageUse& use);

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
  const void* x_for_backward(const Frame& cell_frame, const FramePlace& place, std::int64_t i, const Poke& poke) const;

  StagePlan plan_;
  std::vector<Cell*> cells_;  ///< chunk after chunk
  ops::Library& library_;
  Buffer parameters_, copies_, shared_saved_, scratch_;
  std::vector<Buffer> inner_gradients_;
  std::vector<ChunkMemory> memory_;
};

}  // namespace convoy
