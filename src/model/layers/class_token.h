/// The class token of a Vision Transformer: a trained vector before the patches, whose output represents the image.
#pragma once

#include <string>

#include "model/cell_builder.h"

namespace convoy {

/// Turns an image's patches into a sequence that begins with the class token:
///   y[n,0] = token, y[n,1 + h W + w] = x[n,h,w]    x (N,H,W,C)   y (N,1 + H W,1,C)
/// NAME is the token (1,1,C), a parameter with the initial value 0.
/// Dosovitskiy et al. 2020, "An image is worth 16x16 words", section 3.1.
Value class_token(const std::string& name, const Value& x);

}  // namespace convoy
