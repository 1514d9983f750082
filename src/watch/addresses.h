/// Addresses of hosts and of the ports on which ranks listen.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <netdb.h>

namespace convoy {

/// The addresses of this host (IPv4), but for those that only it can reach itself.
std::vector<std::string> own_addresses();
/// Those of them from which packets to any of `others` would leave, by this host's routes. What is an address of this
/// host, too, is no other's.
std::vector<std::string> addresses_towards(const std::vector<std::string>& others);

struct FreeAddresses {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};
using AddressList = std::unique_ptr<addrinfo, FreeAddresses>;

/// The address that is written in numbers ("10.1.2.3", "40123"): no name is looked up. Empty if the texts are not such
/// numbers.
AddressList numeric_address(const std::string& host, const std::string& port);

}  // namespace convoy
