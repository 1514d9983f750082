/// The sections of single commands: evaluate, predict, check, plan, replay, watch, sweep and export.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convoy/params/choices.h"

namespace convoy {

struct EvaluateParams {
  WeightsKind weights = WeightsKind::kEma;
  bool mirror = false;     ///< true: evaluates each picture plain and mirrored
  bool confusion = false;  ///< true: writes confusion.csv and classes.csv to run.directory
  bool operator==(const EvaluateParams&) const = default;
};

struct PredictParams {
  std::string data;      ///< data set like data.test, or a folder of images; empty: data.test, or else data.val
  std::string text;      ///< one text to predict, in place of `data`
  std::string output;    ///< a .csv file; empty: predictions.csv in run.directory, none for one picture or text
  std::int64_t top = 5;  ///< classes per row, the most probable first
  OrientKind orient = OrientKind::kAuto;  ///< whether image files are turned as Exif says; auto: as in the checkpoint
  bool strict = false;                    ///< true: the first bad image ends the prediction
  bool operator==(const PredictParams&) const = default;
};

struct CheckParams {
  bool hash = false;  ///< true: reads every byte of the data, not only the heads of the shards
  bool operator==(const CheckParams&) const = default;
};

struct PlanParams {
  std::vector<std::int64_t> ranks;    ///< numbers of ranks, with a table of layouts for each; empty: no tables
  std::vector<std::int64_t> micro;    ///< values of batch.micro to try; empty: batch.micro
  std::int64_t samples_per_rank = 0;  ///< batch.global / ranks in these tables; 0: batch.global is fixed
  bool measure = true;                ///< true: measures cells, memory and network; false: models them
  std::string draw;                   ///< an .svg file for a picture of the planned step
  std::string draw_efficiency;        ///< an .svg file for a picture of the best layout for each number of ranks

  // --- A training set that does not exist here
  std::int64_t samples = 0;  ///< 0: data.train is opened
  std::int64_t classes = 0;
  std::vector<std::int64_t> image_size;  ///< images: rows and columns, or one number for both, and channels
  std::int64_t vocabulary = 0;           ///< texts: number of tokens

  // --- The cluster that is planned for, if it is not this one; 0: as measured, or from the model
  double tflop_s = 0, memory_gb_s = 0;  ///< per rank; 10^12 operations and 10^9 bytes per second
  std::int64_t ranks_per_node = 0;
  std::vector<double> latency_us, bandwidth_gb_s;  ///< of messages on a node and between nodes; one number: both
  double node_gb_s = 0;                            ///< rate at which a node sends to all others
  double spread_percent = 0;                       ///< standard deviation of the ranks' times
  double loader_samples_s = 0;                     ///< per rank; 0: no step waits for samples
  double disk_gb_s = 0;                            ///< for checkpoints; 0: no step waits for them
  bool operator==(const PlanParams&) const = default;
};

/// The steps [first, last] of a run, counted from 1; 0 and 0: not given.
struct StepRange {
  std::int64_t first = 0, last = 0;

  bool operator==(const StepRange&) const = default;
};

struct ReplayParams {
  StepRange steps;
  bool operator==(const ReplayParams&) const = default;
};

struct WatchParams {
  bool once = false;  ///< true: draws once and ends
  bool operator==(const WatchParams&) const = default;
};

/// A table of measurements, with a row for each combination of the listed values. An empty list: the value of the other
/// parameters.
struct SweepParams {
  SweepWork work = SweepWork::kTrain;
  std::vector<std::int64_t> ranks, replicas;  ///< at most one of the two
  std::vector<std::int64_t> stages;
  std::vector<std::int64_t> global;
  std::vector<std::int64_t> micro, micro_batches;  ///< at most one of the two; the latter per replica and step
  std::vector<ScheduleKind> schedule;
  std::vector<std::int64_t> chunks;
  std::vector<PrecisionKind> precision;
  std::vector<RecomputeKind> recompute;
  std::int64_t steps = 10;      ///< measured steps per row and round
  std::int64_t warm_steps = 3;  ///< steps before the measured ones
  std::int64_t rounds = 3;
  std::int64_t row = 0;  ///< only this row, counted from 1; 0: all
  bool list = false;     ///< true: only lists the rows
  bool operator==(const SweepParams&) const = default;
};

struct ExportParams {
  std::string output;  ///< a .safetensors file
  bool operator==(const ExportParams&) const = default;
};

}  // namespace convoy
