/// The name of the machine that this process runs on, for messages.
#pragma once

#include <array>
#include <climits>
#include <string>

#include <unistd.h>

#include "convoy/base/text.h"

namespace convoy {

/// Returns the system's host name, "node17". Characters that no host name should hold are escaped by excerpt().
inline std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  gethostname(name.data(), name.size() - 1);
  return excerpt(name.data());
}

}  // namespace convoy
