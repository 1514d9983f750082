/// Where ranks on other hosts can reach this one.
#pragma once

#include <string>
#include <vector>

namespace convoy {

/// The addresses of this host (IPv4), but for those that only it can reach itself.
std::vector<std::string> own_addresses();
/// Those of them from which packets to any of `others` would leave, by this host's routes. What is an address of this
/// host, too, is no other's.
std::vector<std::string> addresses_towards(const std::vector<std::string>& others);

}  // namespace convoy
