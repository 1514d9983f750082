/// The plan of a stage before anything is allocated: its runs of cells, and the layout of their memory.
#pragma once

#include <cstdint>
#include <vector>

#include "convoy/model/arena_layout.h"
#include "convoy/model/network.h"
#include "convoy/params/choices.h"
#include "convoy/schedule/instruction.h"

namespace convoy {

/// The memory that each rank of a stage needs on its device, in bytes, known before anything is allocated. On a CPU
/// this is host memory. HostMemory has what a rank needs besides.
struct StageMemory {
  std::int64_t parameters = 0;      ///< the float32 masters, and copies in the network's type
  std::int64_t packed_weights = 0;  ///< packed weights of convolutions, for forward and data gradient, without padding
  std::int64_t gradients = 0;  ///< levels of the gradient tree, slices of other replicas, and the audit's gradients
  std::int64_t optimizer_state = 0;  ///< this replica's shard of the optimizer state
  std::int64_t frames = 0;           ///< activations of all micro-batches in flight
  std::int64_t recomputed = 0;       ///< memory that recomputed cells share, as large as the largest needs
  std::int64_t working = 0;          ///< gradients of activations, scratch memory, and memory of the loss
  std::int64_t libraries = 0;        ///< estimate of what CUDA and NCCL take of a GPU; 0 on a CPU

  std::int64_t total() const {
    return parameters + packed_weights + gradients + optimizer_state + frames + recomputed + working + libraries;
  }
};

/// One of a stage's runs of cells, and the layout of its frames.
struct ChunkPlan {
  CellRange cells;
  std::int64_t first_cell = 0;           ///< index of its first cell among the stage's cells
  bool is_first = true, is_last = true;  ///< whether it begins, or ends, the network
  std::int64_t num_frames = 0;
  // Offsets in a frame, in bytes
  std::vector<std::int64_t> x_offsets;                      ///< offset of each cell's input, then of the chunk's output
  std::vector<std::int64_t> feature_offsets;                ///< offset of the samples' data that each cell reads
  std::vector<std::int64_t> activation_offsets;             ///< offset of the activations that each cell keeps
  std::vector<std::int64_t> statistic_offsets;              ///< offset of each cell's statistics
  std::vector<std::int64_t> weight_gradient_input_offsets;  ///< one offset per cell; empty if the backward is not split
  std::int64_t output_gradient_offset = 0;                  ///< offset of dy; only if `is_last`, and with backward
  bool draws = false;                                       ///< whether a cell draws random numbers in training
  std::int64_t draw_key_offset = 0;                         ///< offset of the key with which it draws, if `draws`
  std::int64_t frame_bytes = 0;
  /// Whether each cell's activations are not kept but recomputed in its backward, in memory that all such cells of the
  /// stage share.
  std::vector<bool> is_recomputed;
  std::int64_t boundary_in_bytes = 0;   ///< size of the input and of its gradient; 0 if they are not messages
  std::int64_t boundary_out_bytes = 0;  ///< size of the output and of its gradient; 0 if they are not messages
};

/// The plan of a stage.
struct StagePlan {
  ArenaLayout layout;                  ///< layout of the stage's parameters, with one run per chunk
  DataType type = DataType::kFloat32;  ///< type of the network's activations
  bool has_backward = true;            ///< whether the network trains
  std::int64_t first_trained = 0;      ///< number of the first cell of the network that is trained
  std::vector<ChunkPlan> chunks;
  // Memory that all chunks share, as large as the largest need
  std::int64_t recomputed_bytes = 0;
  std::int64_t scratch_bytes = 0;
  std::int64_t inner_gradient_bytes = 0;  ///< size of the gradient between two cells of a chunk

  /// Returns a bucket of the chunk, or the whole chunk if `bucket` is kAllBuckets.
  Bucket piece_of(std::int64_t chunk, std::int64_t bucket) const {
    return bucket == kAllBuckets ? layout.runs[chunk].whole() : layout.bucket_of(chunk, bucket);
  }
};

/// What plan_stage() plans.
struct StagePlanSpec {
  std::vector<CellRange> runs;  ///< the cells of each chunk, in the network's order
  std::int64_t bucket_floats = 1;
  std::vector<std::int64_t> num_frames = {1};  ///< number of frames of each chunk
  std::vector<bool> recomputed;                ///< whether each cell of the network is recomputed; empty: none is
  bool splits_backward = false;                ///< whether backward_input and backward_weight can be called
};

/// Plans a stage. If the network is only evaluated, a frame has two regions that in turn hold the activation between
/// two cells, and one region for a cell's statistics.
StagePlan plan_stage(const Network& network, const StagePlanSpec& spec);

/// How a step uses a stage, as far as its memory depends on it.
struct StageUse {
  std::int64_t num_leaves = 1;  ///< number of micro-batches per replica and step
  std::int64_t num_replicas = 1;
  ReductionKind reduction = ReductionKind::kInvariant;
  std::int64_t num_states = 1;                  ///< values per parameter that optimizer and moving average keep
  bool audits = false;                          ///< whether the gradients of one more micro-batch are computed
  std::int64_t memory_accesses_per_update = 5;  ///< reads and writes per value of an update, all in all
  std::int64_t gpu_library_bytes = 0;
  std::int64_t loss_bytes = 0;  ///< memory of the losses on the last stage
};

/// Returns the memory of one rank of the stage.
StageMemory stage_memory(const StagePlan& plan, const StageUse& use);

}  // namespace convoy
