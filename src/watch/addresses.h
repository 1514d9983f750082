/// Addresses of hosts and of the ports on which ranks listen.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <netdb.h>

namespace convoy {

/// The addresses of this host (IPv4), except those that only the host itself can reach.
std::vector<std::string> own_addresses();
/// The addresses of own_addresses() from which packets to any of `others` would leave, by this host's routes. Addresses
/// in `others` that are this host's, too, are left out.
std::vector<std::string> addresses_towards(const std::vector<std::string>& others);

struct FreeAddresses {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};
using AddressList = std::unique_ptr<addrinfo, FreeAddresses>;

/// The address that is written in numbers ("10.1.2.3", "40123"): no name is looked up. Empty if the texts are not such
/// numbers.
AddressList numeric_address(const std::string& host, const std::string& port);

}  // namespace convoy
