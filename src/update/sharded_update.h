/// The update of a step: each replica of a stage ends up with its own slice of each bucket's gradient, updates it with
/// the optimizer state that only it keeps (ZeRO stage 1, Rajbhandari et al. 2020), and all gather the new parameters.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "convoy/comm/transport.h"
#include "convoy/device/device.h"
#include "convoy/model/arena_layout.h"
#include "convoy/ops/elementwise.h"
#include "convoy/params/parameters.h"

#include "update/gradient_exchange.h"
#include "update/optimizer.h"
#include "update/square_sums.h"

namespace convoy {

/// A stage's parameters, in the layout of its arena.
struct ParameterArenas {
  float* masters = nullptr;
  std::byte* copies = nullptr;  ///< rounded to `type`; null where that is float32
  DataType type = DataType::kFloat32;

  void* copy_at(std::int64_t i) const { return copies == nullptr ? nullptr : copies + i * size_of(type); }
};

/// The gradient's norm over all parameters is at most `norm`: beyond it, gradients are scaled down by
/// norm / (their norm + 1e-6), as torch.nn.utils.clip_grad_norm_ does.
struct ClipSpec {
  double norm = 0;
  const mpi::Communicator* model = nullptr;  ///< the stages of this replica
  std::vector<int> tensors_of_stages;        ///< entries of each stage's layout
  std::vector<std::int64_t> in_order;        ///< those, counted through all stages, in the order of the network
};

struct ShardedUpdateSpec {
  const ArenaLayout& layout;
  const mpi::Communicator& data;  ///< the replicas of this stage
  ReductionKind reduction = ReductionKind::kInvariant;
  std::int64_t neighbours = kMaxNeighbours;  ///< replicas that exchange directly; no matter of bits
  /// Running statistics: new = keep * old + (1 - keep) * mean over the step's micro-batches.
  float statistics_keep = 0.9f;
  std::int64_t micro_batches_a_step = 1;  ///< over all replicas
  float* local_sum = nullptr;             ///< as GradientExchangeSpec has it
  ParameterArenas parameters;
  bool tells_roles = false;                       ///< the optimizer updates parameters by their roles
  TensorNorms tensor_norms = TensorNorms::kNone;  ///< that the optimizer needs
  std::optional<ClipSpec> clip;                   ///< not where gradients are not clipped
  /// After each update: average = ema_decay * average + (1 - ema_decay) * value, of parameters and of running
  /// statistics alike, as timm's ModelEmaV2 and torchvision's reference training do. It begins at the first weights.
  double ema_decay = 0;  ///< of a moving average; 0: none is kept
};

/// What it works with; all outlive it.
struct UpdateTools {
  Device& device;
  ops::ElementwiseOps& elementwise;
  Transport& transport;
  Optimizer& optimizer;
};

class ShardedUpdate {
 public:
  ShardedUpdate(const ShardedUpdateSpec& spec, const UpdateTools& tools);

  /// Before the first bucket of a step.
  void begin_step(const UpdateStep& step);
  /// Starts the exchange of a bucket; the local sum is complete in the bucket's range, and stays untouched (but by this
  /// object) until update().
  void start_reduce(std::int64_t bucket) { exchange_.start_reduce(bucket); }
  /// Waits for the sums of the last round and folds them: this replica's slice of the gradient is complete.
  void fold(std::int64_t bucket);
  /// *found = 1 where the slice holds a value that is not a finite number; after fold().
  void find_non_finite(std::int64_t bucket, std::int32_t* found);
  /// This replica's slice of the summed gradient; from fold() to the next step, where the step is not applied.
  struct GradientSlice {
    Slice range;  ///< of the arena
    const float* values = nullptr;
  };
  GradientSlice gradient(std::int64_t bucket) const {
    return {.range = buckets_[bucket].own, .values = buckets_[bucket].gradient};
  }
  /// Whether update() is only possible after agree_on_norms(): of whole tensors, or of all of them.
  bool needs_norms() const { return norms_.has_value(); }
  /// All ranks, after the last fold() and the device's work: exchanges norms, and clips. Where the norms are of
  /// directions, these are found first, from the clipped gradients.
  void agree_on_norms();
  /// Updates this replica's slice, starts the gather.
  void update(std::int64_t bucket);
  /// Waits for the bucket's new parameters.
  void finish_gather(std::int64_t bucket);
  /// Only the waiting of fold() and of finish_gather(), which then have none left.
  void await_reduce(std::int64_t bucket) { exchange_.await_reduce(bucket); }
  void await_gather(std::int64_t bucket) { exchange_.await_gather(bucket); }

  /// Seconds in which fold() and finish_gather() waited for messages.
  double wait_seconds() const { return wait_seconds_ + exchange_.wait_seconds(); }

  /// This replica's optimizer state: for each slot the slices of all buckets, one after the other.
  std::int64_t shard_count() const { return shard_count_; }
  std::vector<float*> slots() const;

  /// The moving average of this replica's slices, laid out as a slot; null where none is kept.
  float* ema() const { return ema_.floats(); }
  /// It begins at the current parameters.
  void start_ema();
  /// Exchanges the parameters of the whole stage with their moving average; again, and it is as before. All replicas,
  /// between steps. The caller then reloads the weights.
  void swap_ema();

 private:
  enum class UpdateKind { kOptimizer, kMovingAverage, kNone };
  static UpdateKind update_kind(const ParameterSpec& spec);
  /// Neighbouring values that are updated alike.
  struct Run {
    std::int64_t begin = 0, end = 0;
    UpdateKind kind = UpdateKind::kOptimizer;
    ParameterRole role = ParameterRole::kWeight;
    double rate_factor = 1;
    std::int64_t entry = 0;  ///< of the layout; of the first one where several are joined

    bool goes_on_with(const Run& next, bool tensor_by_tensor) const {
      if (kind != UpdateKind::kOptimizer || kind != next.kind) return kind == next.kind;
      return !tensor_by_tensor && role == next.role && rate_factor == next.rate_factor;
    }
  };
  struct BucketState {
    Slice own;
    std::int64_t shard_offset = 0;  ///< of own.begin in the shard
    std::vector<Run> runs;          ///< own slice
    float* gradient = nullptr;      ///< own slice, summed
  };

  void find_runs(BucketState& state) const;
  bool needs_gradient_norms() const { return spec_.clip || spec_.tensor_norms == TensorNorms::kOfGradients; }
  UpdateArguments arguments_of(const BucketState& state, const Run& run);
  void exchange_norms();
  void clip();
  void find_directions();
  double total_gradient_square_sum();
  /// What the stages of a replica exchange to clip: the sums of all tensors, stage after stage.
  struct StageSums {
    std::vector<int> offsets;  ///< of each stage's
    std::vector<double> all;
  };
  void average(const BucketState& state) const;
  void copy(const float* from, float* to, std::int64_t count) const;

  ShardedUpdateSpec spec_;
  UpdateTools tools_;
  GradientExchange exchange_;
  std::vector<Buffer> state_;
  std::vector<BucketState> buckets_;
  std::vector<float*> state_pointers_;
  Buffer ema_;
  std::optional<SquareSums> norms_;
  StageSums stage_sums_;
  UpdateStep step_;
  std::int64_t shard_count_ = 0;
  double wait_seconds_ = 0;
};

}  // namespace convoy
