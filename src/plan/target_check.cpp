/// Names the key, the target and what is allowed for it.
#include "plan/target_check.h"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "convoy/base/error.h"

namespace convoy {

namespace {

const char* described(TargetKind kind) {
  return kind == TargetKind::kClass ? "a class" : kind == TargetKind::kLabels ? "several labels" : "numbers";
}

TargetKind target_of(LossKind loss) {
  if (loss == LossKind::kCrossEntropy) return TargetKind::kClass;
  return loss == LossKind::kBinaryCrossEntropy ? TargetKind::kLabels : TargetKind::kNumbers;
}

std::string losses_for(TargetKind kind) {
  std::vector<const char*> words = {"auto"};
  for (const Choice<LossKind>& choice : kChoices<LossKind>)
    if (target_of(choice.value) == kind) words.push_back(choice.word);
  return fmt::format("{}", fmt::join(words, ", "));
}

/// Refuses settings of a loss that the step computes, for a network that computes its losses itself.
void check_own_losses(const TrainParams& train, const NetworkSpec& network) {
  if (train.loss)
    refuse("train.loss = {} is not possible: {} computes its losses itself (objectives). Leave out train.loss.",
           name_of(*train.loss), network.name);
  if (train.label_smoothing > 0)
    refuse(
        "train.label_smoothing = {} is not possible: {} computes its losses itself. Leave out train.label_smoothing.",
        train.label_smoothing, network.name);
  if (train.class_weights != ClassWeights{})
    refuse("train.class_weights is not possible: {} computes its losses itself. Leave out train.class_weights.",
           network.name);
}

}  // namespace

LossKind usual_loss(TargetKind kind) {
  if (kind == TargetKind::kClass) return LossKind::kCrossEntropy;
  return kind == TargetKind::kLabels ? LossKind::kBinaryCrossEntropy : LossKind::kMse;
}

void check_loss(const TrainParams& train, const NetworkSpec& network, bool gives_logits) {
  if (!gives_logits) return check_own_losses(train, network);
  const TargetKind kind = network.target.kind;
  if (train.loss && target_of(*train.loss) != kind)
    refuse("train.loss = {} is for {}, but the target of the data is {}. Allowed: {}.", name_of(*train.loss),
           described(target_of(*train.loss)), described(kind), losses_for(kind));
  if (train.label_smoothing > 0 && kind != TargetKind::kClass)
    refuse(
        "train.label_smoothing = {} is for a class, but the target of the data is {}. Leave out "
        "train.label_smoothing.",
        train.label_smoothing, described(kind));
}

}  // namespace convoy
