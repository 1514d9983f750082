/// All that a parameter file can say, as typed structs. Nothing here is computed: files and command line fill it
/// (parse.h), and the checks that need the world size or the data are made by the code that knows those.
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
  const char* synonyms = "";  ///< what else people call it, in small letters: whoever writes one is told the word
};

/// The table of an enumeration: an array of Choice<T>, by a specialisation. No other type has one.
template <typename T>
inline constexpr std::nullptr_t kChoices = nullptr;

/// The word that parameter files use for a value.
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
  kGelu,      ///< x Phi(x), Phi the normal distribution's (Hendrycks, Gimpel 2016)
  kGeluTanh,  ///< 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))): its approximation, as BERT has it
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
  kAuto,  ///< ranks that fill the processors they share get each its own, near to each other
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

/// How many files a checkpoint is: one, or one for each rank's share of the values and one that lists them.
enum class CheckpointFiles { kOne, kSharded };
template <>
inline constexpr Choice<CheckpointFiles> kChoices<CheckpointFiles>[] = {
    {CheckpointFiles::kOne, "one", "single"}, {CheckpointFiles::kSharded, "sharded", "shards parts many"}};

/// What the rows of a sweep do.
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
  std::int64_t length = 256;    ///< tokens of a text that the network reads
  double stochastic_depth = 0;  ///< share of samples for which the last block is left out; of the first block none
  bool operator==(const ModelParams&) const = default;
};

/// Of model.name = transformer, bert and bert_classifier, but for the words that they read. Its keys stand in the
/// section model.
struct TransformerParams {
  std::int64_t layers = 2;
  std::int64_t heads = 4;          ///< divides width
  std::int64_t width = 128;        ///< C: values of a word between layers
  std::int64_t feedforward = 512;  ///< F: outputs of a layer's first linear layer
  double dropout = 0.1;
  ActivationKind activation = ActivationKind::kRelu;
  PositionKind positions = PositionKind::kSinusoids;
  NormPlace norm = NormPlace::kAfter;  ///< of a layer's sums: after them, or before its parts
  bool operator==(const TransformerParams&) const = default;
};

struct DataParams {
  std::string train;  ///< a shard, a folder of shards, or a prefix such as data/fashion/train
  std::string val;    ///< what the best checkpoint and patience follow; empty: test
  std::string test;
  bool shuffle = true;
  bool balanced = false;                   ///< each class as often as any other
  std::int64_t loader_threads = 1;         ///< background threads per rank
  std::string stage = "none";              ///< where copies of the shards are read: "memory", a folder of the node
  VerifyKind verify = VerifyKind::kEpoch;  ///< how often a sample's bytes are compared with their hash
  bool allow_part = false;                 ///< `train` may be one shard of several
  bool operator==(const DataParams&) const = default;
};

struct BatchParams {
  std::int64_t global = 128;  ///< samples per step, over all replicas
  std::int64_t micro = 32;    ///< samples per micro-batch: what batch norm averages over
  bool operator==(const BatchParams&) const = default;
};

struct GridParams {
  std::int64_t stages = 1;         ///< replicas = world size / stages; 0: auto
  std::vector<std::int64_t> cuts;  ///< by hand: the cell that each stage but the first begins with; empty: auto
  bool operator==(const GridParams&) const = default;
};

struct ScheduleParams {
  std::optional<ScheduleKind> kind;  ///< none: auto
  std::int64_t chunks = 2;           ///< interleaved: runs of cells per stage
  bool operator==(const ScheduleParams&) const = default;
};

struct MemoryParams {
  RecomputeKind recompute = RecomputeKind::kNone;  ///< cells whose activations backward computes again
  double limit_gib = 0;                            ///< what a rank's plan may take; 0: none known
  bool operator==(const MemoryParams&) const = default;
};

