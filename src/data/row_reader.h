/// Brings features from the loader's buffers to the device as they are: a row of values for each sample.
#pragma once

#include <functional>
#include <memory>

#include "convoy/base/tensor_spec.h"
#include "convoy/data/sample_path.h"
#include "convoy/ops/backend.h"

namespace convoy {

/// Makes the writer of one thread.
using MakeBufferWriter = std::function<std::unique_ptr<BufferWriter>()>;

/// Makes the reader of a feature with the shape and type `spec`. The writers fill its buffers with values of 32 bits:
/// integers, or float32 numbers, which the device rounds if the feature has another type.
std::unique_ptr<FeatureReader> make_row_reader(const TensorSpec& spec, ops::Backend& backend,
                                               MakeBufferWriter make_writer);

}  // namespace convoy
