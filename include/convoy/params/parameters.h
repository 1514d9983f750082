/// All that a parameter file can say, as typed structs. Nothing here is computed: files and command line fill it
/// (parse.h), and the checks that need the world size or the data are made by who knows them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace convoy {

enum class ScheduleKind { kNaive, kGpipe, k1F1B, kInterleaved, kZeroBubble };
enum class OptimizerKind { kSgd, kAdam, kAdamW, kLars };
enum class LearningRateKind { kConstant, kStep, kMultistep, kCosine, kPolynomial, kOnecycle };
enum class DeviceKind { kAuto, kCpu, kCuda };
enum class PrecisionKind { kF32, kTf32, kBf16, kFp16 };
enum class ReductionKind { kInvariant, kFast };
enum class WeightsKind { kEma, kTrained };
enum class RecomputeKind { kNone, kCell, kAuto };
enum class ImportFormat { kAuto, kFolder, kCifar, kIdx };
enum class StorageKind { kRaw, kEncoded };
enum class ResizeKind { kCrop, kSquash };
enum class VerifyKind { kNone, kOnce, kEpoch };
enum class CropKind { kPad, kRandomResized };
enum class BorderKind {
  kBlack,
  kReflect,  ///< the image mirrored about its outermost pixels: place -1 shows pixel 1
};
enum class ChannelsKind { kAuto, kGrey, kColour };
enum class OrientKind { kAuto, kAsStored, kTurned };

struct ModelParams {
  std::string name = "resnet20";
  bool operator==(const ModelParams&) const = default;
};

struct DataParams {
  std::string train;  ///< a shard, a folder of shards, or a prefix such as data/fashion/train
  std::string val;    ///< what the best checkpoint and patience follow; empty: test
  std::string test;
  bool shuffle = true;
  std::int64_t loader_threads = 1;         ///< background threads per rank
  VerifyKind verify = VerifyKind::kEpoch;  ///< how often a sample's bytes are compared with their hash
  bool operator==(const DataParams&) const = default;
};

struct BatchParams {
  std::int64_t global = 128;  ///< samples a step, over all replicas
  std::int64_t micro = 32;    ///< samples a micro-batch: what batch norm averages over
  bool operator==(const BatchParams&) const = default;
};

struct GridParams {
  std::int64_t stages = 1;         ///< replicas = world size / stages; 0: auto
  std::vector<std::int64_t> cuts;  ///< by hand: the cell that each stage but the first begins with; empty: auto
  bool operator==(const GridParams&) const = default;
};

struct ScheduleParams {
  ScheduleKind kind = ScheduleKind::k1F1B;
  std::int64_t chunks = 2;  ///< interleaved: runs of cells a stage
  bool operator==(const ScheduleParams&) const = default;
};

struct MemoryParams {
  RecomputeKind recompute = RecomputeKind::kNone;  ///< cells whose activations backward computes again
  double limit_gib = 0;                            ///< what a rank's plan may take; 0: none known
  bool operator==(const MemoryParams&) const = default;
};

struct OptimizerParams {
  OptimizerKind kind = OptimizerKind::kSgd;
  double lr = 0.1;
  double momentum = 0.9;
  bool nesterov = false;
  double weight_decay = 1e-4;
  bool decay_norms_and_biases = true;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;  ///< adam, adamw
  double trust_coefficient = 0.001;                   ///< lars
  bool operator==(const OptimizerParams&) const = default;
};

struct LearningRateParams {
  LearningRateKind schedule = LearningRateKind::kConstant;
  double warmup_epochs = 0;         ///< linear from 0 to optimizer.lr
  std::vector<double> step_epochs;  ///< step: the period (one value); multistep: the milestones, ascending
  double gamma = 0.1;               ///< factor of step and multistep
  double power = 1;                 ///< of polynomial
  bool operator==(const LearningRateParams&) const = default;
};

struct TrainParams {
  double epochs = 10;
  std::int64_t max_steps = 0;  ///< 0: no limit but epochs
  std::uint64_t seed = 1;
  double label_smoothing = 0;
  PrecisionKind precision = PrecisionKind::kF32;
  std::vector<std::string> freeze;         ///< patterns of parameters' names that stay as they are: "layer1.*"
  double clip_norm = 0;                    ///< of the gradient, over all parameters; 0: not clipped
  double ema_decay = 0;                    ///< of the weights' moving average; 0: none
  std::int64_t evaluate_every_epochs = 1;  ///< 0: only at the end
  std::int64_t patience_epochs = 0;        ///< 0: trains to the end
  bool operator==(const TrainParams&) const = default;
};

