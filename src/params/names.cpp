/// See names.h.
#include "convoy/params/names.h"

#include "params/choices.h"

namespace convoy {

namespace {

template <typename T, std::size_t N>
const char* word_of(const params::Choice<T> (&choices)[N], T value) {
  for (const auto& choice : choices) {
    if (choice.value == value) return choice.word;
  }
  return "?";
}

}  // namespace

const char* name_of(ScheduleKind kind) {
  return word_of(params::kScheduleKinds, kind);
}
const char* name_of(OptimizerKind kind) {
  return word_of(params::kOptimizerKinds, kind);
}
const char* name_of(LearningRateKind kind) {
  return word_of(params::kLearningRateKinds, kind);
}
const char* name_of(DeviceKind kind) {
  return word_of(params::kDeviceKinds, kind);
}
const char* name_of(PrecisionKind kind) {
  return word_of(params::kPrecisionKinds, kind);
}
const char* name_of(ReductionKind kind) {
  return word_of(params::kReductionKinds, kind);
}
const char* name_of(WeightsKind kind) {
  return word_of(params::kWeightsKinds, kind);
}
const char* name_of(RecomputeKind kind) {
  return word_of(params::kRecomputeKinds, kind);
}

}  // namespace convoy
