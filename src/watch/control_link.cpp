/// Strangers get no memory but their hello's, and no time in which anybody waits for them.
#include "watch/control_link.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <sstream>
#include <thread>
#include <utility>

#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"

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

bool waits_for(int socket, short event, milliseconds patience) {
  pollfd state{.fd = socket, .events = event, .revents = 0};
  return ::poll(&state, 1, static_cast<int>(std::max<std::int64_t>(0, patience.count()))) == 1;
}

bool waits_until_connected(int socket, milliseconds patience) {
  if (!waits_for(socket, POLLOUT, patience)) return false;
  int error = 0;
  socklen_t size = sizeof error;
  return getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
}

struct FreeAddresses {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};
using AddressList = std::unique_ptr<addrinfo, FreeAddresses>;

AddressList numeric_address(const std::string& host, const std::string& port) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) return nullptr;
  return AddressList(found);
}

FileDescriptor listen_on(const std::string& host) {
  const AddressList address = numeric_address(host, "0");
  if (!address) fail("no port to listen on for the other ranks: '{}' is no address", host);
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

// --- Rank 0 --------------------------------------------------------------------------------------------------

RootLink::RootLink(std::int64_t num_ranks, const Secret& secret, const std::vector<std::string>& hosts)
    : ranks_(index(num_ranks)) {
  allow_open_files(2 * static_cast<rlim_t>(num_ranks) + kMoreStrangers);
  for (std::int64_t rank = 0; rank < num_ranks; ++rank)
    dialogues_.emplace_back(secret, 0, static_cast<std::int32_t>(rank));
  for (const std::string& host : hosts) listeners_.push_back(listen_on(host));
}

std::vector<std::string> RootLink::addresses() const {
  std::vector<std::string> addresses;
  for (const FileDescriptor& listener : listeners_) addresses.push_back(numeric_name(listener.get()));
  return addresses;
}

void RootLink::accept_some() {
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

bool RootLink::listen_to(Stranger& stranger) {
  const auto size = receive_some(stranger.socket.get(), std::span(stranger.bytes).subspan(stranger.num_bytes));
  if (!size) return false;
  stranger.num_bytes += *size;
  if (stranger.num_bytes < stranger.bytes.size()) return now_seconds() - stranger.since < kStrangerSeconds;
  take_hello(stranger);
  return false;
}

// From its hello on it is a rank; whoever says anything else is left out.
void RootLink::take_hello(Stranger& stranger) {
  SealedPacket sealed;
  std::memcpy(&sealed, stranger.bytes.data(), sizeof sealed);
  if (sealed.from <= 0 || sealed.from >= std::ssize(ranks_)) return;
  Dialogue& dialogue = dialogues_[index(sealed.from)];
  const auto hello = dialogue.open(sealed);
  if (!hello || hello->kind != Packet::Kind::kHello) return;
  PacketSocket& rank = ranks_[index(sealed.from)];
  rank = PacketSocket(std::move(stranger.socket), dialogue);
  rank.send({.kind = Packet::Kind::kHeard});
  hellos_.push_back(*hello);
}

std::vector<Packet> RootLink::poll(std::chrono::milliseconds timeout) {
  const double pause = next_accept_seconds_ - now_seconds();
  std::vector<pollfd> states;
  const auto await = [&](int socket) { states.push_back({.fd = socket, .events = POLLIN, .revents = 0}); };
  if (pause <= 0)
    for (const FileDescriptor& listener : listeners_) await(listener.get());
  else
    timeout = std::min(timeout, milliseconds(1 + static_cast<std::int64_t>(1000 * pause)));
  for (const PacketSocket& rank : ranks_)
    if (rank.is_open()) await(rank.descriptor());
  for (const Stranger& stranger : strangers_) await(stranger.socket.get());
  ::poll(states.data(), states.size(), static_cast<int>(timeout.count()));
  std::erase_if(strangers_, [this](Stranger& stranger) { return !listen_to(stranger); });
  accept_some();
  std::vector<Packet> packets = std::exchange(hellos_, {});
  for (PacketSocket& rank : ranks_) {
    const std::vector<Packet> more = rank.receive();
    packets.insert(packets.end(), more.begin(), more.end());
  }
  return packets;
}

void RootLink::send_to_all(const Packet& packet) {
  for (PacketSocket& rank : ranks_) rank.send(packet);
}

// --- The others ----------------------------------------------------------------------------------------------

RankLink::RankLink(std::int64_t rank, const Secret& secret, std::vector<std::string> addresses)
    : dialogue_(secret, static_cast<std::int32_t>(rank), 0), addresses_(std::move(addresses)) {}

// Only rank 0 of this job can answer, whatever listens at the same address elsewhere.
bool RankLink::connect_to(const std::string& address, const Packet& hello, milliseconds patience) {
  std::istringstream words(address);
  std::string host, port;
  words >> host >> port;
  const AddressList found = numeric_address(host, port);
  FileDescriptor socket(found ? ::socket(found->ai_family, SOCK_STREAM, 0) : -1);
  if (!socket.is_open()) return false;
  make_non_blocking(socket.get());
  const double end = now_seconds() + 0.001 * static_cast<double>(patience.count());
  const auto left = [end] { return milliseconds(static_cast<std::int64_t>(1000 * (end - now_seconds()))); };
  const bool is_connected = ::connect(socket.get(), found->ai_addr, found->ai_addrlen) == 0 ||
                            (errno == EINPROGRESS && waits_until_connected(socket.get(), left()));
  if (!is_connected) return false;
  socket_ = PacketSocket(std::move(socket), dialogue_);
  std::vector<Packet> packets;
  if (socket_.send(hello))
    while (packets.empty() && socket_.is_open() && waits_for(socket_.descriptor(), POLLIN, left()))
      packets = socket_.receive();
  if (packets.empty()) socket_.close();
  return socket_.is_open();
}

// Each time an address is tried again, it gets twice as long: a network that loses packets answers late.
bool RankLink::connect(const Packet& hello, milliseconds patience) {
  const double end = now_seconds() + 0.001 * static_cast<double>(patience.count());
  for (milliseconds of_one{2000};; of_one *= 2) {
    for (const std::string& address : addresses_) {
      const double left = end - now_seconds();
      if (left <= 0) return false;
      if (connect_to(address, hello, std::min(of_one, milliseconds(1 + static_cast<std::int64_t>(1000 * left)))))
        return true;
    }
    if (now_seconds() >= end) return false;
    std::this_thread::sleep_for(milliseconds(50));  // where all refuse at once
  }
}

}  // namespace convoy
