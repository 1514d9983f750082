/// The words of each choice: one table for reading, printing and "nearest".
#pragma once

#include "convoy/params/parameters.h"

namespace convoy::params {

template <typename T>
struct Choice {
  const char* word;
  T value;
  const char* synonyms = "";  ///< what else people call it, in small letters: whoever writes one is told the word
};

inline constexpr Choice<ScheduleKind> kScheduleKinds[] = {{"naive", ScheduleKind::kNaive},
                                                          {"gpipe", ScheduleKind::kGpipe},
                                                          {"1f1b", ScheduleKind::k1F1B},
                                                          {"interleaved", ScheduleKind::kInterleaved, "vpp virtual"},
                                                          {"zero_bubble", ScheduleKind::kZeroBubble, "zb zb-h1"}};

inline constexpr Choice<OptimizerKind> kOptimizerKinds[] = {{"sgd", OptimizerKind::kSgd},
                                                            {"adam", OptimizerKind::kAdam},
                                                            {"adamw", OptimizerKind::kAdamW},
                                                            {"lars", OptimizerKind::kLars}};

inline constexpr Choice<LearningRateKind> kLearningRateKinds[] = {
    {"constant", LearningRateKind::kConstant},     {"step", LearningRateKind::kStep},
    {"multistep", LearningRateKind::kMultistep},   {"cosine", LearningRateKind::kCosine},
    {"polynomial", LearningRateKind::kPolynomial}, {"onecycle", LearningRateKind::kOnecycle}};

inline constexpr Choice<DeviceKind> kDeviceKinds[] = {
    {"auto", DeviceKind::kAuto}, {"cpu", DeviceKind::kCpu, "host"}, {"cuda", DeviceKind::kCuda, "gpu nvidia"}};

inline constexpr Choice<PrecisionKind> kPrecisionKinds[] = {{"f32", PrecisionKind::kF32, "float32 fp32 float single"},
                                                            {"tf32", PrecisionKind::kTf32, "tensorfloat32"},
                                                            {"bf16", PrecisionKind::kBf16, "bfloat16"},
                                                            {"fp16", PrecisionKind::kFp16, "float16 f16 half"}};

inline constexpr Choice<ReductionKind> kReductionKinds[] = {{"invariant", ReductionKind::kInvariant},
                                                            {"fast", ReductionKind::kFast}};

inline constexpr Choice<WeightsKind> kWeightsKinds[] = {{"ema", WeightsKind::kEma}, {"trained", WeightsKind::kTrained}};

inline constexpr Choice<RecomputeKind> kRecomputeKinds[] = {{"none", RecomputeKind::kNone},
                                                            {"cell", RecomputeKind::kCell, "all full checkpoint"},
                                                            {"auto", RecomputeKind::kAuto}};

inline constexpr Choice<ImportFormat> kImportFormats[] = {{"auto", ImportFormat::kAuto},
                                                          {"folder", ImportFormat::kFolder, "imagefolder jpeg png"},
                                                          {"cifar", ImportFormat::kCifar, "cifar10 cifar100"},
                                                          {"idx", ImportFormat::kIdx, "mnist fashion-mnist"}};

inline constexpr Choice<StorageKind> kStorageKinds[] = {{"raw", StorageKind::kRaw}, {"encoded", StorageKind::kEncoded}};

inline constexpr Choice<ResizeKind> kResizeKinds[] = {{"crop", ResizeKind::kCrop}, {"squash", ResizeKind::kSquash}};

inline constexpr Choice<VerifyKind> kVerifyKinds[] = {
    {"epoch", VerifyKind::kEpoch}, {"once", VerifyKind::kOnce}, {"none", VerifyKind::kNone}};

inline constexpr Choice<CropKind> kCropKinds[] = {{"pad", CropKind::kPad},
                                                  {"random_resized", CropKind::kRandomResized}};

inline constexpr Choice<BorderKind> kBorderKinds[] = {{"black", BorderKind::kBlack}, {"reflect", BorderKind::kReflect}};

inline constexpr Choice<ChannelsKind> kChannelsKinds[] = {{"auto", ChannelsKind::kAuto},
                                                          {"1", ChannelsKind::kGrey, "grey gray"},
                                                          {"3", ChannelsKind::kColour, "rgb colour color"}};

inline constexpr Choice<OrientKind> kOrientKinds[] = {{"auto", OrientKind::kAuto},
                                                      {"false", OrientKind::kAsStored, "no off stored torchvision"},
                                                      {"true", OrientKind::kTurned, "yes on turned exif"}};

}  // namespace convoy::params
