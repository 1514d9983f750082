/// Refuses keys that change images, for samples that are none.
#pragma once

#include "convoy/data/make_sample_path.h"
#include "convoy/params/data_parameters.h"

namespace convoy {

/// Throws RequestError if a key of `asked` differs from its default, or if `view` mirrors samples. The caller has set
/// those keys to their defaults that samples like those of `data` take.
void refuse_keys_of_images(const AugmentParams& asked, SampleView view, const io::DatasetInfo& data);

}  // namespace convoy
