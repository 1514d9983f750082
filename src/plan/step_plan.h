/// Everything about a training step that is known before anything is allocated or sent: the network, its cut into
/// stages, the micro-batches of each replica, and each stage's instruction list and memory. The runtime follows it;
/// `convoy plan` shows it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "convoy/base/grid_shape.h"
#include "convoy/io/model_metadata.h"
#include "convoy/model/network.h"
#include "convoy/model/network_list.h"
#include "convoy/params/optimizer_parameters.h"
#include "convoy/params/run_parameters.h"
#include "convoy/params/step_parameters.h"
#include "convoy/schedule/schedule.h"

#include "plan/machine_costs.h"
#include "plan/stage_plan.h"
#include "plan/target_check.h"

namespace convoy {

struct Parameters;

/// What a step plan is made from: sections of the parameters, and what follows from them and from the data.
struct RuntimeSpec {
  NetworkSpec network;  ///< the network, with its type and what is frozen; its micro_batch is batch.micro
  BatchParams batch;
  ScheduleKind schedule = ScheduleKind::k1F1B;
  std::int64_t chunks = 1;  ///< number of runs of cells per stage; above 1 only in the interleaved schedule
  MemoryParams memory;
  OptimizerParams optimizer;
  TrainParams train;
  CheckpointParams checkpoint;
  RunParams run;
  std::vector<float> output_weights = {};    ///< weight of each class, label or number in the training loss; empty: 1
  std::int64_t loader_threads = 1;           ///< number of loader threads, which decides how much is read ahead
  std::int64_t samples_in_memory = 0;        ///< bytes of the samples that each rank that reads some keeps in memory
  bool mixes_labels = false;                 ///< whether samples are mixed in training, and with them their labels
  bool checks_numbers = false;               ///< whether a training step with bad numbers is not applied (StepOutcome)
  std::string engines_file = {};             ///< path of the file with the engines that were measured before
  std::vector<std::int64_t> cuts = {};       ///< first cell of each stage after the first; empty: chosen by costs
  bool on_gpu = false;                       ///< whether memory includes that of CUDA and NCCL
  std::optional<MachineCosts> machine = {};  ///< costs that cut and schedules follow; none: modelled ones
};

/// The name of the file in a run's directory for the engines that a device's backend has measured.
inline constexpr const char* kEnginesFile = "engines.txt";
/// Returns the path of the file in which a run keeps these engines.
std::string engines_path(const RunParams& run);

/// Returns the type in which activations are stored at that precision.
DataType storage_type(PrecisionKind precision);

/// Returns the list of the network's layers. Throws Error if the metadata's list is damaged, and RequestError if there
/// is none and no built-in network has that name and these settings.
NetworkList network_list(const io::ModelMetadata& metadata);

/// Returns what the parameter file asks for, for the network that the metadata describes; 1f1b if schedule.kind = auto.
RuntimeSpec runtime_spec(const Parameters& params, const io::ModelMetadata& metadata);

/// Returns what the parameter file asks for if the network is only evaluated, without what only a training needs.
RuntimeSpec evaluation_spec(const Parameters& params, const io::ModelMetadata& metadata);

/// The micro-batches of a step that a replica works on: [begin, end).
struct MicroBatchRange {
  std::int64_t begin = 0, end = 0;

  std::int64_t size() const { return end - begin; }
};

class StepPlan {
 public:
  /// Throws RequestError if the network, the stages or the batch do not fit the grid, or if a stage does not fit its
  /// memory.
  StepPlan(const RuntimeSpec& spec, const GridShape& grid);