/// Parameters that share a learning rate.
struct RateGroup {
  std::string pattern;  ///< of their names: "layer1.*"
  double factor = 1;    ///< of the learning rate
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
  std::vector<RateGroup> groups;                      ///< a parameter belongs to the first that matches its name
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

/// How much a sample of each class counts in the loss.
struct ClassWeights {
  bool balanced = false;        ///< each class as much as any other, however many samples it has
  std::vector<double> factors;  ///< otherwise one of each class, in proportion; empty: all alike

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
  double clip_norm = 0;                    ///< of the gradient, over all parameters; 0: not clipped
  double ema_decay = 0;                    ///< of the weights' moving average; 0: none
  std::int64_t evaluate_every_epochs = 1;  ///< 0: only at the end
  MetricKind metric = MetricKind::kTop1;   ///< what the best checkpoint and patience follow
  std::int64_t patience_epochs = 0;        ///< 0: trains to the end
  BadStepKind on_bad_step = BadStepKind::kStop;
  double loss_limit = 0;            ///< a micro-batch's mean loss above it is bad; 0: no limit
  std::int64_t max_bad_steps = 10;  ///< that are skipped in a row
  double rollback_factor = 0.5;     ///< of the learning rate
  std::int64_t max_rollbacks = 3;   ///< of a run
  bool operator==(const TrainParams&) const = default;
};

/// A number for each channel of the images, in [0, 1] as values / 255 are.
struct ChannelValues {
  bool imagenet = false;       ///< those of ImageNet, by which torchvision's weights were trained
  std::vector<double> values;  ///< otherwise one for each channel, or one for all; empty: those of the training set

  bool are_of_data() const { return !imagenet && values.empty(); }
  bool operator==(const ChannelValues&) const = default;
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
  AutoAugmentKind policy = AutoAugmentKind::kNone;
  std::int64_t policy_operations = 2, policy_magnitude = 9;  ///< of RandAugment; magnitude 0..30
  std::int64_t cutout = 0;                                   ///< pixels: side of a square set to the mean
  double erase = 0;                                          ///< probability of random erasing
  double mixup = 0;                                          ///< alpha of Beta(alpha, alpha); 0: not
  double cutmix = 0;                                         ///< likewise; both: one or the other for each micro-batch
  bool normalize = true;                                     ///< (x - mean) / stddev, channel by channel
  ChannelValues mean, stddev;                                ///< by default those of the training set
  bool mixes() const { return mixup > 0 || cutmix > 0; }
  bool operator==(const AugmentParams&) const = default;
};

struct CheckpointParams {
  double every_epochs = 1;       ///< 0: never
  std::int64_t every_steps = 0;  ///< 0: never
  std::int64_t keep = 2;         ///< newest kept; 0: all
  bool best = true;              ///< best.h5, of the best train.metric, in addition to them
  bool background = true;        ///< written while steps go on
  CheckpointFiles files = CheckpointFiles::kOne;
  std::string resume = "auto";    ///< auto, best, none, or a checkpoint's path
  bool allow_other_data = false;  ///< resumes although data.train holds other images or labels
  bool operator==(const CheckpointParams&) const = default;
};

struct EvaluateParams {
  WeightsKind weights = WeightsKind::kEma;
  bool mirror = false;     ///< each picture is evaluated plain and mirrored
  bool confusion = false;  ///< confusion.csv and classes.csv in run.directory
  bool operator==(const EvaluateParams&) const = default;
};

struct PredictParams {
  std::string data;      ///< as data.test is given, or a folder of images; empty: data.test, or else data.val
  std::string text;      ///< one text to predict, in place of `data`
  std::string output;    ///< a .csv file; empty: predictions.csv in run.directory, of one picture or text none
  std::int64_t top = 5;  ///< classes per row, the most probable first
  OrientKind orient =
      OrientKind::kAuto;  ///< image files are turned as their Exif orientation says; auto: the checkpoint's
  bool strict = false;    ///< the first bad image ends the prediction
  bool operator==(const PredictParams&) const = default;
};

struct InitParams {
  std::string weights = "random";  ///< random, or the path of a checkpoint or a .safetensors file
  std::string strip_prefix;        ///< removed from the names of tensors that begin with it, as in "module."
  bool strict = true;              ///< refuse weights that are not this model's; false: take those that fit
  bool zero_residual = false;      ///< what starts at random: every block begins as its shortcut
  bool operator==(const InitParams&) const = default;
};

struct RunParams {
  std::string directory = "runs/convoy";
  std::int64_t threads = 0;  ///< compute threads per rank; 0: the cores bound to the rank, shared fairly
  PlacementKind placement = PlacementKind::kAuto;
  DeviceKind device = DeviceKind::kAuto;
  std::string plans;  ///< the engines that a GPU's backend uses; empty: plans.txt in `directory`
  ReductionKind reduction = ReductionKind::kInvariant;
  double bucket_mib = 4;                 ///< gradients travel in buckets of about this size; never changes a bit
  std::int64_t trace = 0;                ///< training steps to record; 0: none
  std::int64_t profile = 0;              ///< training steps to measure layer by layer; 0: none
  double watchdog_seconds = 0;           ///< without an event; 0: from the step's own time
  double watchdog_abort_seconds = 1800;  ///< after the first alarm; 0: never
  std::int64_t fingerprint_every = 100;  ///< steps; 0: never
  std::int64_t audit_every = 0;          ///< steps: one of so many is checked by other replicas; 0: none
  double rank_seconds = 60;              ///< between two rows of each rank
  bool tensorboard = false;              ///< whether event files are written
  bool operator==(const RunParams&) const = default;
};

struct CheckParams {
  bool hash = false;  ///< every byte of the data too, not only the heads of the shards
  bool operator==(const CheckParams&) const = default;
};

/// Steps [first, last] of a run, counted from 1; 0 to 0: not said.
struct StepRange {
  std::int64_t first = 0, last = 0;

