/// The texts of input/networks/*.lua and of network_prelude.lua, as the build compiles them in
/// (src/model/CMakeLists.txt).
#pragma once

#include <span>
#include <string_view>

namespace convoy {

struct NetworkText {
  std::string_view name;  ///< name of the file without ".lua": "resnet"
  std::string_view text;
};

std::span<const NetworkText> network_texts();
std::string_view network_prelude_text();

}  // namespace convoy
