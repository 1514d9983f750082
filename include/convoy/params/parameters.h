/// All parameters of a parameter file, as typed structs. Nothing is computed here: files and command line fill the
/// structs (parse.h), and code that knows the world size or the data checks what depends on them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "convoy/base/metrics.h"

namespace convoy {

// --- Choices, with the words that parameter files use for them ------------------------------------------------------
// Each enumeration has one table of words, for reading, printing and "nearest".

template <typename T>
struct Choice {
  T value;
  const char* word;
  const char* synonyms = "";  ///< other usual names, in small letters: a message then names the right word
};

/// The table of words of an enumeration: an array of Choice<T>, as a specialisation. Other types have no table.
template <typename T>
inline constexpr std::nullptr_t kChoices = nullptr;

/// The word for a value in parameter files.
template <typename T>
requires requires {
  std::size(kChoices<T>);
}
constexpr const char* name_of(T value) {
  for (const Choice<T>& choice : kChoices<T>) {
    if (choice.value == value) return choice.word;
  }
  return "?";
}

enum class ActivationKind {
  kRelu,      ///< max(0, x)
  kGelu,      ///< x Phi(x), Phi of the normal distribution (Hendrycks, Gimpel 2016)
  kGeluTanh,  ///< 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))): approximates kGelu, as in BERT
  kTanh,
};
template <>
inline constexpr Choice<ActivationKind> kChoices<ActivationKind>[] = {{ActivationKind::kRelu, "relu"},
                                                                      {ActivationKind::kGelu, "gelu"},
                                                                      {ActivationKind::kGeluTanh, "gelu_tanh"},
                                                                      {ActivationKind::kTanh, "tanh"}};

enum class PositionKind { kSinusoids, kLearned };
template <>
inline constexpr Choice<PositionKind> kChoices<PositionKind>[] = {
    {PositionKind::kSinusoids, "sinusoids", "sinusoidal fixed"}, {PositionKind::kLearned, "learned", "trained"}};

enum class NormPlace { kAfter, kBefore };
template <>
inline constexpr Choice<NormPlace> kChoices<NormPlace>[] = {{NormPlace::kAfter, "after", "post postnorm"},
                                                            {NormPlace::kBefore, "before", "pre prenorm"}};

enum class ScheduleKind { kNaive, kGpipe, k1F1B, kInterleaved, kZeroBubble };
template <>
inline constexpr Choice<ScheduleKind> kChoices<ScheduleKind>[] = {
    {ScheduleKind::kNaive, "naive"},
    {ScheduleKind::kGpipe, "gpipe"},
    {ScheduleKind::k1F1B, "1f1b"},
    {ScheduleKind::kInterleaved, "interleaved", "vpp virtual"},
    {ScheduleKind::kZeroBubble, "zero_bubble", "zb zb-h1"}};

enum class OptimizerKind { kSgd, kAdam, kAdamW, kLars, kLamb };
template <>
inline constexpr Choice<OptimizerKind> kChoices<OptimizerKind>[] = {{OptimizerKind::kSgd, "sgd"},
                                                                    {OptimizerKind::kAdam, "adam"},
                                                                    {OptimizerKind::kAdamW, "adamw"},
                                                                    {OptimizerKind::kLars, "lars"},
                                                                    {OptimizerKind::kLamb, "lamb"}};

enum class LearningRateKind { kConstant, kStep, kMultistep, kCosine, kPolynomial, kOnecycle, kInverseSqrt };
template <>
inline constexpr Choice<LearningRateKind> kChoices<LearningRateKind>[] = {
    {LearningRateKind::kConstant, "constant"},
    {LearningRateKind::kStep, "step"},
    {LearningRateKind::kMultistep, "multistep"},
    {LearningRateKind::kCosine, "cosine"},
    {LearningRateKind::kPolynomial, "polynomial"},
    {LearningRateKind::kOnecycle, "onecycle"},
    {LearningRateKind::kInverseSqrt, "inverse_sqrt", "noam rsqrt"}};

enum class DeviceKind { kAuto, kCpu, kCuda };
template <>
inline constexpr Choice<DeviceKind> kChoices<DeviceKind>[] = {
    {DeviceKind::kAuto, "auto"}, {DeviceKind::kCpu, "cpu", "host"}, {DeviceKind::kCuda, "cuda", "gpu nvidia"}};

enum class PlacementKind {
  kAuto,  ///< ranks that fill the processors that they share each get their own, near to each other
  kNone,
};
template <>
inline constexpr Choice<PlacementKind> kChoices<PlacementKind>[] = {{PlacementKind::kAuto, "auto"},
                                                                    {PlacementKind::kNone, "none", "off"}};

enum class PrecisionKind { kF32, kTf32, kBf16, kFp16 };
template <>
inline constexpr Choice<PrecisionKind> kChoices<PrecisionKind>[] = {
    {PrecisionKind::kF32, "f32", "float32 fp32 float single"},
    {PrecisionKind::kTf32, "tf32", "tensorfloat32"},
    {PrecisionKind::kBf16, "bf16", "bfloat16"},
    {PrecisionKind::kFp16, "fp16", "float16 f16 half"}};

/// The words of the list of metrics.
template <>
inline constexpr auto kChoices<MetricKind> = [] {
  std::array<Choice<MetricKind>, std::size(kMetrics)> words{};
  std::ranges::transform(kMetrics, words.begin(), [](const Metric& metric) {
    return Choice<MetricKind>{.value = metric.kind, .word = metric.name, .synonyms = metric.synonyms};
  });
  return words;
}();

enum class BadStepKind { kStop, kSkip, kRollback };
template <>
inline constexpr Choice<BadStepKind> kChoices<BadStepKind>[] = {
    {BadStepKind::kStop, "stop"}, {BadStepKind::kSkip, "skip"}, {BadStepKind::kRollback, "rollback"}};

enum class ReductionKind { kInvariant, kFast };
template <>
inline constexpr Choice<ReductionKind> kChoices<ReductionKind>[] = {{ReductionKind::kInvariant, "invariant"},
                                                                    {ReductionKind::kFast, "fast"}};

enum class WeightsKind { kEma, kTrained };
template <>
inline constexpr Choice<WeightsKind> kChoices<WeightsKind>[] = {{WeightsKind::kEma, "ema"},
                                                                {WeightsKind::kTrained, "trained"}};

enum class RecomputeKind { kNone, kCell, kAuto };
template <>
inline constexpr Choice<RecomputeKind> kChoices<RecomputeKind>[] = {
    {RecomputeKind::kNone, "none"},
    {RecomputeKind::kCell, "cell", "all full checkpoint"},
    {RecomputeKind::kAuto, "auto"}};

/// The files of a checkpoint: one, or one for each rank's share of the values and one that lists them.
enum class CheckpointFiles { kOne, kSharded };
template <>
inline constexpr Choice<CheckpointFiles> kChoices<CheckpointFiles>[] = {
    {CheckpointFiles::kOne, "one", "single"}, {CheckpointFiles::kSharded, "sharded", "shards parts many"}};

/// The work that the rows of a sweep measure.
enum class SweepWork { kTrain, kPredict };
template <>
inline constexpr Choice<SweepWork> kChoices<SweepWork>[] = {
    {SweepWork::kTrain, "train", "training"}, {SweepWork::kPredict, "predict", "inference evaluate prediction"}};

enum class ImportFormat { kAuto, kFolder, kCifar, kIdx, kText, kCsv };
template <>
inline constexpr Choice<ImportFormat> kChoices<ImportFormat>[] = {
    {ImportFormat::kAuto, "auto"},
    {ImportFormat::kFolder, "folder", "imagefolder jpeg png"},
    {ImportFormat::kCifar, "cifar", "cifar10 cifar100"},
    {ImportFormat::kIdx, "idx", "mnist fashion-mnist"},
    {ImportFormat::kText, "text", "txt imdb aclimdb"},
    {ImportFormat::kCsv, "csv", "tsv table"}};

enum class TokenizerKind { kWords, kSubwords };
template <>
inline constexpr Choice<TokenizerKind> kChoices<TokenizerKind>[] = {
    {TokenizerKind::kWords, "words", "word"},
    {TokenizerKind::kSubwords, "subwords", "subword sentencepiece unigram bpe"}};

enum class StorageKind { kRaw, kEncoded };
template <>
inline constexpr Choice<StorageKind> kChoices<StorageKind>[] = {{StorageKind::kRaw, "raw"},
                                                                {StorageKind::kEncoded, "encoded"}};

enum class ResizeKind { kCrop, kSquash };
template <>
inline constexpr Choice<ResizeKind> kChoices<ResizeKind>[] = {{ResizeKind::kCrop, "crop"},
                                                              {ResizeKind::kSquash, "squash"}};

enum class VerifyKind { kNone, kOnce, kEpoch };
template <>
inline constexpr Choice<VerifyKind> kChoices<VerifyKind>[] = {
    {VerifyKind::kEpoch, "epoch"}, {VerifyKind::kOnce, "once"}, {VerifyKind::kNone, "none"}};

enum class CropKind { kPad, kRandomResized };
template <>
inline constexpr Choice<CropKind> kChoices<CropKind>[] = {{CropKind::kPad, "pad"},
                                                          {CropKind::kRandomResized, "random_resized"}};

enum class BorderKind {
  kBlack,
  kReflect,  ///< the image mirrored about its outermost pixels: position -1 shows pixel 1
};
template <>
inline constexpr Choice<BorderKind> kChoices<BorderKind>[] = {{BorderKind::kBlack, "black"},
                                                              {BorderKind::kReflect, "reflect"}};

enum class AutoAugmentKind { kNone, kRand, kTrivial };
template <>
inline constexpr Choice<AutoAugmentKind> kChoices<AutoAugmentKind>[] = {
    {AutoAugmentKind::kNone, "none"},
    {AutoAugmentKind::kRand, "randaugment", "rand ra"},
    {AutoAugmentKind::kTrivial, "trivialaugment", "trivial ta ta_wide trivialaugmentwide"}};

enum class ChannelsKind { kAuto, kGrey, kColour };
template <>
inline constexpr Choice<ChannelsKind> kChoices<ChannelsKind>[] = {{ChannelsKind::kAuto, "auto"},
                                                                  {ChannelsKind::kGrey, "1", "grey gray"},
                                                                  {ChannelsKind::kColour, "3", "rgb colour color"}};

enum class OrientKind { kAuto, kAsStored, kTurned };
template <>
inline constexpr Choice<OrientKind> kChoices<OrientKind>[] = {
    {OrientKind::kAuto, "auto"},
    {OrientKind::kAsStored, "false", "no off stored torchvision"},
    {OrientKind::kTurned, "true", "yes on turned exif"}};

// --- Sections --------------------------------------------------------------------------------------------------------

struct ModelParams {
  std::string name = "resnet20";
  std::int64_t length = 256;    ///< tokens that the network reads per text
  double stochastic_depth = 0;  ///< share of samples that skip the last block; it falls to 0 for the first block
  bool operator==(const ModelParams&) const = default;
};

/// The shape of the networks transformer, bert and bert_classifier. Its keys are in the section model.
struct TransformerParams {
  std::int64_t layers = 2;
  std::int64_t heads = 4;          ///< divides width
  std::int64_t width = 128;        ///< C: values per word between layers
  std::int64_t feedforward = 512;  ///< F: outputs of the first linear layer in each layer
  double dropout = 0.1;
  ActivationKind activation = ActivationKind::kRelu;
  PositionKind positions = PositionKind::kSinusoids;
  NormPlace norm = NormPlace::kAfter;  ///< layer norm after the sums of a layer, or before its parts
  bool operator==(const TransformerParams&) const = default;
};

struct DataParams {
  std::string train;  ///< a shard, a folder of shards, or a prefix such as data/fashion/train
  std::string val;    ///< data set that selects the best checkpoint and that patience follows; empty: test
  std::string test;
  bool shuffle = true;
  bool balanced = false;            ///< true: draws each class equally often
  std::int64_t loader_threads = 1;  ///< background threads per rank
  std::string stage = "none";       ///< copies the shards before reading them: "memory", or to a folder of the node
  VerifyKind verify = VerifyKind::kEpoch;  ///< how often a sample's bytes are compared with their hash
  bool allow_part = false;                 ///< true: `train` may be one shard of several
  bool operator==(const DataParams&) const = default;
};

struct BatchParams {
  std::int64_t global = 128;  ///< samples per step, over all replicas
  std::int64_t micro = 32;    ///< samples per micro-batch, over which batch norm averages
  bool operator==(const BatchParams&) const = default;
};

struct GridParams {
  std::int64_t stages = 1;         ///< replicas = world size / stages; 0: auto
  std::vector<std::int64_t> cuts;  ///< first cell of each stage but the first; empty: auto
  bool operator==(const GridParams&) const = default;
};

struct ScheduleParams {
  std::optional<ScheduleKind> kind;  ///< nothing: auto
  std::int64_t chunks = 2;           ///< interleaved: number of runs of cells per stage
  bool operator==(const ScheduleParams&) const = default;
};

struct MemoryParams {
  RecomputeKind recompute = RecomputeKind::kNone;  ///< the cells whose activations backward recomputes
  double limit_gib = 0;                            ///< memory that the plan may use per rank; 0: no known limit
  bool operator==(const MemoryParams&) const = default;
};

/// A group of parameters that share a learning rate.
struct RateGroup {
  std::string pattern;  ///< pattern of their names: "layer1.*"
  double factor = 1;    ///< factor of the learning rate
  bool operator==(const RateGroup&) const = default;
};

struct OptimizerParams {
  OptimizerKind kind = OptimizerKind::kSgd;
  double lr = 0.1;
  double momentum = 0.9;
  bool nesterov = false;
  double weight_decay = 1e-4;
  bool decay_norms_and_biases = true;
  bool decay_embeddings = true;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;  ///< adam, adamw, lamb
  double trust_coefficient = 0.001;                   ///< lars
  std::vector<RateGroup> groups;                      ///< a parameter belongs to the first group whose pattern matches
  bool operator==(const OptimizerParams&) const = default;
};

struct LearningRateParams {
  LearningRateKind schedule = LearningRateKind::kConstant;
  double warmup_epochs = 0;         ///< linear from 0 to optimizer.lr
  std::vector<double> step_epochs;  ///< step: the period (one value); multistep: the milestones, ascending
  double gamma = 0.1;               ///< factor of step and multistep
  double power = 1;                 ///< polynomial: the exponent
  bool operator==(const LearningRateParams&) const = default;
};

/// The weights of the classes in the loss.
struct ClassWeights {
  bool balanced = false;        ///< true: all classes count equally, whatever their number of samples
  std::vector<double> factors;  ///< otherwise one factor per class, in proportion; empty: all equal

