/// Refuses keys that samples of this kind do not take.
#pragma once

#include <string>

#include "convoy/data/make_sample_path.h"
#include "convoy/params/data_parameters.h"

namespace convoy {

/// Throws RequestError if a key of `asked` differs from its default. The caller has set those keys to their defaults
/// that samples like those of `data` take.
void refuse_augmentation(const AugmentParams& asked, const io::DatasetInfo& data);
/// Throws RequestError if a key of imports is given that is for another kind of samples than `kind`, as
/// convoy/base/features.h names it.
void refuse_import_keys(const ImportParams& given, const std::string& kind);
/// Throws RequestError if `view` mirrors samples.
void refuse_mirrors(SampleView view, const io::DatasetInfo& data);

}  // namespace convoy
