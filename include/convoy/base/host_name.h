/// What messages call the machine that this process runs on.
#pragma once

#include <array>
#include <climits>
#include <string>

#include <unistd.h>

#include "convoy/base/text.h"

namespace convoy {

/// As the system has it: "node17"; as excerpt() shows it, if it holds other characters than names do.
inline std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  gethostname(name.data(), name.size() - 1);
  return excerpt(name.data());
}

}  // namespace convoy
