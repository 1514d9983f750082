/// The class token: a word that represents the whole image.
#pragma once

#include <string>

#include "model/cell_builder.h"

namespace convoy {

/// The image's patches as a sequence, after a trained word: y[n,0] = token, y[n,1 + h W + w] = x[n,h,w].
/// x (N,H,W,C)   NAME is the token (1,1,C), which starts at 0   y (N,1 + H W,1,C)
/// Dosovitskiy et al. 2020, "An image is worth 16x16 words", section 3.1.
Value class_token(const std::string& name, const Value& x);

}  // namespace convoy
