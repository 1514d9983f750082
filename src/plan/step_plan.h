/// Everything about a training step that is known before anything is allocated or sent: the network, its cut into
/// stages, who works on which micro-batch, each stage's instruction list and memory. The runtime follows it; `convoy
/// plan` shows it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "convoy/comm/process_grid.h"
#include "convoy/io/checkpoint.h"
#include "convoy/model/partition.h"
#include "convoy/params/parameters.h"
#include "convoy/schedule/schedule.h"

#include "plan/stage_plan.h"
#include "plan/step_costs.h"

namespace convoy {

struct RuntimeSpec {
  NetworkSpec network;  ///< micro_batch is batch.micro
  BatchParams batch;
  ScheduleKind schedule = ScheduleKind::k1F1B;
  std::int64_t chunks = 1;  ///< a stage; more than 1 only where interleaved
  MemoryParams memory;
  OptimizerParams optimizer;
  ReductionKind reduction = ReductionKind::kInvariant;
  double bucket_mib = 4;
  double label_smoothing = 0;
  MetricKind metric = MetricKind::kTop1;     ///< what the best checkpoint of a training follows
  std::vector<float> class_weights = {};     ///< of each class in the training loss; empty: 1
  std::int64_t loader_threads = 1;           ///< what is read ahead, beside the plan's memory, follows from them
  bool mixes_labels = false;                 ///< the batch source gives second labels in training
  bool checks_numbers = false;               ///< a training step with bad numbers is not applied (StepOutcome)
  double loss_limit = 0;                     ///< of a micro-batch, then; 0: none
  double clip_norm = 0;                      ///< 0: gradients are not clipped
  double ema_decay = 0;                      ///< 0: no moving average of the weights
  std::string engines_file;                  ///< what was measured before on this device, if anything
  std::vector<std::int64_t> cuts = {};       ///< as GridParams has them
  bool on_gpu = false;                       ///< memory holds what CUDA and NCCL take, too
  std::uint64_t seed = 0;                    ///< of what cells draw in training
  std::int64_t audit_every = 0;              ///< steps: one of so many is checked by other replicas; 0: none
  bool saves_in_background = false;          ///< each rank has a copy of what it saves, beside the plan's memory
  bool shards_checkpoints = false;           ///< each rank saves its part itself
  std::optional<MachineCosts> machine = {};  ///< what cut and schedules follow; none: a model of it
};

/// How activations are stored at that precision.
DataType storage_type(PrecisionKind precision);

/// What the parameter file asks for, of the network that the metadata tells of; 1f1b where schedule.kind = auto.
RuntimeSpec runtime_spec(const Parameters& params, const io::ModelMetadata& metadata);

/// The same for evaluations alone: nothing is there that only training needs.
RuntimeSpec evaluation_spec(const Parameters& params, const io::ModelMetadata& metadata);

/// Which micro-batches of a step a replica works on.
struct MicroBatchRange {
  std::int64_t begin = 0, end = 0;

  std::int64_t size() const { return end - begin; }
};

class StepPlan {
 public:
  /// Throws RequestError where the network, the stages or the batch do not fit the grid, or a stage its memory.
  StepPlan(const RuntimeSpec& spec, const GridShape& grid);

  const RuntimeSpec& spec() const { return spec_; }
  const GridShape& grid() const { return grid_; }
  const Network& network() const { return network_; }
  /// Whether the network gives logits, which the loss and labels judge; else scores of objectives().
  bool gives_logits() const { return network_.back()->objectives().empty(); }
  /// 0 where it gives no logits.
  std::int64_t num_predicted_classes() const { return gives_logits() ? spec_.network.num_classes : 0; }
  /// Names of what the network is trained for, where it computes its losses itself: "masked words".
  const std::vector<std::string>& objectives() const { return network_.back()->objectives(); }
  /// At least one.
  std::int64_t num_objectives() const { return gives_logits() ? 1 : std::ssize(objectives()); }
  const std::vector<StagePlan>& stages() const { return stages_; }
  /// One stage has nobody to wait for: whatever is asked for, a micro-batch's backward follows its forward.
  ScheduleKind schedule_kind() const { return grid_.stages == 1 ? ScheduleKind::k1F1B : spec_.schedule; }
  /// Runs of cells of each stage: spec().chunks, or 1 where one stage has all cells.
  std::int64_t num_chunks() const { return grid_.stages == 1 ? 1 : spec_.chunks; }

  std::int64_t micro_batches_a_step() const { return spec_.batch.global / spec_.batch.micro; }
  MicroBatchRange micro_batches_of(std::int64_t replica) const;
  /// The first of those with the most micro-batches.
  std::int64_t busiest_replica() const;
  /// Whether the bits are the same as on one replica: every replica's share is a whole subtree of the gradient tree.
  bool is_invariant() const;

  /// Of a network that trains.
  const Schedule& training_schedule(std::int64_t replica) const;
  /// Of so many steps, one after the other without a pause.
  Schedule evaluation_schedule(std::int64_t replica, std::int64_t num_steps = 1) const;
  /// Frames of a chunk that evaluation needs: one computes while the next one's input arrives, from another stage or in
  /// a GPU's memory. A CPU that has all cells waits for nothing.
  std::int64_t evaluation_frames() const { return grid_.stages == 1 && !spec_.on_gpu ? 1 : 2; }
  /// Of one micro-batch, on any replica.
  Schedule audit_schedule() const { return make_audit(schedule_kind(), pipeline_of(0)); }
  /// What cut, schedules and costs follow from: measured, or a model.
  const MachineCosts& machine() const { return machine_; }
  /// What the instructions of the busiest replica take.
  PipelineCosts costs() const;
  /// What they take on that machine when the step is only evaluated.
  PipelineCosts evaluation_costs(MachineCosts machine) const;
  /// Of one rank of the stage.
  StageMemory memory_of(std::int64_t stage) const;
  /// Cells of the stage whose activations backward computes again.
  std::int64_t num_recomputed(std::int64_t stage) const;
  /// Of the optimizer, and the moving average.
  std::int64_t num_slots() const;
  std::int64_t trips_of_update() const;  ///< StageUse's

 private:
  bool trains() const { return spec_.network.trains; }
  bool splits_backward() const { return trains() && traits_of(schedule_kind()).splits_backward; }
  std::int64_t bucket_floats() const {
    return static_cast<std::int64_t>(spec_.bucket_mib * 1024 * 1024 / sizeof(float));
  }
  std::vector<StagePlanSpec> cut() const;
  std::vector<CellRange> cut_network() const;
  std::vector<double> seconds_of_cells() const;
  std::vector<std::int64_t> frames_of_stages() const;
  PipelineSpec pipeline_of(std::int64_t replica) const;
  void make_schedules();
  StageUse stage_use() const;

  RuntimeSpec spec_;
  GridShape grid_;
  Network network_;
  MachineCosts machine_;
  std::vector<StagePlan> stages_;
  std::map<std::int64_t, Schedule> schedules_;  ///< of training, by the replica's micro-batches: two numbers at most
  PipelineCosts schedule_costs_;  ///< costs() before memory.recompute = auto chose any cells; of all replicas
};

}  // namespace convoy
