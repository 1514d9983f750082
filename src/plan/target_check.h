/// Checks that the loss and its settings suit what a network has to answer.
#pragma once

#include "convoy/base/target.h"
#include "convoy/model/network.h"
#include "convoy/params/run_parameters.h"

namespace convoy {

/// Returns the loss of train.loss = auto: cross-entropy of a class, binary cross-entropy of several labels, mean
/// squared error of numbers.
LossKind usual_loss(TargetKind kind);

/// Throws RequestError if train.loss, train.label_smoothing or train.class_weights does not suit the network's target.
/// `gives_logits`: as StepPlan::gives_logits().
void check_loss(const TrainParams& train, const NetworkSpec& network, bool gives_logits);

}  // namespace convoy
