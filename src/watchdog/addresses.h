/// Network addresses of this host and of the ports on which ranks listen.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <netdb.h>

namespace convoy {

/// The IPv4 addresses of this host's network interfaces that are up, such as "10.1.2.3", except loopback addresses.
std::vector<std::string> own_addresses();
/// Returns the addresses among own_addresses() from which this host would send packets to any of the addresses
/// `others`, by its routing table. Addresses in `others` that are this host's own are ignored.
std::vector<std::string> addresses_towards(const std::vector<std::string>& others);

/// The deleter of AddressList.
struct FreeAddresses {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};
using AddressList = std::unique_ptr<addrinfo, FreeAddresses>;

/// Returns the address of a host and port that are given as numbers ("10.1.2.3", "40123"); no name is looked up. Null
/// if the texts are not such numbers.
AddressList numeric_address(const std::string& host, const std::string& port);

}  // namespace convoy
