/// What messages call the machine that this process runs on.
#pragma once

#include <array>
#include <climits>
#include <string>

#include <unistd.h>

namespace convoy {

/// As the system has it: "node17".
inline std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

}  // namespace convoy
