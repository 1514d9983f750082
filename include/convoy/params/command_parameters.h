/// The sections of single commands: evaluate, predict, check, info, plan, replay, watch, sweep and export.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convoy/params/choices.h"

namespace convoy {

struct EvaluateParams {
  WeightsKind weights = WeightsKind::kEma;
  bool mirror = false;     ///< whether each picture is evaluated plain and mirrored
  bool confusion = false;  ///< whether confusion.csv and classes.csv are written to run.directory
  bool operator==(const EvaluateParams&) const = default;
};

/// Number of pixels of the frames of a film.
struct FrameSize {
  std::int64_t width = 0, height = 0;  ///< both 0: not given

  bool is_given() const { return width > 0; }
  bool operator==(const FrameSize&) const = default;
};

/// The value of predict.data that means frames from the standard input.
inline constexpr const char* kStandardInput = "-";

struct PredictParams {
  /// Path of a data set or of a folder of images, or kStandardInput; empty: data.test, or else data.val.
  std::string data;
  FrameSize frames;  ///< size of the frames of the standard input
  std::string text;  ///< a text that is predicted in place of `data`
  /// Path of a .csv, .h5 or .npy file; empty: predictions.csv in run.directory (frames.csv for frames), none for one
  /// picture or text.
  std::string output;
  std::int64_t top = 5;                   ///< number of classes per row, the most probable first
  OrientKind orient = OrientKind::kAuto;  ///< whether image files are turned as Exif says; auto: as in the checkpoint
  bool strict = false;                    ///< whether the first bad sample ends the prediction
  bool explain = false;                   ///< whether each rank says what it has computed
  bool operator==(const PredictParams&) const = default;
};

struct CheckParams {
  bool hash = false;  ///< whether every byte of the data is read, not only the heads of the shards
  bool operator==(const CheckParams&) const = default;
};

struct InfoParams {
  std::string draw;  ///< path of an .svg file for a picture of the network; empty: no picture
  bool operator==(const InfoParams&) const = default;
};

/// The form of an array of a sample that need not exist.
struct ArrayForm {
  std::string name;                   ///< name of the feature; empty: that of an only array without a name
  std::vector<std::int64_t> extents;  ///< channels last

  bool operator==(const ArrayForm&) const = default;
};

/// In a list of sizes: the largest that fits the memory.
inline constexpr std::int64_t kLargestThatFits = 0;

struct PlanParams {
  std::vector<std::int64_t> ranks;  ///< numbers of ranks, each of which gets a table of layouts; empty: no tables
  std::vector<std::int64_t>
      micro;  ///< values of batch.micro that are tried, or kLargestThatFits; empty: only batch.micro
  std::int64_t samples_per_rank = 0;  ///< samples per step and rank in these tables; 0: batch.global is fixed
  bool measure = true;                ///< whether cells, memory and network are measured; false: costs are from a model
  std::string draw;                   ///< path of an .svg file for a picture of the planned step; empty: no picture
  std::string draw_efficiency;  ///< path of an .svg file of the best layouts by number of ranks; empty: no picture

  // --- A training set that does not exist here. Without what describes it, it is as the network usually reads
  std::int64_t samples = 0;  ///< number of training samples; 0: data.train is opened, if it is given
  std::int64_t classes = 0;
  std::vector<std::int64_t> image_size;  ///< rows and columns of images, or one number for both, and their channels
  std::vector<ArrayForm> values;         ///< forms of the arrays of each sample
  std::int64_t vocabulary = 0;           ///< number of tokens in the vocabulary of texts

  // --- The cluster that is planned for, if it is not this one; 0: as measured, or from the model
  double tflop_s = 0, memory_gb_s = 0;  ///< speed of a rank: 10^12 operations, and 10^9 bytes, per second
  std::int64_t ranks_per_node = 0;
  std::vector<double> latency_us, bandwidth_gb_s;  ///< of messages on a node and between nodes; one number is for both
  double node_gb_s = 0;         ///< rate at which a node sends to all others, in 10^9 bytes per second
  double spread_percent = 0;    ///< standard deviation of the ranks' times, in percent of them
  double loader_samples_s = 0;  ///< samples that a rank's loader gives per second; 0: no step waits for samples
  double disk_gb_s = 0;         ///< rate of writing checkpoints, in 10^9 bytes per second; 0: no step waits for them
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
  bool once = false;  ///< whether the run is drawn only once
  bool operator==(const WatchParams&) const = default;
};

/// A table of measurements, with a row for each combination of the listed values. If a list is empty, all rows have the
/// value of the other sections.
struct SweepParams {
  SweepWork work = SweepWork::kTrain;
  std::vector<std::int64_t> ranks, replicas;  ///< numbers of ranks or of replicas; one of the two lists is empty
  std::vector<std::int64_t> stages;
  std::vector<std::int64_t> global, samples_per_rank;  ///< samples of a step, or of a step per rank; one list is empty
  /// Samples, or kLargestThatFits; or the number per replica. One of the lists is empty.
  std::vector<std::int64_t> micro, micro_batches;
  std::vector<ScheduleKind> schedule;
  std::vector<std::int64_t> chunks;
  std::vector<PrecisionKind> precision;
  std::vector<RecomputeKind> recompute;
  std::int64_t steps = 10;      ///< number of measured steps per row and round
  std::int64_t warm_steps = 3;  ///< number of steps before the measured ones
  std::int64_t rounds = 3;
  std::int64_t row = 0;  ///< number of the only row that is measured, counted from 1; 0: all rows are
  bool list = false;     ///< whether the rows are only listed
  bool operator==(const SweepParams&) const = default;
};

struct ExportParams {
  std::string output;  ///< path of a .safetensors file
  bool operator==(const ExportParams&) const = default;
};

}  // namespace convoy
