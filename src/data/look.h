/// What all images have in common, from their headers: before the first is stored, channels and size must be known.
#pragma once

#include <functional>

#include "convoy/comm/communicator.h"
#include "convoy/data/import.h"

#include "data/image_source.h"

namespace convoy {

/// H, W, C of what is stored; 0, 0, C where files are kept. Looks at the headers only where the parameters leave
/// something open; each rank at its share. Bad ones are passed over: they will be met again. Throws RequestError where
/// no image is good, or they differ in size and import.size = 0. All ranks of the group.
ImageShape agree_on_image(const ImportParams& params, ImageSource& source, const mpi::Communicator& world,
                          const std::function<void(const ImportProgress&)>& show);

}  // namespace convoy