  bool operator==(const ClassWeights&) const = default;
};

struct TrainParams {
  double epochs = 10;
  std::int64_t max_steps = 0;  ///< 0: no limit but epochs
  std::uint64_t seed = 1;
  double label_smoothing = 0;
  ClassWeights class_weights;
  PrecisionKind precision = PrecisionKind::kF32;
  std::vector<std::string> freeze;         ///< patterns of names of frozen parameters: "layer1.*"
  double clip_norm = 0;                    ///< maximal norm of the gradient of all parameters; 0: not clipped
  double ema_decay = 0;                    ///< decay of the weights' moving average; 0: no average
  std::int64_t evaluate_every_epochs = 1;  ///< 0: only at the end
  MetricKind metric = MetricKind::kTop1;   ///< selects the best checkpoint; patience follows it
  std::int64_t patience_epochs = 0;  ///< epochs without a better value before training stops; 0: trains to the end
  BadStepKind on_bad_step = BadStepKind::kStop;
  double loss_limit = 0;            ///< a micro-batch's mean loss above it is bad; 0: no limit
  std::int64_t max_bad_steps = 10;  ///< maximal number skipped in a row
  double rollback_factor = 0.5;     ///< factor of the learning rate at each rollback
  std::int64_t max_rollbacks = 3;   ///< per run
  bool operator==(const TrainParams&) const = default;
};

/// A number for each channel of the images, for values in [0, 1] (bytes / 255).
struct ChannelValues {
  bool imagenet = false;       ///< true: those of ImageNet, with which torchvision's weights were trained
  std::vector<double> values;  ///< otherwise one for each channel, or one for all; empty: those of the training set

