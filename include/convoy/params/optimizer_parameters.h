/// The sections that describe how gradients change the weights: optimizer and lr.
#pragma once

#include <string>
#include <vector>

#include "convoy/params/choices.h"

namespace convoy {

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
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;  ///< constants of adam, adamw and lamb
  double trust_coefficient = 0.001;                   ///< factor of the rates of lars
  std::vector<RateGroup> groups;  ///< a parameter belongs to the first group whose pattern fits its name
  bool operator==(const OptimizerParams&) const = default;
};

struct LearningRateParams {
  LearningRateKind schedule = LearningRateKind::kConstant;
  double warmup_epochs = 0;         ///< epochs in which the rate rises linearly from 0 to optimizer.lr
  std::vector<double> step_epochs;  ///< the period of `step` (one value), or the milestones of `multistep`, ascending
  double gamma = 0.1;               ///< factor of the rate at each step of `step` and `multistep`
  double power = 1;                 ///< exponent of `polynomial`
  bool operator==(const LearningRateParams&) const = default;
};

}  // namespace convoy
