/// The shape of a network's input, and its normalisation as text.
#include "convoy/io/model_metadata.h"

#include <fmt/format.h>

#include "convoy/base/error.h"

namespace convoy::io {

InputShape ModelMetadata::shape() const {
  if (text() != nullptr) return TextShape{.length = text()->length, .vocabulary = text()->tokenization.vocabulary};
  if (arrays() == nullptr) return image().shape;
  ArrayShapes shapes;
  for (const ArrayInfo& array : arrays()->inputs) shapes.inputs.push_back({array.name, array_shape(array.dims)});
  return shapes;
}

const ImageInput& ModelMetadata::image() const {
  if (!reads_images()) refuse("the network {} reads {}, and not images", name, kind());
  return std::get<ImageInput>(input);
}

std::string describe_normalisation(const ImageInput& input) {
  if (!input.normalizes) return "values between 0 and 1, not normalised";
  return fmt::format("mean {:.4g}, standard deviation {:.4g}", fmt::join(input.channel_mean, ", "),
                     fmt::join(input.channel_stddev, ", "));
}

}  // namespace convoy::io
