/// TCP, without delay and without blocking.
#include "watch/control_link.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <sstream>

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "convoy/base/error.h"

namespace convoy {

namespace {

constexpr int kConnectMilliseconds = 2000;

void make_non_blocking(int socket) {
  fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK);
  fcntl(socket, F_SETFD, FD_CLOEXEC);
}

// Many systems let a process have 1,024 unless it asks for more.
void allow_open_files(rlim_t more) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  limit.rlim_cur = std::min(limit.rlim_max, limit.rlim_cur + more);
  setrlimit(RLIMIT_NOFILE, &limit);
}

struct FreeInterfaces {
  void operator()(ifaddrs* list) const { freeifaddrs(list); }
};

std::string numeric_host(const sockaddr* address) {
  char host[NI_MAXHOST] = {};
  const socklen_t size = address->sa_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  return getnameinfo(address, size, host, sizeof host, nullptr, 0, NI_NUMERICHOST) == 0 ? host : "";
}

bool waits_for(int socket, short event) {
  pollfd state{.fd = socket, .events = event, .revents = 0};
  return ::poll(&state, 1, kConnectMilliseconds) == 1;
}

bool waits_until_connected(int socket) {
  if (!waits_for(socket, POLLOUT)) return false;
  int error = 0;
  socklen_t size = sizeof error;
  return getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
}

// The same address may be another machine's there: only rank 0 of this job says that it has heard.
bool is_heard(PacketSocket& socket, std::uint64_t job) {
  std::vector<Packet> packets;
  while (packets.empty() && socket.is_open() && waits_for(socket.descriptor(), POLLIN)) packets = socket.receive();
  return !packets.empty() && packets.front().kind == Packet::Kind::kHeard && packets.front().job == job;
}

struct FreeAddresses {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};

FileDescriptor connect_to(const std::string& host, const std::string& port) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) return {};
  const std::unique_ptr<addrinfo, FreeAddresses> address(found);
  FileDescriptor socket(::socket(found->ai_family, SOCK_STREAM, 0));
  if (!socket.is_open()) return {};
  make_non_blocking(socket.get());
  const bool connected = ::connect(socket.get(), found->ai_addr, found->ai_addrlen) == 0 ||
                         (errno == EINPROGRESS && waits_until_connected(socket.get()));
  return connected ? std::move(socket) : FileDescriptor();
}

}  // namespace

PacketSocket::PacketSocket(FileDescriptor socket) : socket_(std::move(socket)) {
  make_non_blocking(socket_.get());
  const int on = 1;
  setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

bool PacketSocket::send(const Packet& packet) {
  if (!is_open()) return false;
  const ssize_t sent = ::send(socket_.get(), &packet, sizeof packet, MSG_NOSIGNAL);
  if (sent == static_cast<ssize_t>(sizeof packet)) return true;
  // A part of a packet would put the others out of step; buffers are far larger than what is ever under way.
  if (sent > 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) close();
  return false;
}

std::vector<Packet> PacketSocket::receive() {
  std::vector<Packet> packets;
  std::byte buffer[4096];
  while (is_open()) {
    const ssize_t size = ::recv(socket_.get(), buffer, sizeof buffer, 0);
    if (size > 0) {
      pending_.insert(pending_.end(), buffer, buffer + size);
    } else {
      if (size == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) close();
      break;
    }
  }
  std::size_t taken = 0;
  for (; pending_.size() - taken >= sizeof(Packet); taken += sizeof(Packet))
    std::memcpy(&packets.emplace_back(), pending_.data() + taken, sizeof(Packet));
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(taken));
  return packets;
}

bool PacketSocket::is_unacknowledged() const {
  tcp_info info{};
  socklen_t size = sizeof info;
  return is_open() && getsockopt(socket_.get(), IPPROTO_TCP, TCP_INFO, &info, &size) == 0 && info.tcpi_unacked > 0 &&
         info.tcpi_retransmits > 0;
}