struct AugmentParams {
  std::int64_t size = 0;                   ///< rows and columns of the network's input; 0: the images' own
  CropKind crop = CropKind::kPad;          ///< in training
  std::int64_t crop_padding = 0;           ///< pad: pixels of border before a random crop back to size
  BorderKind border = BorderKind::kBlack;  ///< what it shows
  double scale = 0.08;                     ///< random_resized: least share of the image's area
  std::int64_t eval_resize = 0;  ///< what the short side becomes before the centre is cut out; 0: see key_table.cpp
  bool flip = false;             ///< left-right with probability 1/2
  double brightness = 0, contrast = 0, saturation = 0;  ///< factors within 1 -+ this
  std::int64_t cutout = 0;                              ///< pixels: side of a square set to the mean
  double mixup = 0;                                     ///< alpha of Beta(alpha, alpha); 0: not
  bool normalize = true;                                ///< (x - mean) / deviation of the training set, a channel
  bool operator==(const AugmentParams&) const = default;
};

struct CheckpointParams {
  double every_epochs = 1;        ///< 0: never
  std::int64_t every_steps = 0;   ///< 0: never
  std::int64_t keep = 2;          ///< newest kept; 0: all
  bool best = true;               ///< best.h5, of the best top-1, beside them
  std::string resume = "auto";    ///< auto, best, none, or a checkpoint's path
  bool allow_other_data = false;  ///< resumes although data.train holds other images or labels
  bool operator==(const CheckpointParams&) const = default;
};

struct EvaluateParams {
  WeightsKind weights = WeightsKind::kEma;
  bool mirror = false;     ///< each picture is looked at as it is and mirrored
  bool confusion = false;  ///< confusion.csv and classes.csv in run.directory
  bool operator==(const EvaluateParams&) const = default;
};

struct PredictParams {
  std::string data;      ///< as data.test is given, or a folder of images; empty: data.test, or else data.val
  std::string output;    ///< a .csv file; empty: predictions.csv in run.directory, of one picture none
  std::int64_t top = 5;  ///< classes per row, the most probable first
  OrientKind orient = OrientKind::kAuto;  ///< image files are turned as their Exif orientation says; auto: the card's
  bool strict = false;                    ///< the first bad image ends the prediction
  bool operator==(const PredictParams&) const = default;
};

struct InitParams {
  std::string weights = "random";  ///< random, or the path of a checkpoint or a .safetensors file
  bool strict = true;              ///< refuse weights that are not this model's; false: take those that fit
  bool zero_residual = false;      ///< what starts at random: every block begins as its shortcut
  bool operator==(const InitParams&) const = default;
};

struct RunParams {
  std::string directory = "runs/convoy";
  std::int64_t threads = 0;  ///< compute threads a rank; 0: the cores bound to the rank, shared fairly
  DeviceKind device = DeviceKind::kAuto;
  std::string plans;  ///< the engines that a GPU's library uses; empty: plans.txt in `directory`
  ReductionKind reduction = ReductionKind::kInvariant;
  double bucket_mib = 4;   ///< gradients travel in buckets of about this size; never changes a bit
  std::int64_t trace = 0;  ///< training steps to record; 0: none
  bool operator==(const RunParams&) const = default;
};

struct PlanParams {
  std::vector<std::int64_t> ranks;  ///< a table of layouts for each; empty: none
  std::vector<std::int64_t> micro;  ///< to try; empty: batch.micro
  bool measure = true;              ///< cells, memory and network; false: from a model
  double latency_us = 0;            ///< of a message between ranks; 0: as measured
  double bandwidth_gb_s = 0;        ///< likewise, 10^9 bytes a second
  std::string draw;                 ///< an .svg file
  bool operator==(const PlanParams&) const = default;
};

struct ImportParams {
  ImportFormat format = ImportFormat::kAuto;
  std::string source;
  std::string output;
  StorageKind storage = StorageKind::kRaw;
  std::int64_t size = 0;  ///< rows and columns of a raw image; 0: as they are
  ResizeKind resize = ResizeKind::kCrop;
  ChannelsKind channels = ChannelsKind::kAuto;
  bool orient = false;      ///< images are turned as their Exif orientation says
  double val_fraction = 0;  ///< of each class of train, for a split of its own
  std::int64_t shards = 0;  ///< files per split; 0: one for every 128 MiB, at most 256
  bool strict = false;      ///< the first bad file ends the import
  bool replace = false;     ///< of a data set that `output` holds
  bool operator==(const ImportParams&) const = default;
};

struct ExportParams {
  std::string output;  ///< a .safetensors file
  bool operator==(const ExportParams&) const = default;
};

/// Everything. Sections in the order in which --help prints them.
struct Parameters {
  ModelParams model;
  DataParams data;
  BatchParams batch;
  GridParams grid;
  ScheduleParams schedule;
  MemoryParams memory;
  OptimizerParams optimizer;
  LearningRateParams lr;
  TrainParams train;
  AugmentParams augment;
  CheckpointParams checkpoint;
  EvaluateParams evaluate;
  PredictParams predict;
  InitParams init;
  RunParams run;
  PlanParams plan;
  ImportParams import;
  ExportParams exporting;  // "export" is a word of C++

  bool operator==(const Parameters&) const = default;
};

}  // namespace convoy
