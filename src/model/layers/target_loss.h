/// The losses of outputs that are compared with targets, for networks that compute their losses themselves.
#pragma once

#include "convoy/ops/target_loss.h"

#include "model/cell_builder.h"

namespace convoy {

/// Adds y, the ops::SampleScore of each sample (mean error over its known targets, number of labels that are right,
/// number of known targets).
///   outputs, targets (N,H,W,K) float32, targets without gradient   y (N,1,1,3) float32
/// `loss` says which error, and what belongs to the K outputs; its extents and its type are not read.
Value target_loss(const Value& outputs, const Value& targets, ops::TargetLossSpec loss);

}  // namespace convoy
