/// Makes the path from a data set to a network's input, for any kind of input.
#pragma once

#include <memory>

#include "convoy/base/data_type.h"
#include "convoy/data/sample_path.h"
#include "convoy/io/model_metadata.h"
#include "convoy/io/sample_store.h"

namespace convoy {

struct Parameters;

enum class SampleView {
  kTraining,    ///< changed at random, as the parameters ask for
  kEvaluation,  ///< only brought to the network's input
  kMirrored,    ///< brought to the network's input and mirrored: the second view of evaluate.mirror
};

struct SamplePathSpec {
  const io::SampleStore& samples;     ///< outlives the path
  const io::ModelMetadata& metadata;  ///< metadata of the network
  const Parameters& params;
  SampleView view = SampleView::kTraining;
  DataType type = DataType::kFloat32;  ///< type of the network's activations
};

/// Makes the path. Throws RequestError if the parameters ask for what these samples do not have.
std::unique_ptr<SamplePath> make_sample_path(const SamplePathSpec& spec);

}  // namespace convoy
