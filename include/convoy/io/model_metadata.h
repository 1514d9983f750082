/// What a checkpoint tells about its network, so that an evaluation needs neither parameters nor training data.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "convoy/base/features.h"
#include "convoy/base/input_shape.h"
#include "convoy/io/tokenization.h"
#include "convoy/params/model_parameters.h"

namespace convoy::io {

/// The preparation of images as a network's input.
struct ImageInput {
  ImageShape shape;             ///< of the input
  bool resizes = false;         ///< whether training resized images to that shape; otherwise they already had it
  std::int64_t short_side = 0;  ///< pixels of an image's short side before the centre is cut out
  bool orients = false;         ///< whether the images were turned as their Exif orientation says (import.orient)
  bool normalizes = true;       ///< (x - mean) / standard deviation, channel by channel
  std::vector<double> channel_mean, channel_stddev;  ///< (C), of the values / 255 of the training set

  bool operator==(const ImageInput&) const = default;
};

/// The normalisation as text: "mean 0.485, 0.456, 0.406, standard deviation 0.229, 0.224, 0.225"; or that values are
/// not normalised.
std::string describe_normalisation(const ImageInput& input);

/// The preparation of texts as a network's input.
struct TextInput {
  std::int64_t length = 0;    ///< number of tokens that the network reads per text
  Tokenization tokenization;  ///< of the training set
  ColumnNames columns = {};   ///< of the tables that the training set was imported from

  bool operator==(const TextInput&) const = default;
};

/// All that an evaluation must know about a network's training: its input and the names of its classes.
struct ModelMetadata {
  std::string name;                    ///< model.name
  TransformerParams transformer = {};  ///< only for networks that read texts
  std::variant<ImageInput, TextInput> input;
  std::vector<std::string> class_names;  ///< in the order of the logits

  /// The kind of its input: input_kinds::kText or kImages (convoy/base/features.h).
  const char* kind() const { return text() != nullptr ? input_kinds::kText : input_kinds::kImages; }
  InputShape shape() const;
  /// The preparation of images. Throws std::bad_variant_access for a network that reads texts.
  const ImageInput& image() const { return std::get<ImageInput>(input); }
  /// The preparation of texts; null for a network that reads images.
  const TextInput* text() const { return std::get_if<TextInput>(&input); }
};

}  // namespace convoy::io
