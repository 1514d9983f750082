/// What parameters and data make of a training step.
#pragma once

#include <vector>

#include "convoy/io/checkpoint.h"
#include "convoy/io/sample_store.h"
#include "convoy/params/parameters.h"

#include "calibrate/run_layout.h"
#include "plan/step_plan.h"

namespace convoy {

/// Of a training on `data` in that layout.
RuntimeSpec training_spec(const Parameters& params, const io::ModelMetadata& metadata, const io::DatasetInfo& data,
                          const RunLayout& layout, bool on_gpu);

/// How much a sample of each class counts in the training loss, 1 on average over the data, so that neither the loss
/// nor the learning rate needs another scale; empty where train.class_weights is. A mean over each batch's weights, as
/// PyTorch has it, would depend on how samples are spread over micro-batches. Throws RequestError where the weights are
/// not those of the data's classes.
std::vector<float> class_weights(const Parameters& params, const io::DatasetInfo& data);

}  // namespace convoy
