/// The words that parameter files use for choices, for everyone who prints one.
#pragma once

#include "convoy/params/parameters.h"

namespace convoy {

const char* name_of(ScheduleKind kind);      ///< "naive", "gpipe", "1f1b", "interleaved", "zero_bubble"
const char* name_of(OptimizerKind kind);     ///< "sgd", "adam", "adamw", "lars"
const char* name_of(LearningRateKind kind);  ///< "constant", "step", "multistep", "cosine", "polynomial", "onecycle"
const char* name_of(DeviceKind kind);        ///< "auto", "cpu", "cuda"
const char* name_of(PrecisionKind kind);     ///< "f32", "tf32", "bf16", "fp16"
const char* name_of(ReductionKind kind);     ///< "invariant", "fast"
const char* name_of(WeightsKind kind);       ///< "ema", "trained"
const char* name_of(RecomputeKind kind);     ///< "none", "cell", "auto"

}  // namespace convoy
