/// A process that finds the port, or reads what passes there, can do nothing with it.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "convoy/base/clock.h"

#include "relay.h"
#include "watchdog/addresses.h"
#include "watchdog/control_links.h"

namespace convoy {
namespace {

using std::chrono::milliseconds;

constexpr Secret kSecret = {1, 2};
constexpr Packet kHello{.kind = Packet::Kind::kHello, .rank = 1};

// The hashes of the messages (empty), 00, 00 01 ... with the key 00 01 ... 0f: github.com/veorq/SipHash, vectors.h.
constexpr std::uint64_t kPublished[] = {
    0x726fdb47dd0e0e31, 0x74f839c593dc67fd, 0x0d6c8009d9a94f5a, 0x85676696d7fb7e2d, 0xcf2794e0277187b7,
    0x18765564cd99a68d, 0xcbc9466e58fee3ce, 0xab0200f58b01d137, 0x93f5f5799a932462, 0x9e0082df0ba9e4b0,
    0x7a5dbbc594ddb9f3, 0xf4b32f46226bada7, 0x751e8fbc860ee5fb, 0x14ea5627c0843d90, 0xf723ca908e7af2ee,
    0xa129ca6149be45e5, 0x3f2acc7f57c29bdb, 0x699ae9f52cbe4794, 0x4bc1b3f0968dd39c, 0xbb6dc91da77961bd,
    0xbed65cf21aa2ee98, 0xd0f2cbb02e3b67c7, 0x93536795e3a33e88, 0xa80c038ccd5ccec8, 0xb8ad50c6f649af94,
    0xbce192de8a85b8ea, 0x17d835b85bbb15f3, 0x2f2e6163076bcfad, 0xde4daaaca71dc9a5, 0xa6a2506687956571,
    0xad87a3535c49ef28, 0x32d892fad841c342, 0x7127512f72f27cce, 0xa7f32346f95978e3, 0x12e0b01abb051238,
    0x15e034d40fa197ae, 0x314dffbe0815a3b4, 0x027990f029623981, 0xcadcd4e59ef40c4d, 0x9abfd8766a33735c,
    0x0e3ea96b5304a7d0, 0xad0c42d6fc585992, 0x187306c89bc215a9, 0xd4a60abcf3792b95, 0xf935451de4f21df2,
    0xa9538f0419755787, 0xdb9acddff56ca510, 0xd06c98cd5c0975eb, 0xe612a3cb9ecba951, 0xc766e62cfcadaf96,
    0xee64435a9752fe72, 0xa192d576b245165a, 0x0a8787bf8ecb74b2, 0x81b3e73d20b49b6f, 0x7fa8220ba3b2ecea,
    0x245731c13ca42499, 0xb78dbfaf3a8d83bd, 0xea1ad565322a1a0b, 0x60e61c23a3795013, 0x6606d7e446282b93,
    0x6ca4ecb15c5f91e1, 0x9f626da15c9625f3, 0xe51b38608ef25f57, 0x958a324ceb064572};

TEST(SipHash, GivesThePublishedValues) {
  std::vector<std::byte> message;
  for (const std::uint64_t expected : kPublished) {
    EXPECT_EQ(siphash({0x0706050403020100, 0x0f0e0d0c0b0a0908}, message), expected) << message.size() << " bytes";
    message.push_back(static_cast<std::byte>(message.size()));
  }
}

// --- Dialogue ------------------------------------------------------------------------------------------------

TEST(Dialogue, OpensWhatTheOtherHasSealed) {
  Dialogue one(kSecret, 1, 0, 1), root(kSecret, 0, 1, 1);
  const auto opened = root.open(one.seal({.kind = Packet::Kind::kAlarm, .rank = 1, .status = {.step = 7}}));
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->kind, Packet::Kind::kAlarm);
  EXPECT_EQ(opened->status.step, 7);
}

TEST(Dialogue, OpensNothingOfWhichABitWasChanged) {
  Dialogue one(kSecret, 1, 0, 1), root(kSecret, 0, 1, 1);
  const SealedPacket sealed = one.seal(kHello);
  for (std::size_t i = 0; i < 8 * sizeof sealed; ++i) {
    std::byte bytes[sizeof sealed];
    std::memcpy(bytes, &sealed, sizeof sealed);
    bytes[i / 8] ^= static_cast<std::byte>(1U << (i % 8));
    SealedPacket changed;
    std::memcpy(&changed, bytes, sizeof changed);
    EXPECT_FALSE(root.open(changed)) << "bit " << i;
  }
  EXPECT_TRUE(root.open(sealed));
}

TEST(Dialogue, OpensNothingTwiceAndNothingOlder) {
  Dialogue one(kSecret, 1, 0, 1), root(kSecret, 0, 1, 1);
  const SealedPacket first = one.seal(kHello), second = one.seal(kHello), third = one.seal(kHello);
  EXPECT_TRUE(root.open(second)) << "the first was lost with its connection";
  EXPECT_FALSE(root.open(second));
  EXPECT_FALSE(root.open(first));
  EXPECT_TRUE(root.open(third));
}

TEST(Dialogue, OpensNothingThatWasMeantForAnotherRankOrCameFromItself) {
  Dialogue one(kSecret, 1, 0, 1), root_to_one(kSecret, 0, 1, 1), two(kSecret, 2, 0, 2), stranger({1, 3}, 0, 1, 1);
  EXPECT_FALSE(two.open(root_to_one.seal({.kind = Packet::Kind::kEnd})));
  EXPECT_FALSE(one.open(one.seal(kHello)));
  EXPECT_FALSE(one.open(stranger.seal({.kind = Packet::Kind::kEnd})));
  EXPECT_TRUE(one.open(root_to_one.seal({.kind = Packet::Kind::kEnd})));
}

TEST(Dialogue, OpensNothingOfAConnectionThatTheOtherRankOpened) {
  Dialogue one(kSecret, 1, 2, 1), two(kSecret, 2, 1, 1), two_as_opener(kSecret, 2, 1, 2);
  EXPECT_FALSE(one.open(two_as_opener.seal(kHello)));
  EXPECT_TRUE(one.open(two.seal(kHello)));
}

// --- Links ---------------------------------------------------------------------------------------------------

std::ptrdiff_t num_open_files() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

std::int64_t resident_kilobytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t size = 0, resident = 0;
  file >> size >> resident;
  return 4 * resident;
}

