/// The values that a key may choose from: an enumeration for each choice, with one table of the words that parameter
/// files use, for reading, printing and "nearest".
#pragma once

#include <cstddef>
#include <iterator>

namespace convoy {

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

enum class BadStepKind { kStop, kSkip, kRollback };
template <>
inline constexpr Choice<BadStepKind> kChoices<BadStepKind>[] = {
    {BadStepKind::kStop, "stop"}, {BadStepKind::kSkip, "skip"}, {BadStepKind::kRollback, "rollback"}};

enum class LossKind {
  kCrossEntropy,        ///< of a class
  kBinaryCrossEntropy,  ///< of several labels
  kMse,                 ///< mean squared error of numbers
  kMae,                 ///< mean absolute error of numbers
  kHuber,               ///< of numbers; squared below train.huber_delta, absolute above
};
template <>
inline constexpr Choice<LossKind> kChoices<LossKind>[] = {
    {LossKind::kCrossEntropy, "cross_entropy", "ce xent softmax nll categorical_crossentropy"},
    {LossKind::kBinaryCrossEntropy, "binary_cross_entropy", "bce sigmoid bce_with_logits binary_crossentropy"},
    {LossKind::kMse, "mse", "l2 squared_error mean_squared_error"},
    {LossKind::kMae, "mae", "l1 absolute_error mean_absolute_error"},
    {LossKind::kHuber, "huber", "huber_error smooth_l1"}};

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

enum class ImportFormat { kAuto, kFolder, kCifar, kIdx, kText, kCsv, kArrays, kTable };
template <>
inline constexpr Choice<ImportFormat> kChoices<ImportFormat>[] = {
    {ImportFormat::kAuto, "auto"},
    {ImportFormat::kFolder, "folder", "imagefolder jpeg png"},
    {ImportFormat::kCifar, "cifar", "cifar10 cifar100"},
    {ImportFormat::kIdx, "idx", "mnist fashion-mnist"},
    {ImportFormat::kText, "text", "txt imdb aclimdb"},
    {ImportFormat::kCsv, "csv", "tsv"},
    {ImportFormat::kArrays, "arrays", "array numpy npy npz hdf5 h5"},
    {ImportFormat::kTable, "table", "tables numbers tabular"}};

/// Which axis of users' arrays is that of the channels.
enum class AxesKind {
  kAuto,
  kChannelsFirst,  ///< a sample is (C,H,W)
  kChannelsLast,   ///< a sample is (H,W,C)
  kNone,           ///< a sample is (H,W): it has one channel
};
template <>
inline constexpr Choice<AxesKind> kChoices<AxesKind>[] = {
    {AxesKind::kAuto, "auto"},
    {AxesKind::kChannelsFirst, "channels_first", "first nchw chw"},
    {AxesKind::kChannelsLast, "channels_last", "last nhwc hwc"},
    {AxesKind::kNone, "none", "nhw hw"}};

/// What the target of a data set is asked to be; kAuto: it is found out from its values.
enum class TargetRequest { kAuto, kClass, kLabels, kNumbers };
template <>
inline constexpr Choice<TargetRequest> kChoices<TargetRequest>[] = {
    {TargetRequest::kAuto, "auto"},
    {TargetRequest::kClass, "class", "classes classification"},
    {TargetRequest::kLabels, "labels", "label multilabel multi_label"},
    {TargetRequest::kNumbers, "numbers", "number regression"}};

/// What an import does with samples that have NaN or infinite values.
enum class BadValuesKind { kRefuse, kSkip, kMean };
template <>
inline constexpr Choice<BadValuesKind> kChoices<BadValuesKind>[] = {{BadValuesKind::kRefuse, "refuse", "stop error"},
                                                                    {BadValuesKind::kSkip, "skip", "drop ignore"},
                                                                    {BadValuesKind::kMean, "mean", "fill impute"}};

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

}  // namespace convoy
