/// The learning rate of each step.
#pragma once

#include <cstdint>

#include "convoy/params/optimizer_parameters.h"

namespace convoy {

struct Parameters;

/// The arguments of learning_rate().
struct LearningRateSpec {
  LearningRateParams params;
  double base = 0.1;  ///< optimizer.lr: the learning rate after the warm-up, and the largest one
  std::int64_t steps_per_epoch = 1;
  /// Train.epochs: the schedules cosine, polynomial and onecycle end after this number of epochs, even if
  /// train.max_steps ends the training before.
  double epochs = 1;
};

/// Returns the specification of the learning rate for a training with these parameters.
LearningRateSpec learning_rate_spec(const Parameters& params, std::int64_t steps_per_epoch);

/// Whether the learning rates of this schedule depend on train.epochs.
bool stretches_over_run(LearningRateKind schedule);

/// Returns the learning rate of training step `step`, counted from 0.
/// With t = step / steps_per_epoch epochs, T = epochs, w = warmup_epochs:
///   warm-up     base * (step + 1) / (w * steps_per_epoch) while t < w   (not for onecycle)
///   constant    base
///   step        base * gamma^floor(t / step_epochs)
///   multistep   base * gamma^(number of milestones in step_epochs that are passed)
///   cosine      base * (1 + cos(pi (t - w) / (T - w))) / 2              (Loshchilov & Hutter 2017)
///   polynomial  base * (1 - (t - w) / (T - w))^power
///   inverse_sqrt  base * sqrt(w * steps_per_epoch / (step + 1)): base when the warm-up ends (Vaswani et al. 2017,
///               section 5.3, where base is 1 / sqrt(width * warm-up steps))
///   onecycle    cosine from base / 25 up to base over w epochs (0.3 T if w = 0), then cosine down to base / 250,000
///               (Smith & Topin 2018; the defaults of torch.optim.lr_scheduler.OneCycleLR)
double learning_rate(const LearningRateSpec& spec, std::int64_t step);

}  // namespace convoy