  const RuntimeSpec& spec() const { return spec_; }
  const GridShape& grid() const { return grid_; }
  const Network& network() const { return network_; }
  /// Returns whether the network gives outputs, which are compared with the targets; else it gives scores of
  /// objectives().
  bool gives_logits() const { return network_.back()->objectives().empty(); }
  /// Returns the number of classes, labels or numbers that the network predicts; 0 if it gives scores of objectives().
  std::int64_t num_predicted() const { return gives_logits() ? spec_.network.num_classes : 0; }
  /// Returns the metric that decides about the best checkpoint: train.metric or, if that is auto, the usual one.
  MetricKind metric() const { return spec_.train.metric.value_or(default_metric(target().kind, num_predicted())); }
  /// Returns what a training minimises: train.loss or, if that is auto, the usual loss for the target. It only exists
  /// if gives_logits(): a network with objectives computes its losses itself.
  LossKind loss() const { return spec_.train.loss.value_or(usual_loss(target().kind)); }
  /// Returns the names of the objectives ("masked words") if the network computes its losses itself; else an empty
  /// list.
  const std::vector<std::string>& objectives() const { return network_.back()->objectives(); }
  /// Returns the number of losses that the network has, at least 1.
  std::int64_t num_objectives() const { return gives_logits() ? 1 : std::ssize(objectives()); }
  /// Returns what the network has to answer for a sample.
  const Target& target() const { return spec_.network.target; }
  const std::vector<StagePlan>& stages() const { return stages_; }
  /// Returns the schedule in use. A single stage always runs 1f1b: each micro-batch's backward follows its forward.
  ScheduleKind schedule_kind() const { return grid_.stages == 1 ? ScheduleKind::k1F1B : spec_.schedule; }
  /// Returns the number of runs of cells per stage: spec().chunks, or 1 if one stage has all cells.
  std::int64_t num_chunks() const { return grid_.stages == 1 ? 1 : spec_.chunks; }

  /// Returns the number of micro-batches per step, over all replicas.
  std::int64_t micro_batches_per_step() const { return spec_.batch.global / spec_.batch.micro; }
  MicroBatchRange micro_batches_of(std::int64_t replica) const;
  /// Returns the first of the replicas with the most micro-batches.
  std::int64_t busiest_replica() const;
  /// Returns whether the results have the same bits as on one replica, because every replica's share is a whole subtree
  /// of the gradient tree.
  bool is_invariant() const;

  /// Returns a replica's lists of a training step. Throws std::out_of_range if the network does not train.
  const Schedule& training_schedule(std::int64_t replica) const;
  /// Returns a replica's lists of an evaluation of `num_steps` steps that follow each other without a pause.
  Schedule evaluation_schedule(std::int64_t replica, std::int64_t num_steps = 1) const;
  /// Returns the number of frames that evaluation needs per chunk: 2, so that one computes while the input of the other
  /// arrives from another stage or in a GPU's memory; 1 on a CPU that has all cells, which waits for nothing.
  std::int64_t evaluation_frames() const { return grid_.stages == 1 && !spec_.on_gpu ? 1 : 2; }
  /// Returns the lists of an audit: one micro-batch, the same on all replicas.
  Schedule audit_schedule() const { return make_audit(schedule_kind(), pipeline_of(0)); }
  /// Returns the costs that cut and schedules follow, measured or modelled.
  const MachineCosts& machine() const { return machine_; }
  /// Returns the costs of the busiest replica's instructions.
  PipelineCosts costs() const;
  /// Returns the costs of instructions on that machine if the step is only evaluated.
  PipelineCosts evaluation_costs(MachineCosts machine) const;
  /// Returns the memory of one rank of the stage.
  StageMemory memory_of(std::int64_t stage) const { return stage_memory(stages_[stage], stage_use()); }
  /// Returns the number of the stage's cells whose activations the backward computes again.
  std::int64_t num_recomputed(std::int64_t stage) const;
  /// Returns the number of values per parameter that the optimizer and the moving average keep.
  std::int64_t num_states() const;
  /// Returns the reads and writes of memory per value in an update: StageUse::memory_accesses_per_update.
  std::int64_t memory_accesses_per_update() const;

 private:
  bool trains() const { return spec_.network.trains; }
  bool splits_backward() const { return trains() && traits_of(schedule_kind()).splits_backward; }
  std::int64_t bucket_floats() const {
    return static_cast<std::int64_t>(spec_.run.bucket_mib * 1024 * 1024 / sizeof(float));
  }
  std::vector<StagePlanSpec> cut() const;
  std::vector<CellRange> cut_network() const;
  std::vector<double> seconds_of_cells() const;
  std::vector<std::int64_t> frames_of_stages() const;
  PipelineSpec pipeline_of(std::int64_t replica) const;
  void make_schedules();
  StageUse stage_use() const;
  std::int64_t loss_bytes() const;

  RuntimeSpec spec_;
  GridShape grid_;
  Network network_;
  MachineCosts machine_;
  std::vector<StagePlan> stages_;
  std::map<std::int64_t, Schedule> schedules_;  ///< schedules of training, by a replica's number of micro-batches
  PipelineCosts schedule_costs_;  ///< costs() before memory.recompute = auto chose any cells; used for all replicas
};

}  // namespace convoy