  bool operator==(const StepRange&) const = default;
};

struct ReplayParams {
  StepRange steps;
  bool operator==(const ReplayParams&) const = default;
};

struct PlanParams {
  std::vector<std::int64_t> ranks;    ///< a table of layouts for each; empty: none
  std::vector<std::int64_t> micro;    ///< to try; empty: batch.micro
  std::int64_t samples_per_rank = 0;  ///< batch.global in those tables; 0: as it is
  bool measure = true;                ///< cells, memory and network; false: from a model
  std::string draw;                   ///< an .svg file: the planned step
  std::string draw_efficiency;        ///< an .svg file: the best layout of each number of ranks

  // --- A training set that is not here
  std::int64_t samples = 0;  ///< 0: data.train is opened
  std::int64_t classes = 0;
  std::vector<std::int64_t> image_size;  ///< of images: rows and columns, or one number for both, and channels
  std::int64_t vocabulary = 0;           ///< of texts

  // --- The cluster that is planned for, where it is not this one; 0: as measured, or as the model has it
  double tflop_s = 0, memory_gb_s = 0;  ///< of a rank; 10^12 operations and 10^9 bytes per second
  std::int64_t ranks_per_node = 0;
  std::vector<double> latency_us, bandwidth_gb_s;  ///< of messages on a node, between nodes; one number: of both
  double node_gb_s = 0;                            ///< all that a node sends to others
  double spread_percent = 0;                       ///< standard deviation of the ranks' times
  double loader_samples_s = 0;                     ///< of a rank; 0: never waited for
  double disk_gb_s = 0;                            ///< of checkpoints; 0: never waited for
  bool operator==(const PlanParams&) const = default;
};

/// A table of measurements: a row for each combination of the values that are listed. An empty list: as the rest of the
/// parameters has it.
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
  std::int64_t steps = 10;      ///< measured, of each row in each round
  std::int64_t warm_steps = 3;  ///< before them
  std::int64_t rounds = 3;
  std::int64_t row = 0;  ///< this one alone, counted from 1; 0: all
  bool list = false;     ///< only says what the rows are
  bool operator==(const SweepParams&) const = default;
};

struct ImportParams {
  ImportFormat format = ImportFormat::kAuto;
  std::string source;
  std::string output;
  StorageKind storage = StorageKind::kRaw;
  std::int64_t size = 0;  ///< rows and columns of a raw image; 0: as they are
  ResizeKind resize = ResizeKind::kCrop;
  ChannelsKind channels = ChannelsKind::kAuto;
  bool orient = false;  ///< images are turned as their Exif orientation says
  TokenizerKind tokenizer = TokenizerKind::kWords;
  std::int64_t vocabulary = 20'000;    ///< tokens, with the special ones, at most
  std::string text_column = "text";    ///< of tables
  std::string label_column = "label";  ///< likewise
  bool splits = true;                  ///< folders named train*, val* and test* are splits; false: classes
  double max_class_fraction = 0.1;     ///< classes of a table, as a share of its texts
  double val_fraction = 0;             ///< of each class of train, for a split of its own
  std::int64_t shards = 0;             ///< files per split; 0: one for every 128 MiB, at most 256
  bool strict = false;                 ///< the first bad file ends the import
  bool replace = false;                ///< of a data set that `output` holds
  bool operator==(const ImportParams&) const = default;
};

struct ExportParams {
  std::string output;  ///< a .safetensors file
  bool operator==(const ExportParams&) const = default;
};

struct WatchParams {
  bool once = false;  ///< draws once, and ends
  bool operator==(const WatchParams&) const = default;
};

/// Everything. Sections in the order in which --help prints them.
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
