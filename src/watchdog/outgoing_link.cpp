/// No call waits, except connect(): a rank that calls the roll must hear all others meanwhile.
#include "watchdog/outgoing_link.h"

#include <algorithm>
#include <cerrno>
#include <sstream>
#include <utility>

#include <sys/socket.h>

#include "convoy/base/clock.h"

#include "watchdog/addresses.h"

namespace convoy {

namespace {

// When all addresses are tried again, each attempt gets twice as long: a network that loses packets answers late.
constexpr double kFirstAttemptSeconds = 2, kLongestAttemptSeconds = 30;
constexpr double kPauseSeconds = 0.05;
constexpr int kLookMilliseconds = 20;

bool is_ready(int socket, short event) {
  pollfd state{.fd = socket, .events = event, .revents = 0};
  return ::poll(&state, 1, 0) == 1;
}

int error_of(int socket) {
  int error = 0;
  socklen_t size = sizeof error;
  return getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

}  // namespace

OutgoingLink::OutgoingLink(const Secret& secret, std::int64_t own, std::int64_t other,
                           std::vector<std::string> addresses)
    : dialogue_(secret, static_cast<std::int32_t>(own), static_cast<std::int32_t>(other),
                /*opener=*/static_cast<std::int32_t>(own)),
      addresses_(std::move(addresses)) {}

void OutgoingLink::open(const Packet& hello) {
  hello_ = hello;
  if (state_ != State::kClosed || addresses_.empty()) return;
  num_refused_ = 0;  // next_address_ is still the one that was open, if any was
  attempt_seconds_ = kFirstAttemptSeconds;
  attempt();
}

void OutgoingLink::close() {
  state_ = State::kClosed;
  connecting_ = {};
  socket_.close();
}

bool OutgoingLink::connect(const Packet& hello, std::chrono::milliseconds patience) {
  const double end = now_seconds() + 0.001 * static_cast<double>(patience.count());
  for (open(hello); !is_open() && !addresses_.empty() && now_seconds() < end; receive()) {
    pollfd state = awaited();
    ::poll(&state, 1, kLookMilliseconds);
  }
  if (!is_open()) close();
  return is_open();
}

void OutgoingLink::attempt() {
  std::istringstream words(addresses_[next_address_]);
  std::string host, port;
  words >> host >> port;
  const AddressList found = numeric_address(host, port);
  connecting_ = FileDescriptor(found ? ::socket(found->ai_family, SOCK_STREAM, 0) : -1);
  if (!connecting_.is_open()) return fail_attempt();
  make_non_blocking(connecting_.get());
  state_ = State::kConnecting;
  deadline_seconds_ = now_seconds() + attempt_seconds_;
  if (::connect(connecting_.get(), found->ai_addr, found->ai_addrlen) == 0 || errno == EINPROGRESS) return;
  num_refused_ = errno == ECONNREFUSED ? num_refused_ + 1 : 0;
  fail_attempt();
}

void OutgoingLink::fail_attempt() {
  connecting_ = {};
  socket_.close();
  state_ = State::kPausing;
  deadline_seconds_ = now_seconds() + kPauseSeconds;
  if (++next_address_ < addresses_.size()) return;
  next_address_ = 0;
  attempt_seconds_ = std::min(2 * attempt_seconds_, kLongestAttemptSeconds);
}

void OutgoingLink::finish_connecting() {
  if (!is_ready(connecting_.get(), POLLOUT)) return;
  if (const int error = error_of(connecting_.get()); error != 0) {
    num_refused_ = error == ECONNREFUSED ? num_refused_ + 1 : 0;
    return fail_attempt();
  }
  num_refused_ = 0;
  state_ = State::kGreeting;
  socket_ = PacketSocket(std::move(connecting_), dialogue_);
  socket_.send(hello_);
}

std::vector<Packet> OutgoingLink::receive() {
  std::vector<Packet> packets;
  if (state_ == State::kConnecting) finish_connecting();
  if (state_ == State::kGreeting || state_ == State::kOpen) {
    packets = socket_.receive();
    if (!packets.empty()) state_ = State::kOpen;
    if (!socket_.is_open()) state_ == State::kOpen ? close() : fail_attempt();
  }
  const bool has_deadline = state_ != State::kClosed && state_ != State::kOpen;
  if (has_deadline && now_seconds() > deadline_seconds_) state_ == State::kPausing ? attempt() : fail_attempt();
  return packets;
}

pollfd OutgoingLink::awaited() const {
  if (state_ == State::kConnecting) return {.fd = connecting_.get(), .events = POLLOUT, .revents = 0};
  return {.fd = socket_.is_open() ? socket_.descriptor() : -1, .events = POLLIN, .revents = 0};
}

}  // namespace convoy