  bool are_of_data() const { return !imagenet && values.empty(); }
  bool operator==(const ChannelValues&) const = default;
};

struct AugmentParams {
  std::int64_t size = 0;                   ///< rows and columns of the network's input; 0: the images' own
  CropKind crop = CropKind::kPad;          ///< in training
  std::int64_t crop_padding = 0;           ///< pad: pixels of border before a random crop back to size
  BorderKind border = BorderKind::kBlack;  ///< what the border shows
  double scale = 0.08;                     ///< random_resized: smallest share of the image's area
  std::int64_t eval_resize = 0;  ///< pixels of the short side before the centre is cut out; 0: see key_table.cpp
  bool flip = false;             ///< true: flips left-right with probability 1/2
  double brightness = 0, contrast = 0, saturation = 0;  ///< ranges of the factors: 1 - this to 1 + this
  AutoAugmentKind policy = AutoAugmentKind::kNone;
  std::int64_t policy_operations = 2, policy_magnitude = 9;  ///< of RandAugment; magnitude 0..30
  std::int64_t cutout = 0;                                   ///< pixels: side of a square set to the mean
  double erase = 0;                                          ///< probability of random erasing
  double mixup = 0;                                          ///< alpha of Beta(alpha, alpha); 0: off
  double cutmix = 0;           ///< alpha of Beta(alpha, alpha); 0: off; with mixup: one of both for each micro-batch
  bool normalize = true;       ///< (x - mean) / stddev, channel by channel
  ChannelValues mean, stddev;  ///< by default from the training set
  bool mixes() const { return mixup > 0 || cutmix > 0; }
  bool operator==(const AugmentParams&) const = default;
};

struct CheckpointParams {
  double every_epochs = 1;       ///< 0: never
  std::int64_t every_steps = 0;  ///< 0: never
  std::int64_t keep = 2;         ///< number of newest ones to keep; 0: all
  bool best = true;              ///< also keeps best.h5, with the best train.metric
  bool background = true;        ///< true: written while training continues
  CheckpointFiles files = CheckpointFiles::kOne;
  std::string resume = "auto";    ///< auto, best, none, or a checkpoint's path
  bool allow_other_data = false;  ///< true: resumes even if data.train holds other images or labels
  bool operator==(const CheckpointParams&) const = default;
};

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

struct InitParams {
  std::string weights = "random";  ///< random, or the path of a checkpoint or a .safetensors file
  std::string strip_prefix;        ///< removed from the names of tensors that begin with it, as in "module."
  bool strict = true;              ///< true: refuses weights of another model; false: takes those that fit
  bool zero_residual = false;      ///< for random weights: every block begins as its shortcut
  bool operator==(const InitParams&) const = default;
};

struct RunParams {
  std::string directory = "runs/convoy";
  std::int64_t threads = 0;  ///< compute threads per rank; 0: the cores bound to the rank, shared fairly
  PlacementKind placement = PlacementKind::kAuto;
  DeviceKind device = DeviceKind::kAuto;
  std::string engines;  ///< file of the engines of a GPU's backend; empty: engines.txt in `directory`
  ReductionKind reduction = ReductionKind::kInvariant;
  double bucket_mib = 4;        ///< approximate size of the buckets in which gradients are sent; never changes a bit
  std::int64_t trace = 0;       ///< training steps to record; 0: none
  std::int64_t profile = 0;     ///< training steps to measure layer by layer; 0: none
  double watchdog_seconds = 0;  ///< time without progress before the alarm; 0: from the duration of steps
  double watchdog_abort_seconds = 1800;  ///< time from the first alarm to the abort; 0: never
  std::int64_t fingerprint_every = 100;  ///< steps between fingerprints; 0: never
  std::int64_t audit_every = 0;          ///< one step in this number is checked by other replicas; 0: none
  double rank_seconds = 60;              ///< time between two rows of each rank
  bool tensorboard = false;              ///< whether event files are written
  bool operator==(const RunParams&) const = default;
};

struct CheckParams {
  bool hash = false;  ///< true: reads every byte of the data, not only the heads of the shards
  bool operator==(const CheckParams&) const = default;
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

struct ImportParams {
  ImportFormat format = ImportFormat::kAuto;
  std::string source;
  std::string output;
  StorageKind storage = StorageKind::kRaw;
  std::int64_t size = 0;  ///< rows and columns of a raw image; 0: not resized
  ResizeKind resize = ResizeKind::kCrop;
  ChannelsKind channels = ChannelsKind::kAuto;
  bool orient = false;  ///< true: turns images as their Exif orientation says
  TokenizerKind tokenizer = TokenizerKind::kWords;
  std::int64_t vocabulary = 20'000;    ///< maximal number of tokens, including the special ones
  std::string text_column = "text";    ///< name of the tables' column
  std::string label_column = "label";  ///< name of the tables' column
  bool splits = true;                  ///< true: folders named train*, val* and test* are splits; false: classes
  double max_class_fraction = 0.1;     ///< maximal number of a table's classes, as a share of its texts
  double val_fraction = 0;             ///< share of each class of train that becomes the split val
  std::int64_t shards = 0;             ///< number of files per split; 0: one for every 128 MiB, at most 256
  bool strict = false;                 ///< true: the first bad file ends the import
  bool replace = false;                ///< true: replaces a data set in `output`
  bool operator==(const ImportParams&) const = default;
};

struct ExportParams {
  std::string output;  ///< a .safetensors file
  bool operator==(const ExportParams&) const = default;
};

struct WatchParams {
  bool once = false;  ///< true: draws once and ends
  bool operator==(const WatchParams&) const = default;
};

/// All parameters, with the sections in the order in which --help prints them.
struct Parameters {
  ModelParams model;
  TransformerParams transformer;
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
  CheckParams check;
  PlanParams plan;
  ReplayParams replay;
  WatchParams watch;
  SweepParams sweep;
  ImportParams import;
  ExportParams exporting;  // "export" is a word of C++

  bool operator==(const Parameters&) const = default;
};

}  // namespace convoy
