/// TCP keeps the order, so that numbers grow from packet to packet; one that does not was sent before.
#include "watchdog/packet_socket.h"

#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace convoy {

namespace {

// The state of SipHash; names and constants are the paper's.
struct SipState {
  std::uint64_t v0, v1, v2, v3;

  void rounds(int count) {
    for (int i = 0; i < count; ++i) {
      v0 += v1;
      v2 += v3;
      v1 = std::rotl(v1, 13) ^ v0;
      v3 = std::rotl(v3, 16) ^ v2;
      v0 = std::rotl(v0, 32);
      v2 += v1;
      v0 += v3;
      v1 = std::rotl(v1, 17) ^ v2;
      v3 = std::rotl(v3, 21) ^ v0;
      v2 = std::rotl(v2, 32);
    }
  }

  void take(std::uint64_t word) {
    v3 ^= word;
    rounds(2);
    v0 ^= word;
  }
};

bool is_for_later() {
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

std::uint64_t hash_of(const SealedPacket& sealed, const Secret& secret) {
  return siphash(secret, std::as_bytes(std::span(&sealed, 1)).first(offsetof(SealedPacket, hash)));
}

}  // namespace

std::uint64_t siphash(const Secret& key, std::span<const std::byte> message) {
  static_assert(std::endian::native == std::endian::little);
  const auto [k0, k1] = key;
  SipState state{.v0 = k0 ^ 0x736f6d6570736575,
                 .v1 = k1 ^ 0x646f72616e646f6d,
                 .v2 = k0 ^ 0x6c7967656e657261,
                 .v3 = k1 ^ 0x7465646279746573};
  std::uint64_t last = static_cast<std::uint64_t>(message.size()) << 56;
  for (; message.size() >= sizeof last; message = message.subspan(sizeof last)) {
    std::uint64_t word = 0;
    std::memcpy(&word, message.data(), sizeof word);
    state.take(word);
  }
  std::uint64_t rest = 0;
  if (!message.empty()) std::memcpy(&rest, message.data(), message.size());  // an empty one may have no address
  state.take(last | rest);
  state.v2 ^= 0xff;
  state.rounds(4);
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

SealedPacket Dialogue::seal(const Packet& packet) {
  SealedPacket sealed;
  std::memset(static_cast<void*>(&sealed), 0, sizeof sealed);  // what lies between the members travels, too
  sealed.from = own_;
  sealed.to = other_;
  sealed.opener = opener_;
  sealed.number = ++num_sent_;
  sealed.packet = packet;
  sealed.hash = hash_of(sealed, secret_);
  return sealed;
}

std::optional<Packet> Dialogue::open(const SealedPacket& sealed) {
  const bool is_ours =
      sealed.from == other_ && sealed.to == own_ && sealed.opener == opener_ && sealed.hash == hash_of(sealed, secret_);
  if (!is_ours || sealed.number <= last_opened_) return std::nullopt;
  last_opened_ = sealed.number;
  return sealed.packet;
}

PacketSocket::PacketSocket(FileDescriptor socket, Dialogue& dialogue)
    : socket_(std::move(socket)), dialogue_(&dialogue) {
  make_non_blocking(socket_.get());
  const int on = 1;
  setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

bool PacketSocket::send(const Packet& packet) {
  if (!is_open()) return false;
  const SealedPacket sealed = dialogue_->seal(packet);
  const ssize_t sent = ::send(socket_.get(), &sealed, sizeof sealed, MSG_NOSIGNAL);
  if (sent == static_cast<ssize_t>(sizeof sealed)) return true;
  // A part of a packet would put the others out of step; buffers are far larger than what is ever under way.
  if (sent > 0) close();
  if (sent < 0 && !is_for_later()) close_after(errno);
  return false;
}

// A process that ends closes its connections, or its system resets them.
void PacketSocket::close_after(int error) {
  is_cut_ = error != 0 && error != ECONNRESET && error != EPIPE;
  close();
}

std::vector<Packet> PacketSocket::receive() {
  std::vector<Packet> packets;
  std::array<std::byte, 16 * sizeof(SealedPacket)> buffer;
  while (is_open()) {
    const auto size = receive_some(socket_.get(), buffer);
    if (!size) close_after(errno);
    if (!size || *size == 0) break;
    pending_.insert(pending_.end(), buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(*size));
    std::size_t taken = 0;
    for (; pending_.size() - taken >= sizeof(SealedPacket) && is_open(); taken += sizeof(SealedPacket)) {
      SealedPacket sealed;
      std::memcpy(&sealed, pending_.data() + taken, sizeof sealed);
      if (const auto packet = dialogue_->open(sealed))
        packets.push_back(*packet);
      else
        close();
    }
    pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(taken));
  }
  return packets;
}

// What has left this host without an answer, and what could not leave it because its own network is down.
bool PacketSocket::is_unacknowledged() const {
  int num_bytes = 0;
  return is_open() && ioctl(socket_.get(), SIOCOUTQ, &num_bytes) == 0 && num_bytes > 0;
}

void make_non_blocking(int socket) {
  fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK);
  fcntl(socket, F_SETFD, FD_CLOEXEC);
}

std::optional<std::size_t> receive_some(int socket, std::span<std::byte> to) {
  errno = 0;
  const ssize_t size = ::recv(socket, to.data(), to.size(), 0);
  if (size > 0) return static_cast<std::size_t>(size);
  return size < 0 && is_for_later() ? std::optional<std::size_t>(0) : std::nullopt;
}

}  // namespace convoy
