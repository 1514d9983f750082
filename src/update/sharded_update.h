/// The update of a training step. Each replica of a stage receives the summed gradient of its own slice of each bucket
/// and updates that slice with the optimizer state that only it keeps (ZeRO stage 1, Rajbhandari et al. 2020). Then all
/// replicas gather the new parameters.
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

/// A stage's parameters in device memory, laid out as its ArenaLayout says. The stage owns the memory.
struct ParameterArenas {
  float* masters = nullptr;     ///< the float32 parameters, which updates change
  std::byte* copies = nullptr;  ///< the parameters rounded to `type`, which cells read; null if `type` is float32
  DataType type = DataType::kFloat32;

  /// The rounded copy of the value at index i of the arena; null if there are no copies.
  void* copy_at(std::int64_t i) const { return copies == nullptr ? nullptr : copies + i * size_of(type); }
};

/// Gradient clipping: if the norm of the gradients of all parameters exceeds `norm`, they are multiplied by
/// norm / (their norm + 1e-6), as by torch.nn.utils.clip_grad_norm_.
struct ClipSpec {
  double norm = 0;
  const mpi::Communicator* model = nullptr;  ///< the group of the stages of this replica
  std::vector<int> tensors_of_stages;        ///< by stage: number of tensors (entries of its ArenaLayout)
  /// Indices of these tensors, counted through all stages, in the order of the network: the order in which their sums
  /// are added.
  std::vector<std::int64_t> in_order;
};

/// The arguments of a ShardedUpdate; what they refer to must outlive it.
struct ShardedUpdateSpec {
  GradientExchangeSpec exchange;  ///< `parameters` are the masters below
  /// Number of micro-batches of a step over all replicas. Running statistics are updated with their mean over these.
  std::int64_t micro_batches_per_step = 1;
  ParameterArenas parameters;
  bool tells_roles = false;                       ///< result of the function tells_roles() for the optimizer
  TensorNorms tensor_norms = TensorNorms::kNone;  ///< the norms that the optimizer needs
  std::optional<ClipSpec> clip;                   ///< gradient clipping; empty: gradients are not clipped
  /// Decay of the moving average (EMA) of parameters and running statistics; 0: no average is kept. After each update:
  /// average = ema_decay * average + (1 - ema_decay) * value, as in timm's ModelEmaV2 and torchvision's reference
  /// training. The first average is the first weights.
  double ema_decay = 0;
};

/// The objects that a ShardedUpdate uses; all must outlive it.
struct UpdateTools {
  Device& device;
  ops::ElementwiseOps& elementwise;
  Transport& transport;
  Optimizer& optimizer;
};

/// Updates the parameters of a stage. In a step the caller calls begin_step(), then start_reduce(), fold(), update()
/// and finish_gather() for each bucket, in this order.
class ShardedUpdate {
 public:
  /// All replicas of the stage call it.
  ShardedUpdate(const ShardedUpdateSpec& spec, const UpdateTools& tools);

