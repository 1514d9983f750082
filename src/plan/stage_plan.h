/// What a stage is before anything is allocated: its runs of cells, and where everything lies in their memory.
#pragma once

#include <cstdint>
#include <vector>

#include "convoy/model/arena_layout.h"
#include "convoy/model/network.h"
#include "convoy/params/parameters.h"

namespace convoy {

/// What a stage takes, in bytes; known before anything is allocated.
struct StageMemory {
  std::int64_t parameters = 0;       ///< float32 masters, and copies in the network's type
  std::int64_t packed_weights = 0;   ///< of convolutions, as forward and data gradient want them, unpadded
  std::int64_t gradients = 0;        ///< the levels of the gradient tree, what is received from other replicas, audits'
  std::int64_t optimizer_state = 0;  ///< this replica's shard
  std::int64_t frames = 0;           ///< activations of all micro-batches in flight
  std::int64_t recomputed = 0;       ///< activations that are not kept: the memory of one cell's
  std::int64_t working = 0;          ///< gradients of activations, scratch
  std::int64_t libraries = 0;        ///< on a GPU: of CUDA and NCCL, estimated

  std::int64_t total() const {
    return parameters + packed_weights + gradients + optimizer_state + frames + recomputed + working + libraries;
  }
};

/// One of a stage's runs of cells.
struct ChunkPlan {
  CellRange cells;
  std::int64_t first_cell = 0;           ///< among the stage's
  bool is_first = true, is_last = true;  ///< of the network
  std::int64_t num_frames = 0;
  // Offsets in a frame, bytes.
  std::vector<std::int64_t> x_offsets;           ///< of each cell's input; one more: the chunk's output
  std::vector<std::int64_t> feature_offsets;     ///< of what each cell reads of the samples, beside its input
  std::vector<std::int64_t> activation_offsets;  ///< of what each cell saves, where it is kept
  std::vector<std::int64_t> statistic_offsets;   ///< of what each cell notes
  std::vector<std::int64_t> weight_gradient_input_offsets;  ///< of what each cell keeps; empty where backward is one
  std::int64_t output_gradient_offset = 0;                  ///< the network's last chunk: where backward begins
  bool draws = false;                                       ///< a cell draws random numbers in training
  std::int64_t draw_key_offset = 0;                         ///< then: what for
  std::int64_t frame_bytes = 0;
  /// By cell: what it saves is not kept but lies in memory that all such cells of the stage share, to be recomputed
  /// where backward needs it.
  std::vector<bool> is_recomputed;
  std::int64_t boundary_in_bytes = 0;   ///< of the input and of its gradient, where they are messages
  std::int64_t boundary_out_bytes = 0;  ///< of the output, likewise
};

struct StagePlan {
  ArenaLayout layout;                  ///< a run a chunk
  DataType type = DataType::kFloat32;  ///< the network's
  bool has_backward = true;            ///< likewise
  std::int64_t first_trained = 0;      ///< cell of the network: nothing before it needs a gradient
  std::vector<ChunkPlan> chunks;
  // Of which there is one for all chunks, as large as the largest of them needs.
  std::int64_t recomputed_bytes = 0;
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

/// Where the network is only evaluated, a frame has two regions that in turn hold what lies between two cells, and one
/// for what a cell notes.
StagePlan plan_stage(const Network& network, const StagePlanSpec& spec);

struct StageUse {
  std::int64_t num_leaves = 1;  ///< micro-batches per replica and step
  std::int64_t num_replicas = 1;
  ReductionKind reduction = ReductionKind::kInvariant;
  std::int64_t num_slots = 1;        ///< of the optimizer, and the moving average
  bool audits = false;               ///< one more micro-batch's gradients are computed
  std::int64_t trips_of_update = 5;  ///< reads and writes of memory for each value, norms and moving average included
  std::int64_t gpu_library_bytes = 0;
};

/// Memory of one rank of the stage.
StageMemory stage_memory(const StagePlan& plan, const StageUse& use);

}  // namespace convoy
