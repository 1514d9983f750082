/// PyramidNets by name: pyramidnet110-a270 is 110 layers deep and widens by 270 channels.
#pragma once

#include <optional>
#include <string>

#include "convoy/model/network.h"

namespace convoy {

struct PyramidnetSize {
  std::int64_t depth = 0;  ///< 6n + 2
  std::int64_t alpha = 0;  ///< channels from the first block's input to the last block's output, beside the stem's 16
};

/// Nothing where the name is no pyramidnetDEPTH-aALPHA at all; throws RequestError where DEPTH or ALPHA cannot be.
std::optional<PyramidnetSize> parse_pyramidnet(const std::string& name);

/// Han et al. 2017, section 4.1: three layers of n basic blocks; block k of 3n has round(16 + k alpha / 3n) channels.
/// The sides of images must be divisible by 4, else throws RequestError.
Network make_pyramidnet(const PyramidnetSize& size, const NetworkSpec& spec);

}  // namespace convoy
