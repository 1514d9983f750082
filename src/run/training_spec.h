/// Derives the specification of a training step from parameters and data.
#pragma once

#include <vector>

#include "convoy/io/model_metadata.h"
#include "convoy/io/sample_store.h"

namespace convoy {

struct Parameters;
struct RunLayout;
struct RuntimeSpec;

/// Returns the specification of a training on `data` in that layout.
RuntimeSpec training_spec(const Parameters& params, const io::ModelMetadata& metadata, const io::DatasetInfo& data,
                          const RunLayout& layout, bool on_gpu);

/// Returns the weight of a sample of each class in the training loss; empty if train.class_weights is empty. The mean
/// over the data is 1, so that neither the loss nor the learning rate needs another scale. A mean over each batch's
/// weights, as in PyTorch, would depend on how samples are spread over micro-batches. Throws RequestError if the
/// weights do not match the data's classes.
std::vector<float> class_weights(const Parameters& params, const io::DatasetInfo& data);

}  // namespace convoy
