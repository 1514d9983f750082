/// A stranger gets no memory except for its hello, and nothing waits for it.
#include "watchdog/incoming_links.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <netdb.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"

#include "watchdog/addresses.h"

namespace convoy {

namespace {

using std::chrono::milliseconds;

constexpr int kAcceptsAtOnce = 64;
constexpr double kAcceptPauseSeconds = 0.01;  // so that who connects without end costs a processor little

std::size_t index(std::int64_t rank) {
  return static_cast<std::size_t>(rank);
}

// Many systems let a process have 1,024 unless it asks for more.
void allow_open_files(rlim_t more) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  limit.rlim_cur = std::min(limit.rlim_max, limit.rlim_cur + more);
  setrlimit(RLIMIT_NOFILE, &limit);
}

FileDescriptor listen_on(const std::string& host) {
  const AddressList address = numeric_address(host, "0");
  if (!address) fail("no port to listen on for the other ranks: '{}' is not an address", host);
  FileDescriptor listener(::socket(address->ai_family, SOCK_STREAM, 0));
  if (!listener.is_open() || ::bind(listener.get(), address->ai_addr, address->ai_addrlen) != 0 ||
      ::listen(listener.get(), SOMAXCONN) != 0)
    fail("no port to listen on for the other ranks on {}: {}", host, std::strerror(errno));
  make_non_blocking(listener.get());
  return listener;
}

std::string numeric_name(int listener) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  char host[NI_MAXHOST] = {}, port[NI_MAXSERV] = {};
  const auto* const address = reinterpret_cast<const sockaddr*>(&bound);
  const bool is_known =
      getsockname(listener, reinterpret_cast<sockaddr*>(&bound), &size) == 0 &&
      getnameinfo(address, size, host, sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) == 0;
  return is_known ? fmt::format("{} {}", host, port) : "";
}

}  // namespace

IncomingLinks::IncomingLinks(std::int64_t own, std::int64_t num_ranks, const Secret& secret,
                             const std::vector<std::string>& hosts)
    : own_(own), ranks_(index(num_ranks)) {
  allow_open_files(2 * static_cast<rlim_t>(num_ranks) + kMoreStrangers);
  for (std::int64_t r = 0; r < num_ranks; ++r) {
    const auto rank = static_cast<std::int32_t>(r);
    dialogues_.emplace_back(secret, static_cast<std::int32_t>(own), rank, /*opener=*/rank);
  }
  for (const std::string& host : hosts) listeners_.push_back(listen_on(host));
}

std::vector<std::string> IncomingLinks::addresses() const {
  std::vector<std::string> addresses;
  for (const FileDescriptor& listener : listeners_) addresses.push_back(numeric_name(listener.get()));
  return addresses;
}

void IncomingLinks::accept_some() {
  if (now_seconds() < next_accept_seconds_) return;
  bool is_any = false;
  for (const FileDescriptor& listener : listeners_) {
    for (int i = 0; i < kAcceptsAtOnce; ++i) {
      FileDescriptor socket(::accept(listener.get(), nullptr, nullptr));
      is_any = is_any || socket.is_open() || (errno != EAGAIN && errno != EWOULDBLOCK);
      if (!socket.is_open()) break;
      make_non_blocking(socket.get());
      Stranger& stranger = strangers_.emplace_back();
      stranger.socket = std::move(socket);
      stranger.since = now_seconds();
      if (!listen_to(stranger)) strangers_.pop_back();
      if (strangers_.size() > ranks_.size() + kMoreStrangers) strangers_.pop_front();
    }
  }
  if (is_any) next_accept_seconds_ = now_seconds() + kAcceptPauseSeconds;
}

bool IncomingLinks::listen_to(Stranger& stranger) {
  const auto size = receive_some(stranger.socket.get(), std::span(stranger.bytes).subspan(stranger.num_bytes));
  if (!size) return false;
  stranger.num_bytes += *size;
  if (stranger.num_bytes < stranger.bytes.size()) return now_seconds() - stranger.since < kStrangerSeconds;
  take_hello(stranger);
  return false;
}

// After its hello it is a rank; a connection that begins with anything else is closed.
void IncomingLinks::take_hello(Stranger& stranger) {
  SealedPacket sealed;
  std::memcpy(&sealed, stranger.bytes.data(), sizeof sealed);
  if (sealed.from < 0 || sealed.from >= std::ssize(ranks_) || sealed.from == own_) return;
  Dialogue& dialogue = dialogues_[index(sealed.from)];
  const auto hello = dialogue.open(sealed);
  if (!hello || hello->kind != Packet::Kind::kHello) return;
  PacketSocket& rank = ranks_[index(sealed.from)];
  rank = PacketSocket(std::move(stranger.socket), dialogue);
  rank.send({.kind = Packet::Kind::kHeard});
  hellos_.push_back({sealed.from, *hello});
}

std::vector<Received> IncomingLinks::poll(milliseconds timeout, std::span<const pollfd> others) {
  const double pause = next_accept_seconds_ - now_seconds();
  std::vector<pollfd> states(others.begin(), others.end());
  const auto await = [&](int socket) { states.push_back({.fd = socket, .events = POLLIN, .revents = 0}); };
  if (pause <= 0)
    for (const FileDescriptor& listener : listeners_) await(listener.get());
  else
    timeout = std::min(timeout, milliseconds(1 + static_cast<std::int64_t>(1000 * pause)));
  for (const Stranger& stranger : strangers_) await(stranger.socket.get());
  const std::size_t first = states.size();
  for (const PacketSocket& rank : ranks_) await(rank.is_open() ? rank.descriptor() : -1);  // -1 is left out
  ::poll(states.data(), states.size(), static_cast<int>(timeout.count()));
  std::vector<Received> received;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (states[first + rank].revents == 0) continue;
    for (const Packet& packet : ranks_[rank].receive()) received.push_back({static_cast<std::int64_t>(rank), packet});
  }
  std::erase_if(strangers_, [this](Stranger& stranger) { return !listen_to(stranger); });
  accept_some();
  for (const Received& hello : std::exchange(hellos_, {})) received.push_back(hello);
  return received;
}

}  // namespace convoy