  /// Begins the update of a step. Called before the first start_reduce() of the step.
  void begin_step(const UpdateStep& step);
  /// Starts the reduce-scatter of a bucket's gradients. This replica's sum must be complete in the bucket's range of
  /// local_sum, and the caller must not touch that range until update().
  void start_reduce(std::int64_t bucket) { exchange_.start_reduce(bucket); }
  /// Waits for the messages of start_reduce() and issues the last sums: this replica's slice of the gradient is then
  /// complete.
  void fold(std::int64_t bucket);
  /// Issues device work that sets *found to 1 if this replica's slice of the bucket's gradient has an infinity or NaN.
  /// `found` is in a HostBuffer. Called after fold().
  void find_non_finite(std::int64_t bucket, std::int32_t* found);
  /// This replica's slice of a bucket's summed gradient, in device memory. If the step is not applied, it is valid from
  /// fold() to the next step.
  struct GradientSlice {
    Slice range;  ///< floats in the arena
    const float* values = nullptr;
  };
  /// Returns this replica's slice of the bucket's gradient, after fold().
  GradientSlice gradient(std::int64_t bucket) const {
    return {.range = buckets_[bucket].own, .values = buckets_[bucket].gradient};
  }
  /// Whether agree_on_norms() must be called before update(): the optimizer needs norms of tensors, or gradients are
  /// clipped.
  bool needs_norms() const { return norms_.has_value(); }
  /// Exchanges sums of squares with other ranks, and sets the factor of clipping. If the optimizer needs norms of
  /// directions, computes the directions from the clipped gradients. All ranks call it after the last fold(), when the
  /// device is idle.
  void agree_on_norms();
  /// Updates the parameters and the optimizer state of this replica's slice of the bucket, and starts the all-gather of
  /// the bucket's parameters.
  void update(std::int64_t bucket);
  /// Waits for the parameters of the bucket's other slices, and issues the rounding of their copies.
  void finish_gather(std::int64_t bucket);
  /// Waits for the messages of start_reduce(); fold() then does not wait.
  void await_reduce(std::int64_t bucket) { exchange_.await_reduce(bucket); }
  /// Waits for the messages of the all-gather that update() started; finish_gather() then does not wait.
  void await_gather(std::int64_t bucket) { exchange_.await_gather(bucket); }

  /// Time in seconds that this object has waited for messages in all.
  double wait_seconds() const { return wait_seconds_ + exchange_.wait_seconds(); }

  /// Number of floats in the shard of an optimizer state that this replica keeps: one for each value of its slices.
  std::int64_t shard_count() const { return shard_count_; }
  /// This replica's shards of the optimizer states in device memory, in the order of Optimizer::state_names(). Each
  /// holds the values of the slices of all buckets, one after the other.
  std::vector<float*> states() const;

  /// The moving average of this replica's slices in device memory, laid out as one of states(); null if ema_decay is
  /// 0.
  float* ema() const { return ema_.floats(); }
  /// Sets the moving average to the current parameters. Does nothing if ema_decay is 0.
  void start_ema();
  /// Swaps the parameters of the whole stage with their moving average; a second call swaps them back. All replicas of
  /// the stage call it, between steps. Afterwards the caller calls Stage::reload_weights().
  void swap_ema();

 private:
  /// How a parameter is updated: by the optimizer, as a running statistic, or not at all (frozen).
  enum class UpdateKind { kOptimizer, kMovingAverage, kNone };
  static UpdateKind update_kind(const ParameterSpec& spec);
  /// Neighbouring values of a slice that are updated by the same rule.
  struct Run {
    std::int64_t begin = 0, end = 0;  ///< floats in the arena
    UpdateKind kind = UpdateKind::kOptimizer;
    ParameterRole role = ParameterRole::kWeight;
    double rate_factor = 1;
    float keep = 0;          ///< running statistics: factor of the old value, 1 - ParameterSpec::momentum
    std::int64_t entry = 0;  ///< index in ArenaLayout::entries; of the first one if several are joined

    bool continues_with(const Run& next, bool tensor_by_tensor) const {
      if (kind != next.kind) return false;
      if (kind != UpdateKind::kOptimizer) return keep == next.keep;
      return !tensor_by_tensor && role == next.role && rate_factor == next.rate_factor;
    }
  };
  /// This replica's slice of a bucket.
  struct BucketState {
    Slice own;
    std::int64_t shard_offset = 0;  ///< index of the slice's first value in the shard of an optimizer state
    std::vector<Run> runs;          ///< the runs of the slice
    float* gradient = nullptr;      ///< the summed gradient of the slice, in device memory
  };

  void find_runs(BucketState& state) const;
  bool needs_gradient_norms() const { return spec_.clip || spec_.tensor_norms == TensorNorms::kOfGradients; }
  UpdateArguments arguments_of(const BucketState& state, const Run& run);
  void exchange_norms();
  void clip();
  void find_directions();
  double total_gradient_square_sum();
  /// The sums of squares of all tensors of the network, which the stages of a replica exchange to clip, stage after
  /// stage.
  struct StageSums {
    std::vector<int> offsets;  ///< by stage: index in `all` of its first sum
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
