/// Group normalisation: the part of LayerNormOp whose statistics belong to several pixels or to groups of columns.
#pragma once

#include <memory>

#include "convoy/ops/layer_norm.h"

#include "ops/cpu/resources.h"

namespace convoy::ops::cpu {

/// Creates the operation for any numbers of pixels and groups. The spec has been checked; it is centred.
std::unique_ptr<LayerNormOp> make_group_norm(const LayerNormSpec& spec, const Resources& resources);

}  // namespace convoy::ops::cpu
