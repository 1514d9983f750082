/// The shape of a network's input, and its normalisation as text.
#include "convoy/io/model_metadata.h"

#include <fmt/format.h>

namespace convoy::io {

InputShape ModelMetadata::shape() const {
  if (text() != nullptr) return TextShape{.length = text()->length, .vocabulary = text()->tokenization.vocabulary};
  return image().shape;
}

std::string describe_normalisation(const ImageInput& input) {
  if (!input.normalizes) return "values between 0 and 1, not normalised";
  return fmt::format("mean {:.4g}, standard deviation {:.4g}", fmt::join(input.channel_mean, ", "),
                     fmt::join(input.channel_stddev, ", "));
}

}  // namespace convoy::io