RootLink::RootLink(std::int64_t num_ranks, std::uint64_t job) : job_(job), ranks_(static_cast<std::size_t>(num_ranks)) {
  allow_open_files(static_cast<rlim_t>(num_ranks));
  listener_ = FileDescriptor(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_addr.s_addr = htonl(INADDR_ANY);
  if (!listener_.is_open() || ::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any) != 0 ||
      ::listen(listener_.get(), SOMAXCONN) != 0)
    fail("no port to listen on for the other ranks: {}", std::strerror(errno));
  make_non_blocking(listener_.get());
}

std::vector<std::string> RootLink::addresses() const {
  sockaddr_in bound{};
  socklen_t size = sizeof bound;
  getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&bound), &size);
  ifaddrs* found = nullptr;
  getifaddrs(&found);
  const std::unique_ptr<ifaddrs, FreeInterfaces> interfaces(found);
  std::vector<std::string> addresses;
  for (const ifaddrs* i = found; i != nullptr; i = i->ifa_next)
    if (i->ifa_addr != nullptr && i->ifa_addr->sa_family == AF_INET)
      addresses.push_back(fmt::format("{} {}", numeric_host(i->ifa_addr), ntohs(bound.sin_port)));
  std::stable_partition(addresses.begin(), addresses.end(),
                        [](const std::string& address) { return !address.starts_with("127."); });
  return addresses;
}

void RootLink::accept_all() {
  for (int socket = 0; (socket = ::accept(listener_.get(), nullptr, nullptr)) >= 0;)
    strangers_.emplace_back(FileDescriptor(socket));
}

// From its hello on it is a rank; whoever says anything else is left out.
void RootLink::take_hello(PacketSocket& stranger) {
  std::vector<Packet> packets = stranger.receive();
  if (packets.empty()) return;
  const Packet& hello = packets.front();
  const bool is_rank =
      hello.kind == Packet::Kind::kHello && hello.job == job_ && hello.rank > 0 && hello.rank < std::ssize(ranks_);
  if (!is_rank) return stranger.close();
  stranger.send({.kind = Packet::Kind::kHeard, .job = job_});
  ranks_[static_cast<std::size_t>(hello.rank)] = std::exchange(stranger, {});
  early_.insert(early_.end(), packets.begin(), packets.end());
}

std::vector<Packet> RootLink::poll(std::chrono::milliseconds timeout) {
  std::vector<pollfd> states = {{.fd = listener_.get(), .events = POLLIN, .revents = 0}};
  for (const auto* sockets : {&ranks_, &strangers_})
    for (const PacketSocket& socket : *sockets)
      if (socket.is_open()) states.push_back({.fd = socket.descriptor(), .events = POLLIN, .revents = 0});
  ::poll(states.data(), states.size(), static_cast<int>(timeout.count()));
  accept_all();
  for (PacketSocket& stranger : strangers_) take_hello(stranger);
  std::erase_if(strangers_, [](const PacketSocket& stranger) { return !stranger.is_open(); });
  std::vector<Packet> packets = std::exchange(early_, {});
  for (PacketSocket& rank : ranks_) {
    const std::vector<Packet> more = rank.receive();
    packets.insert(packets.end(), more.begin(), more.end());
  }
  return packets;
}

void RootLink::send_to_all(const Packet& packet) {
  for (PacketSocket& rank : ranks_) rank.send(packet);
}

PacketSocket connect_to_root(const std::vector<std::string>& addresses, const Packet& hello) {
  for (const std::string& address : addresses) {
    std::istringstream words(address);
    std::string host, port;
    words >> host >> port;
    FileDescriptor connected = connect_to(host, port);
    if (!connected.is_open()) continue;
    PacketSocket socket(std::move(connected));
    if (socket.send(hello) && is_heard(socket, hello.job)) return socket;
  }
  return {};
}

}  // namespace convoy
