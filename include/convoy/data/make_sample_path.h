/// Makes the object that turns samples of a data set into a network's input, for images, texts and arrays.
#pragma once

#include <memory>

#include "convoy/base/data_type.h"
#include "convoy/data/sample_path.h"
#include "convoy/io/model_metadata.h"
#include "convoy/io/sample_store.h"

namespace convoy {

struct Parameters;

enum class SampleView {
  kTraining,    ///< augmented at random, as the parameters ask for
  kEvaluation,  ///< only resized, cropped and normalised to the network's input
  kMirrored,    ///< as kEvaluation, and mirrored: the second view of evaluate.mirror
};

struct SamplePathSpec {
  const io::SampleStore& samples;     ///< source of the samples; it must outlive the path
  const io::ModelMetadata& metadata;  ///< describes the network's input, and the classes
  const Parameters& params;
  SampleView view = SampleView::kTraining;
  DataType type = DataType::kFloat32;  ///< storage type of the network's activations
};

/// Makes the sample path for images, texts or arrays. Throws RequestError if the parameters ask for something that
/// these samples do not have.
std::unique_ptr<SamplePath> make_sample_path(const SamplePathSpec& spec);

}  // namespace convoy
