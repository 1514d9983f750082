/// Names of what a sample has. Cells, the loss and data sets meet in them.
#pragma once

namespace convoy::features {

inline constexpr const char* kImage = "image";  ///< (N,H,W,C), of the network's type
inline constexpr const char* kLabel = "label";  ///< (N) std::int32_t; kNoLabel past the data's end
inline constexpr const char* kMixedLabel =
    "mixed_label";  ///< (N) ops::SecondLabel: what augment.mixup mixes a label with

}  // namespace convoy::features
