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

}  // namespace convoy
