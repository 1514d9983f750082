/// What a checkpoint tells about its network, so that an evaluation needs neither parameters nor training data.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "convoy/base/features.h"
#include "convoy/base/input_shape.h"
#include "convoy/base/target.h"
#include "convoy/io/sample_store.h"
#include "convoy/io/tokenization.h"

namespace convoy::io {

/// The preparation that turns images into a network's input.
struct ImageInput {
  ImageShape shape;      ///< height, width and channels of the input
  bool resizes = false;  ///< whether training resized images to this shape; false: the images already had it
  /// Length to which an image's short side is resized before the centre is cut out, in pixels.
  std::int64_t short_side = 0;
  bool orients = false;    ///< whether the images were rotated as their Exif orientation says (import.orient)
  bool normalizes = true;  ///< whether values are normalised: (x - mean) / standard deviation, channel by channel
  /// (C) mean and standard deviation of the training set's pixel values / 255.
  std::vector<double> channel_mean, channel_stddev;

  bool operator==(const ImageInput&) const = default;
};

/// Returns the normalisation as text: "mean 0.485, 0.456, 0.406, standard deviation 0.229, 0.224, 0.225", or that
/// values are not normalised.
std::string describe_normalisation(const ImageInput& input);

/// The preparation that turns texts into a network's input.
struct TextInput {
  std::int64_t length = 0;    ///< number of tokens that the network reads per text
  Tokenization tokenization;  ///< tokenization of the training set
  ColumnNames columns = {};   ///< columns of the tables from which the training set was imported

  bool operator==(const TextInput&) const = default;
};

/// The preparation that turns arrays into a network's input.
struct ArraysInput {
  std::vector<ArrayInfo> inputs;  ///< arrays of the training set, with their statistics
  bool normalizes = true;  ///< whether values are normalised: (x - mean) / standard deviation, channel by channel

  bool operator==(const ArraysInput&) const = default;
};

/// The information that an evaluation needs about a trained network: its input, its target and the names of its
/// outputs.
struct ModelMetadata {
  std::string name;               ///< name of the network (model.name)
  std::string network = {};       ///< list of its layers (model/network_list.h); empty in older checkpoints
  std::string network_file = {};  ///< text of the file that built the list
  /// Parameters of the built-in network `name`, by name; only from older checkpoints, whose `network` is empty.
  std::map<std::string, std::string> settings = {};
  std::variant<ImageInput, TextInput, ArraysInput> input;
  std::vector<std::string> class_names;  ///< names of the classes, labels or numbers, in the order of the outputs
  Target target = {};                    ///< what the outputs mean; always a class if the network reads no arrays

  /// The kind of the network's input (input_kinds in convoy/base/features.h).
  const char* kind() const {
    return reads_images() ? input_kinds::kImages : text() != nullptr ? input_kinds::kText : input_kinds::kArrays;
  }
  InputShape shape() const;
  bool reads_images() const { return std::holds_alternative<ImageInput>(input); }
  /// The preparation of images. Throws Error for a network that reads no images.
  const ImageInput& image() const;
  /// The preparation of texts; null for a network that reads no texts.
  const TextInput* text() const { return std::get_if<TextInput>(&input); }
  /// The preparation of arrays; null for a network that reads no arrays.
  const ArraysInput* arrays() const { return std::get_if<ArraysInput>(&input); }
};

}  // namespace convoy::io
