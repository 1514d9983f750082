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
#include "convoy/params/choices.h"

#include "update/gradient_exchange.h"
#include "update/optimizer.h"
#include "update/square_sums.h"

namespace convoy {

/// A stage's parameters, in the layout of its arena.
struct ParameterArenas {
  float* masters = nullptr;
  std::byte* copies = nullptr;  ///< rounded to `type`; null if that is float32
  DataType type = DataType::kFloat32;

  void* copy_at(std::int64_t i) const { return copies == nullptr ? nullptr : copies + i * size_of(type); }
};

/// The gradient's norm over all parameters is at most `norm`: beyond it, gradients are scaled down by
/// norm / (their norm + 1e-6), as torch.nn.utils.clip_grad_norm_ does.
struct ClipSpec {
  double norm = 0;
  const mpi::Communicator* model = nullptr;  ///< the stages of this replica
  std::vector<int> tensors_of_stages;        ///< number of entries of each stage's layout
  std::vector<std::int64_t> in_order;        ///< these entries, counted through all stages, in the order of the network
};

struct ShardedUpdateSpec {
  const ArenaLayout& layout;
  const mpi::Communicator& data;  ///< the replicas of this stage
  ReductionKind reduction = ReductionKind::kInvariant;
  std::int64_t neighbours = kMaxNeighbours;  ///< replicas that exchange directly; changes no bit
  /// Running statistics: new = keep * old + (1 - keep) * mean over the step's micro-batches.
  float statistics_keep = 0.9f;
  std::int64_t micro_batches_per_step = 1;  ///< over all replicas
  float* local_sum = nullptr;               ///< GradientExchangeSpec::local_sum
  ParameterArenas parameters;
  bool tells_roles = false;                       ///< whether the optimizer updates parameters by their roles
  TensorNorms tensor_norms = TensorNorms::kNone;  ///< the norms that the optimizer needs
  std::optional<ClipSpec> clip;                   ///< nothing: gradients are not clipped
  /// After each update: average = ema_decay * average + (1 - ema_decay) * value, of parameters and of running
  /// statistics, as timm's ModelEmaV2 and torchvision's reference training do. It begins at the first weights.
  double ema_decay = 0;  ///< of a moving average; 0: none is kept
};

/// What a ShardedUpdate works with; all must outlive it.
struct UpdateTools {
  Device& device;
  ops::ElementwiseOps& elementwise;
  Transport& transport;
  Optimizer& optimizer;
};

class ShardedUpdate {
 public:
  ShardedUpdate(const ShardedUpdateSpec& spec, const UpdateTools& tools);

  /// Begins an update. Called before the first bucket of a step.
  void begin_step(const UpdateStep& step);
  /// Starts the exchange of a bucket; the local sum is complete in the bucket's range, and stays untouched (but by this
  /// object) until update().
  void start_reduce(std::int64_t bucket) { exchange_.start_reduce(bucket); }
  /// Waits for the sums of the last round and folds them: this replica's slice of the gradient is complete.
  void fold(std::int64_t bucket);
  /// Sets *found = 1 if the slice holds a value that is not a finite number. Called after fold().
  void find_non_finite(std::int64_t bucket, std::int32_t* found);
  /// This replica's slice of the summed gradient. It is valid from fold() to the next step, if the step is not applied.
  struct GradientSlice {
    Slice range;  ///< range in the arena
    const float* values = nullptr;
  };
  GradientSlice gradient(std::int64_t bucket) const {
    return {.range = buckets_[bucket].own, .values = buckets_[bucket].gradient};
  }
  /// Whether agree_on_norms() must be called before update(): norms of whole tensors, or of all together, are needed.
  bool needs_norms() const { return norms_.has_value(); }
  /// Exchanges norms, and clips. If the optimizer needs norms of directions, finds the directions from the clipped
  /// gradients. All ranks call it, after the last fold() and the device's work.
  void agree_on_norms();
  /// Updates this replica's slice, starts the gather.
  void update(std::int64_t bucket);
  /// Waits for the bucket's new parameters.
  void finish_gather(std::int64_t bucket);
  /// Wait as fold() and finish_gather() do, which then wait no more.
  void await_reduce(std::int64_t bucket) { exchange_.await_reduce(bucket); }
  void await_gather(std::int64_t bucket) { exchange_.await_gather(bucket); }

  /// Time in seconds that fold() and finish_gather() have waited for messages.
  double wait_seconds() const { return wait_seconds_ + exchange_.wait_seconds(); }

  /// Number of values of a slot of this replica's optimizer state; and the slots, each with the slices of all buckets,
  /// one after the other.
  std::int64_t shard_count() const { return shard_count_; }
  std::vector<float*> slots() const;

  /// The moving average of this replica's slices, laid out as a slot; null if none is kept.
  float* ema() const { return ema_.floats(); }
  /// Begins the moving average at the current parameters.
  void start_ema();
  /// Swaps the parameters of the whole stage with their moving average; a second call swaps them back. All replicas
  /// call it, between steps. The caller then reloads the weights.
  void swap_ema();

 private:
  enum class UpdateKind { kOptimizer, kMovingAverage, kNone };
  static UpdateKind update_kind(const ParameterSpec& spec);
  /// Neighbouring values that are updated in the same way.
  struct Run {
    std::int64_t begin = 0, end = 0;
    UpdateKind kind = UpdateKind::kOptimizer;
    ParameterRole role = ParameterRole::kWeight;
    double rate_factor = 1;
    std::int64_t entry = 0;  ///< index in the layout; the first one if several are joined

    bool continues_with(const Run& next, bool tensor_by_tensor) const {
      if (kind != UpdateKind::kOptimizer || kind != next.kind) return kind == next.kind;
      return !tensor_by_tensor && role == next.role && rate_factor == next.rate_factor;
    }
  };
  struct BucketState {
    Slice own;
    std::int64_t shard_offset = 0;  ///< position of own.begin in the shard
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
    std::vector<int> offsets;  ///< where each stage's begin
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
