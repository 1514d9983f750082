/// Derives the specification of a training step from parameters and data.
#pragma once

#include <vector>

#include "convoy/io/model_metadata.h"
#include "convoy/io/sample_store.h"

namespace convoy {

struct Parameters;
struct RunLayout;
struct RuntimeSpec;

/// Returns the specification of a training on `data` in this layout. `on_gpu` says that ranks compute on GPUs.
RuntimeSpec training_spec(const Parameters& params, const io::ModelMetadata& metadata, const io::DatasetInfo& data,
                          const RunLayout& layout, bool on_gpu);

/// Returns the weight of a sample of each class in the training loss (train.class_weights); empty if all weigh the
/// same. The weights are scaled so that their mean over the samples of the data is 1; so the loss and the learning rate
/// keep their scale. (PyTorch divides by the sum of the weights in a batch instead, which would depend on the
/// micro-batches.) Throws RequestError if the weights do not match the data's classes.
std::vector<float> class_weights(const Parameters& params, const io::DatasetInfo& data);

}  // namespace convoy
