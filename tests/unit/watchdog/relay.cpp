/// Forwards bytes in a thread of its own.
#include "relay.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <sstream>
#include <thread>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"

namespace convoy {

namespace {

sockaddr_in here(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

// False where `from` has ended.
bool pass_on(int from, int to, std::vector<std::byte>* heard) {
  std::array<std::byte, 4096> bytes;
  const ssize_t size = ::recv(from, bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (size == 0 || (size < 0 && errno != EAGAIN)) return false;
  if (size < 0) return true;
  if (heard != nullptr) heard->insert(heard->end(), bytes.begin(), bytes.begin() + size);
  return ::send(to, bytes.data(), static_cast<std::size_t>(size), MSG_NOSIGNAL) == size;
}

}  // namespace

FileDescriptor connect_raw(const std::string& address) {
  std::istringstream words(address);
  std::string host;
  int port = 0;
  words >> host >> port;
  const sockaddr_in to = here(port);
  FileDescriptor socket(::socket(AF_INET, SOCK_STREAM, 0));
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) return {};
  return socket;
}

bool is_closed_within(int socket, double seconds) {
  std::array<std::byte, 4096> bytes;
  const double end = now_seconds() + seconds;
  while (now_seconds() < end) {
    pollfd state{.fd = socket, .events = POLLIN, .revents = 0};
    if (::poll(&state, 1, 20) == 1 && ::recv(socket, bytes.data(), bytes.size(), 0) <= 0) return true;
  }
  return false;
}

Relay::Relay(std::string target) : target_(std::move(target)), listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
  sockaddr_in bound = here(0);
  socklen_t size = sizeof bound;
  auto* const name = reinterpret_cast<sockaddr*>(&bound);
  if (::bind(listener_.get(), name, size) != 0 || ::listen(listener_.get(), SOMAXCONN) != 0 ||
      ::getsockname(listener_.get(), name, &size) != 0)
    fail("the relay has no port: {}", std::strerror(errno));
  address_ = "127.0.0.1 " + std::to_string(ntohs(bound.sin_port));
}

void Relay::start() {
  thread_ = std::thread([this] { forward(); });
}

Relay::~Relay() {
  ends_ = true;
  thread_.join();
}

std::vector<std::byte> Relay::heard() {
  const std::lock_guard lock(mutex_);
  return heard_;
}

void Relay::say(std::span<const std::byte> bytes) {
  const std::lock_guard lock(mutex_);
  ::send(pairs_.back().root.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

void Relay::cut() {
  const std::lock_guard lock(mutex_);
  pairs_.clear();
}

void Relay::forward() {
  while (!ends_) {
    pollfd state{.fd = listener_.get(), .events = POLLIN, .revents = 0};
    const bool is_new = ::poll(&state, 1, 5) == 1;
    const std::lock_guard lock(mutex_);
    if (is_new) pairs_.push_back({FileDescriptor(::accept(listener_.get(), nullptr, nullptr)), connect_raw(target_)});
    std::erase_if(pairs_, [&](const Pair& pair) {
      return !pass_on(pair.rank.get(), pair.root.get(), &heard_) || !pass_on(pair.root.get(), pair.rank.get(), nullptr);
    });
  }
}

}  // namespace convoy
