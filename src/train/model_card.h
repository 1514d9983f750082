/// What a checkpoint tells an evaluation: how images become the network's input, and what its logits mean.
#pragma once

#include <string>

#include "convoy/data/loader.h"
#include "convoy/io/checkpoint.h"
#include "convoy/io/dataset.h"
#include "convoy/params/parameters.h"

namespace convoy {

/// Of the network that `params` trains on such data. Refuses images of different sizes that are not brought to one.
io::ModelCard model_card(const Parameters& params, const io::DatasetInfo& train);

/// The same where an evaluation asks for another augment.size or augment.eval_resize; 0 keeps the card's.
io::ModelCard with_size(io::ModelCard card, const AugmentParams& params);

/// Throws RequestError where these images cannot be what the network sees, whatever their size: they have other
/// channels, or would have to be resized to what is no square. `key` names them, `owner` whose card it is:
/// "data.train",
/// "'runs/a/checkpoints/best.h5'".
void check_images(const io::ModelCard& card, const io::DatasetInfo& data, const std::string& key,
                  const std::string& owner);
/// "images: 256x256x3, resized to 224x224x3\n"; empty for pixels that have the network's size, and for files.
std::string describe_resizing(const io::ModelCard& card, const io::DatasetInfo& data);
/// Throws RequestError where their classes are not those that the logits stand for.
void check_classes(const io::ModelCard& card, const io::DatasetInfo& data, const std::string& key,
                   const std::string& owner);

/// Only what brings stored images to the network's input.
AugmentationSpec evaluation_augmentation(const io::ModelCard& card, const io::DatasetInfo& data);
/// The same, changed as training changes images. Throws RequestError where a border is wider than they reflect.
AugmentationSpec training_augmentation(const io::ModelCard& card, const io::DatasetInfo& data,
                                       const Parameters& params);
/// Of data like `data`, normalised as the card says.
Augmenter make_augmenter(const io::ModelCard& card, const io::DatasetInfo& data, const AugmentationSpec& spec);

}  // namespace convoy