std::string listen_on_loopback(int socket, int backlog = 8) {
  sockaddr_in bound{
      .sin_family = AF_INET, .sin_port = 0, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
  socklen_t size = sizeof bound;
  EXPECT_EQ(::bind(socket, reinterpret_cast<sockaddr*>(&bound), size), 0);
  EXPECT_EQ(::listen(socket, backlog), 0);
  EXPECT_EQ(::getsockname(socket, reinterpret_cast<sockaddr*>(&bound), &size), 0);
  return "127.0.0.1 " + std::to_string(ntohs(bound.sin_port));
}

/// Rank 0 of three, which is polled as its watchdog would.
class ControlLink : public testing::Test {
 protected:
  void TearDown() override {
    ends_ = true;
    thread_.join();
  }

  std::string address() const { return address_; }
  bool is_connected(std::int64_t rank) {
    const std::lock_guard lock(mutex_);
    return link_.of(rank).is_open();
  }
  std::vector<Packet> heard() {
    const std::lock_guard lock(mutex_);
    return heard_;
  }
  std::size_t num_heard(Packet::Kind kind) {
    return static_cast<std::size_t>(std::ranges::count(heard(), kind, &Packet::kind));
  }
  template <typename Condition>
  static bool comes_true(const Condition& condition) {
    for (const double end = now_seconds() + 10; now_seconds() < end; std::this_thread::sleep_for(milliseconds(5)))
      if (condition()) return true;
    return false;
  }

 private:
  void poll() {
    while (!ends_) {
      {
        const std::lock_guard lock(mutex_);
        for (const Received& received : link_.poll(milliseconds(5))) heard_.push_back(received.packet);
      }
      std::this_thread::sleep_for(milliseconds(1));
    }
  }

  std::mutex mutex_;
  IncomingLinks link_{0, 3, kSecret, {"127.0.0.1"}};
  const std::string address_ = link_.addresses().front();
  std::vector<Packet> heard_;
  std::atomic<bool> ends_ = false;
  std::thread thread_{[this] { poll(); }};
};

TEST_F(ControlLink, ARankWithTheSecretIsHeard) {
  OutgoingLink rank(kSecret, 1, 0, {address()});
  ASSERT_TRUE(rank.connect(kHello, std::chrono::seconds(10)));
  EXPECT_TRUE(is_connected(1));
  rank.send({.kind = Packet::Kind::kAlarm, .rank = 1});
  EXPECT_TRUE(comes_true([&] { return num_heard(Packet::Kind::kAlarm) == 1; }));
}

TEST_F(ControlLink, OneWithoutItIsNotAndDoesNotBelieveThisRoot) {
  OutgoingLink rank({1, 3}, 1, 0, {address()});
  EXPECT_FALSE(rank.connect(kHello, milliseconds(500)));
  EXPECT_FALSE(is_connected(1));
  EXPECT_TRUE(heard().empty());
}

TEST_F(ControlLink, SilentStrangersAreFewLeaveSoonAndKeepNoRankOut) {
  const std::ptrdiff_t before = num_open_files();
  constexpr std::ptrdiff_t kStrangers = 400;
  std::vector<FileDescriptor> strangers;
  for (std::ptrdiff_t i = 0; i < kStrangers; ++i) strangers.push_back(connect_raw(address()));
  const double start = now_seconds();
  OutgoingLink rank(kSecret, 1, 0, {address()});
  ASSERT_TRUE(rank.connect(kHello, std::chrono::seconds(10)));
  EXPECT_LT(now_seconds() - start, 1);
  const std::ptrdiff_t of_rank = 2, most = kStrangers + of_rank + 3 + static_cast<std::ptrdiff_t>(kMoreStrangers);
  EXPECT_LE(num_open_files() - before, most);
  for (const FileDescriptor& stranger : strangers)
    ASSERT_TRUE(is_closed_within(stranger.get(), kStrangerSeconds + 1)) << "it is still there after its time";
  EXPECT_EQ(num_open_files() - before, kStrangers + of_rank);
  EXPECT_TRUE(is_connected(1));
}

TEST_F(ControlLink, GarbageTakesNoMemoryAndNoTime) {
  const std::vector<std::byte> garbage(std::size_t{1} << 20, std::byte{0x55});
  const std::int64_t before = resident_kilobytes();
  for (int i = 0; i < 200; ++i) {
    const FileDescriptor stranger = connect_raw(address());
    const timeval patience{.tv_sec = 1, .tv_usec = 0};
    setsockopt(stranger.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    ::send(stranger.get(), garbage.data(), garbage.size(), MSG_NOSIGNAL);
    ASSERT_TRUE(is_closed_within(stranger.get(), 1));
  }
  EXPECT_LT(resident_kilobytes() - before, 4096);
  EXPECT_TRUE(heard().empty());
}

TEST_F(ControlLink, WhoSendsSlowlyIsClosed) {
  Dialogue one(kSecret, 1, 0, 1);
  const SealedPacket hello = one.seal(kHello);
  const FileDescriptor stranger = connect_raw(address());
  const double start = now_seconds();
  bool is_closed = false;
  for (std::size_t i = 0; i < sizeof hello && !is_closed; ++i) {
    ::send(stranger.get(), reinterpret_cast<const std::byte*>(&hello) + i, 1, MSG_NOSIGNAL);
    is_closed = is_closed_within(stranger.get(), 0.1);
  }
  EXPECT_TRUE(is_closed);
  EXPECT_LT(now_seconds() - start, kStrangerSeconds + 1);
  EXPECT_FALSE(is_connected(1));
}

TEST_F(ControlLink, WhatWasHeardBeforeIsNotHeardAgain) {
  Relay relay(address());
  relay.start();
  OutgoingLink rank(kSecret, 1, 0, {relay.address()});
  ASSERT_TRUE(rank.connect(kHello, std::chrono::seconds(10)));
  rank.send({.kind = Packet::Kind::kGoodbye, .rank = 1});
  ASSERT_TRUE(comes_true([&] { return num_heard(Packet::Kind::kGoodbye) == 1; }));
  const std::vector<std::byte> recorded = relay.heard();
  ASSERT_EQ(recorded.size(), 2 * sizeof(SealedPacket));
  const FileDescriptor stranger = connect_raw(address());
  ::send(stranger.get(), recorded.data(), recorded.size(), MSG_NOSIGNAL);
  EXPECT_TRUE(is_closed_within(stranger.get(), 1));
  EXPECT_TRUE(is_connected(1)) << "its own connection stays";
  EXPECT_EQ(heard().size(), 2);
  relay.say(std::span(recorded).last(sizeof(SealedPacket)));  // in the rank's own connection
  EXPECT_TRUE(comes_true([&] { return !is_connected(1); }));
  EXPECT_EQ(heard().size(), 2);
}

TEST_F(ControlLink, ARankWhoseConnectionIsCutComesAgain) {
  Relay relay(address());
  relay.start();
  OutgoingLink rank(kSecret, 1, 0, {relay.address()});
  ASSERT_TRUE(rank.connect(kHello, std::chrono::seconds(10)));
  relay.cut();
  ASSERT_TRUE(comes_true([&] { return !is_connected(1); }));
  rank.receive();
  ASSERT_FALSE(rank.is_open());
  ASSERT_TRUE(rank.connect(kHello, std::chrono::seconds(10)));
  rank.send({.kind = Packet::Kind::kStatus, .rank = 1});
  EXPECT_TRUE(comes_true([&] { return num_heard(Packet::Kind::kStatus) == 1; }));
}

TEST_F(ControlLink, WhereNobodyListensIsTold) {
  const FileDescriptor port(::socket(AF_INET, SOCK_STREAM, 0));  // bound, but not listening
  sockaddr_in bound{
      .sin_family = AF_INET, .sin_port = 0, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
  socklen_t size = sizeof bound;
  ASSERT_EQ(::bind(port.get(), reinterpret_cast<sockaddr*>(&bound), size), 0);
  ASSERT_EQ(::getsockname(port.get(), reinterpret_cast<sockaddr*>(&bound), &size), 0);
  OutgoingLink rank(kSecret, 1, 0, {"127.0.0.1 " + std::to_string(ntohs(bound.sin_port))});
  rank.open(kHello);
  EXPECT_TRUE(comes_true([&] {
    rank.receive();
    return rank.is_refused();
  }));
  OutgoingLink answered(kSecret, 1, 0, {address()});
  ASSERT_TRUE(answered.connect(kHello, std::chrono::seconds(10)));
  EXPECT_FALSE(answered.is_refused());
}

TEST_F(ControlLink, AfterABreakTheAddressThatWorkedComesFirst) {
  Relay relay(address());
  relay.start();
  const FileDescriptor listener(::socket(AF_INET, SOCK_STREAM, 0));
  const std::string silent = listen_on_loopback(listener.get(), /*backlog=*/0);
  const FileDescriptor only = connect_raw(silent);  // its system leaves further ones without an answer
  OutgoingLink rank(kSecret, 1, 0, {silent, relay.address()});
  ASSERT_TRUE(rank.connect(kHello, std::chrono::seconds(10)));
  relay.cut();
  ASSERT_TRUE(comes_true([&] { return !is_connected(1); }));
  rank.receive();
  const double start = now_seconds();
  ASSERT_TRUE(rank.connect(kHello, std::chrono::seconds(10)));
  EXPECT_LT(now_seconds() - start, 1.5) << "an attempt at the address that does not answer takes two seconds";
}

// Its process is stopped, but its system answers for it.
TEST(ControlLinks, AHostIsReachedThoughItsRankDoesNotAnswer) {
  ControlLinks one(1, 2, kSecret, {"127.0.0.1"});
  const ControlLinks other(0, 2, kSecret, {"127.0.0.1"});
  one.set_addresses({other.addresses(), {}});
  one.open(0, kHello);
  for (int i = 0; i < 100 && !one.reaches_host(0); ++i) one.poll(milliseconds(10));
  EXPECT_TRUE(one.reaches_host(0));
  EXPECT_FALSE(one.is_connected(0));
}

// The other end takes nothing, so that what is sent is never acknowledged: the system gives the connection up.
TEST(PacketSocketEnd, OfANetworkThatDoesNotWorkIsToldFromThatOfAProcess) {
  const FileDescriptor listener(::socket(AF_INET, SOCK_STREAM, 0));
  const int few_bytes = 2048, milliseconds_to_wait = 200;
  setsockopt(listener.get(), SOL_SOCKET, SO_RCVBUF, &few_bytes, sizeof few_bytes);
  const std::string address = listen_on_loopback(listener.get());
  FileDescriptor lost = connect_raw(address), closed = connect_raw(address);
  setsockopt(lost.get(), IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds_to_wait, sizeof milliseconds_to_wait);
  const FileDescriptor takes_nothing(::accept(listener.get(), nullptr, nullptr));
  FileDescriptor ends(::accept(listener.get(), nullptr, nullptr));

  Dialogue one(kSecret, 1, 0, 1), another(kSecret, 1, 0, 1);
  PacketSocket cut(std::move(lost), one), left(std::move(closed), another);
  ends = {};
  for (int i = 0; i < 1000 && cut.is_open(); ++i) {
    while (cut.send(kHello)) continue;
    std::this_thread::sleep_for(milliseconds(10));
    cut.receive();
    left.receive();
  }
  EXPECT_FALSE(cut.is_open());
  EXPECT_TRUE(cut.is_cut());
  EXPECT_FALSE(left.is_open());
  EXPECT_FALSE(left.is_cut());
}

TEST(Addresses, TheOneWithARouteIsFound) {
  const std::vector<std::string> towards = addresses_towards({"192.0.2.1"});  // an address that documents use
  if (own_addresses().empty() || towards.empty()) GTEST_SKIP() << "this host has no route to others";
  EXPECT_EQ(towards.size(), 1);
  EXPECT_EQ(std::ranges::count(own_addresses(), towards.front()), 1);
}

TEST(Addresses, OnesOwnAreNoOthers) {
  EXPECT_TRUE(addresses_towards(own_addresses()).empty());
}

}  // namespace
}  // namespace convoy
