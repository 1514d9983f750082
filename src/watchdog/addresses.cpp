/// Which address others can reach is known from this host's routes.
#include "watchdog/addresses.h"

#include <algorithm>
#include <set>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "convoy/base/file_descriptor.h"

namespace convoy {

namespace {

struct FreeInterfaces {
  void operator()(ifaddrs* list) const { freeifaddrs(list); }
};

std::string text_of(const sockaddr* address) {
  char text[INET_ADDRSTRLEN] = {};
  inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(address)->sin_addr, text, sizeof text);
  return text;
}

// A datagram's socket is connected without a packet: the system only looks up its route.
std::string source_of_route_to(const std::string& other) {
  sockaddr_in to{}, from{};
  to.sin_family = AF_INET;
  to.sin_port = htons(9);
  socklen_t size = sizeof from;
  const FileDescriptor socket(::socket(AF_INET, SOCK_DGRAM, 0));
  const bool has_route = inet_pton(AF_INET, other.c_str(), &to.sin_addr) == 1 && socket.is_open() &&
                         ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0 &&
                         getsockname(socket.get(), reinterpret_cast<sockaddr*>(&from), &size) == 0;
  return has_route ? text_of(reinterpret_cast<const sockaddr*>(&from)) : "";
}

}  // namespace

std::vector<std::string> own_addresses() {
  ifaddrs* found = nullptr;
  getifaddrs(&found);
  const std::unique_ptr<ifaddrs, FreeInterfaces> interfaces(found);
  std::vector<std::string> addresses;
  for (const ifaddrs* i = found; i != nullptr; i = i->ifa_next) {
    const bool is_up = (i->ifa_flags & IFF_UP) != 0 && (i->ifa_flags & IFF_LOOPBACK) == 0;
    if (is_up && i->ifa_addr != nullptr && i->ifa_addr->sa_family == AF_INET) addresses.push_back(text_of(i->ifa_addr));
  }
  return addresses;
}

std::vector<std::string> addresses_towards(const std::vector<std::string>& others) {
  const std::vector<std::string> own = own_addresses();
  const auto is_own = [&](const std::string& address) { return std::ranges::find(own, address) != own.end(); };
  std::vector<std::string> sources;
  for (const std::string& other : std::set(others.begin(), others.end())) {
    if (is_own(other)) continue;
    const std::string source = source_of_route_to(other);
    if (is_own(source) && std::ranges::find(sources, source) == sources.end()) sources.push_back(source);
  }
  return sources;
}

AddressList numeric_address(const std::string& host, const std::string& port) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) return nullptr;
  return AddressList(found);
}

}  // namespace convoy
