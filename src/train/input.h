/// What training and evaluation tell the loader alike.
#pragma once

#include "convoy/data/loader.h"

#include "train/engine.h"

namespace convoy {

/// This rank's share: its micro-batches, images on the first stage, labels on the last. Steps are left to the caller.
LoaderSpec loader_spec(const Engine& engine, const Parameters& params);

/// What training does to an image, and what evaluation does: only brings it to its size.
AugmentationSpec training_augmentation(const Parameters& params);
AugmentationSpec evaluation_augmentation(const AugmentParams& params);

/// Throws RequestError where data.test is not what data.train trains for: other images, other classes.
void check_test_data(const io::DatasetInfo& train, const io::DatasetInfo& test, const AugmentParams& augment);

/// Augmentation with the data set's own mean and deviation, or none where `normalize` is false.
Augmenter make_augmenter(const io::DatasetInfo& info, const AugmentationSpec& spec, bool normalize);

}  // namespace convoy
