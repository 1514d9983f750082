/// Whatever the executor does with messages gives the same memory on every transport: straight from host memory, copied
/// through it on the CPU, and copied through it from a device whose work and copies run as late or as early as they
/// may.
#include "convoy/comm/transport.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "convoy/base/data_type.h"
#include "convoy/base/error.h"

#include "parallel/mpi_main.h"
#include "parallel/queued_device.h"
#include "parallel/transport_patterns.h"
#include "unit/messages.h"

namespace convoy::test {

namespace {

Rig on_cpu(std::unique_ptr<Device> device, std::unique_ptr<Transport> transport) {
  return Rig({.device = std::move(device),
              .transport = std::move(transport),
              .issue = [](const Rig::Work& work) { work(); },
              .on_progress = [] {}});
}

Rig host_rig() {
  return on_cpu(make_cpu_device(1), make_host_transport());
}

Rig host_copy_rig() {
  auto device = make_cpu_device(1);
  auto transport = make_host_copy_transport(*device);
  return on_cpu(std::move(device), std::move(transport));
}

Rig queued_rig(const QueuedDeviceSpec& spec) {
  auto device = std::make_unique<QueuedDevice>(spec);
  QueuedDevice& queued = *device;
  return Rig({.device = std::move(device),
              .transport = make_host_copy_transport(queued),
              .issue = [&queued](Rig::Work work) { queued.issue(std::move(work)); },
              .on_progress = [&queued] { queued.on_progress(); }});
}

// --- On every transport --------------------------------------------------------------------------------------

struct RigCase {
  const char* name = nullptr;
  Rig (*make)() = nullptr;
};

class OnEveryTransport : public testing::TestWithParam<RigCase> {
 protected:
  Rig rig_ = GetParam().make();
};

INSTANTIATE_TEST_SUITE_P(
    Transports, OnEveryTransport,
    testing::Values(RigCase{"Host", [] { return host_rig(); }},
                    RigCase{"HostCopyOnTheCpu", [] { return host_copy_rig(); }},
                    RigCase{"HostCopyWithEarlyCopies", [] { return queued_rig({.first = First::kCopies}); }},
                    RigCase{"HostCopyWithLateCopies", [] { return queued_rig({.first = First::kWork}); }}),
    [](const auto& rig) { return std::string(rig.param.name); });

TEST_P(OnEveryTransport, MessagesOfOneTagArriveInOrderFromAndToFramesThatAreUsedAgainAndAgain) {
  EXPECT_EQ(differences_in_ring(rig_, {.num_messages = 60, .num_frames = 3}), 0);
}

TEST_P(OnEveryTransport, OneFrameIsEnough) {
  EXPECT_EQ(differences_in_ring(rig_, {.num_messages = 20, .num_frames = 1}), 0);
}

TEST_P(OnEveryTransport, EmptyMessagesComeAndGo) {
  EXPECT_EQ(differences_in_ring(rig_, {.num_messages = 10, .num_frames = 2, .count = 0}), 0);
}

TEST_P(OnEveryTransport, AMessageOfAMegabyteArrivesWhole) {
  EXPECT_EQ(differences_in_ring(rig_, {.num_messages = 3, .num_frames = 2, .count = 300'007}), 0);
}

TEST_P(OnEveryTransport, ActivationsGoForwardAndGradientsBack) {
  EXPECT_EQ(differences_in_pipeline(rig_, 7), 0);
}

TEST_P(OnEveryTransport, EachPhaseOfAnExchangeSendsWhatTheOneBeforeHasAddedUp) {
  if (world().size() == 1) GTEST_SKIP() << "an exchange of one rank";
  EXPECT_EQ(differences_in_exchange(rig_, 5), 0);
}

TEST_P(OnEveryTransport, EachRankReceivesItsPartOfTheSumStepAfterStep) {
  EXPECT_EQ(differences_in_reduce_scatter(rig_, 5), 0);
}

TEST_P(OnEveryTransport, AMessageIsActiveFromItsStartUntilItsTestSaysSo) {
  Buffer out(rig_.device(), 4), in(rig_.device(), 4);
  const auto send = rig_.transport().send(
      {.group = world(), .data = out.data(), .size_bytes = out.size_bytes(), .peer = next(), .tag = 1});
  const auto receive = rig_.transport().receive(
      {.group = world(), .data = in.data(), .size_bytes = in.size_bytes(), .peer = previous(), .tag = 1});
  rig_.transport().connect();
  for (const auto* message : {&send, &receive}) {
    EXPECT_FALSE((*message)->active());
    EXPECT_TRUE((*message)->test()) << "never started";
  }
  EXPECT_FALSE(rig_.transport().progress());
  receive->start();
  send->start();
  mpi::wait_until([&] {
    rig_.on_progress();
    return !rig_.transport().progress();
  });
  for (const auto* message : {&send, &receive}) {
    EXPECT_TRUE((*message)->active()) << "arrived, but nobody has asked";
    EXPECT_TRUE((*message)->test());
    EXPECT_FALSE((*message)->active());
  }
  rig_.finish();
}

// As rank 0 does between two steps of an evaluation: it waits for what the last stage makes of this very message.
TEST_P(OnEveryTransport, WhatIsNotHeldBackArrivesWhileItsSenderWaitsForSomethingElse) {
  if (world().size() == 1) GTEST_SKIP() << "needs another rank";
  constexpr int kTag = 3, kAnswerTag = 4;
  Buffer data(rig_.device(), 1 << 20);
  const auto spec = [&](int peer) {
    return MessageSpec{
        .group = world(), .data = data.data(), .size_bytes = data.size_bytes(), .peer = peer, .tag = kTag};
  };
  std::unique_ptr<Message> message;
  if (world().rank() == 0) message = rig_.transport().send(spec(1));
  if (world().rank() == 1) message = rig_.transport().receive(spec(0));
  rig_.transport().connect();
  char answer = 0;
  if (world().rank() == 0) {
    message->start();
    while (rig_.transport().holds_back()) {
      rig_.on_progress();
      rig_.transport().progress();
    }
    world().receive(&answer, 1, 1, kAnswerTag);  // without progress()
  } else if (world().rank() == 1) {
    message->start();
    rig_.wait_for(*message);
    world().send(&answer, 1, 0, kAnswerTag);
  }
  if (message) rig_.wait_for(*message);
  rig_.finish();
}

TEST_P(OnEveryTransport, WhatMpiCannotCountIsRefusedWhenItIsPlanned) {
  float value = 0;
  const MessageSpec message{.group = world(), .data = &value, .size_bytes = std::int64_t{1} << 31, .peer = next()};
  const std::int64_t part_count = (std::int64_t{1} << 31) / world().size();
  for (const auto& plan : std::vector<std::function<void()>>{
           [&] { rig_.transport().send(message); }, [&] { rig_.transport().receive(message); },
           [&] {
             rig_.transport().reduce_scatter(
                 {.group = world(), .data = &value, .part = &value, .part_count = part_count});
           }}) {
    EXPECT_CONTAINS(message_of<Error>(plan), "2147483648");
  }
}

// --- Copies through host memory ------------------------------------------------------------------------------

// These would pass the tests above on a device that does everything at once, so show what the queued one finds.
TEST(HostCopies, WithoutMarkAFrameLeavesBeforeItIsFilled) {
  Rig rig = queued_rig({.first = First::kCopies, .marks = false});
  EXPECT_GT(differences_in_ring(rig, {}), 0);
}

TEST(HostCopies, WithoutJoinAFrameIsReadBeforeItIsThere) {
  Rig rig = queued_rig({.first = First::kWork, .joins = false});
  EXPECT_GT(differences_in_ring(rig, {}), 0);
}

TEST(HostCopies, AReceiveStartedAgainLeavesTheLastMessageToItsCopy) {
  Rig sender = host_rig(), receiver = queued_rig({.first = First::kWork});
  Buffer first(sender.device(), kFloatBytes), second(sender.device(), kFloatBytes), in(receiver.device(), kFloatBytes);
  *first.floats() = 1;
  *second.floats() = 2;
  const auto spec = [&](const Buffer& buffer, int peer) {
    return MessageSpec{
        .group = world(), .data = buffer.data(), .size_bytes = buffer.size_bytes(), .peer = peer, .tag = 2};
  };
  Messages sends;
  sends.push_back(sender.transport().send(spec(first, next())));
  sends.push_back(sender.transport().send(spec(second, next())));
  const auto receive = receiver.transport().receive(spec(in, previous()));
  std::vector<float> seen;

  for (const auto& send : sends) send->start();
  receive->start();
  mpi::wait_until([&] { return receive->test(); });  // not poked: its copy to the device has not run
  receiver.issue([&] { seen.push_back(*in.floats()); });
  receive->start();
  for (int i = 0; i < 1000; ++i) receiver.transport().progress();
  EXPECT_TRUE(receive->active()) << "it has no buffer yet";
  receiver.wait_for(*receive);
  receiver.issue([&] { seen.push_back(*in.floats()); });
  receiver.finish();
  sender.wait_for(sends);
  EXPECT_EQ(seen, (std::vector<float>{1, 2}));
}

// --- Choice --------------------------------------------------------------------------------------------------

TEST(MakeTransport, HostMemoryGoesByMpiAndAnUnknownDeviceCopiesThroughIt) {
  const ProcessGrid grid(world(), 1);
  const auto cpu = make_cpu_device(1);
  QueuedDevice queued({});
  EXPECT_EQ(make_transport(grid, *cpu)->description(), "MPI");
  EXPECT_EQ(make_transport(grid, queued)->description(), "MPI through pinned host memory");
}

}  // namespace

}  // namespace convoy::test
