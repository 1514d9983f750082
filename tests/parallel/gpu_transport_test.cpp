/// The same patterns of messages on the CUDA device, by NCCL and copied through host memory, with stand-ins for CUDA
/// and NCCL whose streams run as late or as early as they may: what does not wait for an event runs in the wrong order.
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "convoy/base/clock.h"
#include "convoy/base/data_type.h"
#include "convoy/base/error.h"

#include "comm/nccl/link.h"
#include "comm/nccl/nccl_transport.h"
#include "device/cuda/cuda_device.h"
#include "emulation/streams.h"
#include "parallel/mpi_main.h"
#include "parallel/stand_in/streams.h"
#include "parallel/transport_patterns.h"
#include "unit/messages.h"

namespace convoy::test {

namespace {

using streams::First;

enum class By { kNccl, kHostCopy };

Rig gpu_rig(By by, First first) {
  streams::prefer(first);
  emulation::set_gpu(world().rank());
  auto device = std::make_unique<cuda::CudaDevice>(cuda::CudaDeviceSpec{});
  const cudaStream_t& stream = device->stream();  // at each call: work of an exchange goes to another
  auto transport = by == By::kNccl ? nccl::make_transport(one_pipeline(), *device) : make_host_copy_transport(*device);
  return Rig({.device = std::move(device),
              .transport = std::move(transport),
              .issue =
                  [&stream](const Rig::Work& work) {
                    streams::issue(stream, [work] {
                      work();
                      return true;
                    });
                  },
              .on_progress = [] { streams::pump(); }});
}

struct GpuCase {
  const char* name = nullptr;
  By by = By::kNccl;
  First first = First::kOldest;
};

class OnTheGpu : public testing::TestWithParam<GpuCase> {
 protected:
  Rig rig_ = gpu_rig(GetParam().by, GetParam().first);
};

INSTANTIATE_TEST_SUITE_P(Transports, OnTheGpu,
                         testing::Values(GpuCase{"NcclBehindTheWork", By::kNccl, First::kOldest},
                                         GpuCase{"NcclBeforeTheWork", By::kNccl, First::kNewest},
                                         GpuCase{"HostCopyAfterTheWork", By::kHostCopy, First::kOldest},
                                         GpuCase{"HostCopyBeforeTheWork", By::kHostCopy, First::kNewest}),
                         [](const auto& gpu) { return std::string(gpu.param.name); });

TEST_P(OnTheGpu, MessagesOfOneTagArriveInOrderFromAndToFramesThatAreUsedAgainAndAgain) {
  if (world().size() == 1 && GetParam().by == By::kNccl) GTEST_SKIP() << "a pipeline of one rank";
  EXPECT_EQ(differences_in_ring(rig_, {.num_messages = 60, .num_frames = 3}), 0);
}

TEST_P(OnTheGpu, EmptyMessagesComeAndGo) {
  if (world().size() == 1 && GetParam().by == By::kNccl) GTEST_SKIP() << "a pipeline of one rank";
  EXPECT_EQ(differences_in_ring(rig_, {.num_messages = 10, .num_frames = 2, .count = 0}), 0);
}

TEST_P(OnTheGpu, ActivationsGoForwardAndGradientsBack) {
  EXPECT_EQ(differences_in_pipeline(rig_, 7), 0);
}

TEST_P(OnTheGpu, EachPhaseOfAnExchangeSendsWhatTheOneBeforeHasAddedUp) {
  if (world().size() == 1) GTEST_SKIP() << "an exchange of one rank";
  EXPECT_EQ(differences_in_exchange(rig_, 5), 0);
}

TEST_P(OnTheGpu, EachRankReceivesItsPartOfTheSum) {
  EXPECT_EQ(differences_in_reduce_scatter(rig_, 5), 0);
}

// The stand-in's streams run when they are pumped: long after the marks were set.
TEST(Stopwatch, MarksWhenTheGpuHasDoneTheWorkBefore) {
  cuda::CudaDevice device({});
  const auto stopwatch = device.make_stopwatch(3);
  double worked = 0;
  stopwatch->mark(0);
  streams::issue(device.stream(), [&worked] {
    worked = now_seconds();
    return true;
  });
  stopwatch->mark(1);
  const double issued = now_seconds();
  const std::vector<double> marks = stopwatch->read(2);
  ASSERT_EQ(marks.size(), 2u);
  // A float's share of the milliseconds between marks and anchor: 2^-24 of at most a minute; and half the shortest
  // round trip to the anchor, which the thread may lose its core in: a hundred attempts do not all meet that.
  constexpr double kTolerance = 1e-3;
  EXPECT_GT(marks[0], issued - kTolerance);
  EXPECT_NEAR(marks[1], worked, kTolerance);
  EXPECT_LE(marks[0], marks[1]);
}

TEST(WhyNoGpu, NamesADriverThatIsTooOldForOurKernels) {
  emulation::set_driver_version(12000);
  EXPECT_EQ(cuda::why_no_gpu(), "the NVIDIA driver supports CUDA 12.0, but 12.1 or newer is needed");
  emulation::set_driver_version(CUDART_VERSION);
  EXPECT_EQ(cuda::why_no_gpu(), "");
}

TEST(MakeTransport, NcclWhereEachRankHasAGpuOfItsOwnElseHostCopies) {
  emulation::set_gpu(world().rank());
  EXPECT_EQ(make_transport(one_pipeline(), *std::make_unique<cuda::CudaDevice>(cuda::CudaDeviceSpec{}))->description(),
            "NCCL");
  emulation::set_gpu(world().rank() / 2);
  EXPECT_EQ(make_transport(one_pipeline(), *std::make_unique<cuda::CudaDevice>(cuda::CudaDeviceSpec{}))->description(),
            world().size() == 1 ? "NCCL" : "MPI through pinned host memory");
}

// Each rank has one link of each kind, each shared with another rank: connected in the wrong order, all would wait.
TEST(Nccl, PipelinesAndExchangesOfOneGridConnectAndDoNotMix) {
  if (world().size() != 4) GTEST_SKIP() << "2 stages x 2 replicas";
  const ProcessGrid grid(world(), 2);
  for (const First first : {First::kOldest, First::kNewest}) {
    streams::prefer(first);
    emulation::set_gpu(world().rank());
    cuda::CudaDevice device({});
    const auto transport = nccl::make_transport(grid, device);
    constexpr std::int64_t kBytes = sizeof(float);
    Buffer mine(device, kBytes), of_stage(device, kBytes), of_replica(device, kBytes);
    const int stage = static_cast<int>(grid.stage()), replica = static_cast<int>(grid.replica());
    const auto spec = [&](const mpi::Communicator& group, Buffer& buffer) {
      return MessageSpec{
          .group = group, .data = buffer.data(), .size_bytes = kBytes, .peer = 1 - group.rank(), .tag = 0};
    };
    Messages exchange, along;
    exchange.push_back(
        transport->exchange({{.receives = {spec(grid.data(), of_replica)}, .sends = {spec(grid.data(), mine)}}}));
    along.push_back(stage == 0 ? transport->send(spec(grid.model(), mine))
                               : transport->receive(spec(grid.model(), of_stage)));
    transport->connect();
    streams::issue(device.stream(), [&] {
      *mine.floats() = static_cast<float>(world().rank());
      return true;
    });
    along.front()->start();
    exchange.front()->start();
    for (auto* messages : {&along, &exchange})
      for (auto& message : *messages) EXPECT_TRUE(message->test()) << "the host does not wait";
    device.synchronize();
    EXPECT_EQ(*of_replica.floats(), static_cast<float>(grid.world_rank(1 - replica, stage)));
    EXPECT_EQ(*of_stage.floats(), stage == 0 ? 0 : static_cast<float>(grid.world_rank(replica, 0)));
  }
}

// A first use waits for the other end: in a step each of two ranks could wait for what the other would do next.
TEST(Nccl, WhatAStepUsesWasUsedBeforeByConnect) {
  const int ranks = world().size(), me = world().rank();
  if (ranks == 1) GTEST_SKIP() << "nobody to wait for";
  emulation::set_gpu(me);
  cuda::CudaDevice device({});
  const auto transport = nccl::make_transport(one_pipeline(), device);
  Buffer values(device, 2 * ranks * kFloatBytes);
  ExchangePhase phase;
  const auto spec = [&](const mpi::Communicator& group, int at, int peer) {
    return MessageSpec{.group = group, .data = values.floats() + at, .size_bytes = kFloatBytes, .peer = peer, .tag = 1};
  };
  for (int r = 0; r < ranks; ++r) {
    if (r == me) continue;
    phase.receives.push_back(spec(world(), r, r));
    phase.sends.push_back(spec(world(), me, r));
  }
  Messages messages;
  messages.push_back(transport->exchange({phase}));
  messages.push_back(transport->reduce_scatter(
      {.group = world(), .data = values.floats(), .part = values.floats() + ranks, .part_count = 1}));
  if (me + 1 < ranks) messages.push_back(transport->send(spec(one_pipeline().model(), me, me + 1)));
  if (me > 0) messages.push_back(transport->receive(spec(one_pipeline().model(), ranks + 1, me - 1)));
  const int before = streams::first_uses_so_far();
  transport->connect();
  const int connected = streams::first_uses_so_far();
  EXPECT_GT(connected, before);
  for (const auto& message : messages) message->start();
  for (const auto& message : messages) EXPECT_TRUE(message->test());
  device.synchronize();
  EXPECT_EQ(streams::first_uses_so_far(), connected);
}

// Boundary b lies between virtual stages b and b + 1, on ranks b and b + 1 modulo the number of ranks; activations
// cross it forward, gradients back. Tags as the executor has them.
TEST(Nccl, AnInterleavedPipelineHasALinkForEachBoundaryAndDirection) {
  const int ranks = world().size(), me = world().rank();
  if (ranks == 1) GTEST_SKIP() << "a pipeline of one rank";
  constexpr int kChunks = 3;
  emulation::set_gpu(me);
  cuda::CudaDevice device({});
  const ProcessGrid& grid = one_pipeline();
  const auto transport = nccl::make_transport(grid, device);
  Buffer value(device, sizeof(float));
  const std::size_t before = streams::blocks_of_links_made().size();
  Messages messages;
  std::size_t num_mine = 0;
  const auto plan = [&](int from, int to, int tag) {
    if (me != from && me != to) return;
    const MessageSpec spec{.group = grid.model(),
                           .data = value.data(),
                           .size_bytes = sizeof(float),
                           .peer = me == from ? to : from,
                           .tag = tag};
    messages.push_back(me == from ? transport->send(spec) : transport->receive(spec));
    ++num_mine;
  };
  for (int boundary = 0; boundary + 1 < ranks * kChunks; ++boundary) {
    const int from = boundary % ranks, to = (boundary + 1) % ranks, chunk = boundary / ranks;
    plan(from, to, 2 * chunk);
    plan(to, from, 2 * chunk + 1);
  }
  transport->connect();
  const std::vector<int> made = streams::blocks_of_links_made();
  EXPECT_EQ(made.size() - before, num_mine);
  const bool is_at_an_end = me == 0 || me == ranks - 1;
  EXPECT_EQ(num_mine, 4U * kChunks - (is_at_an_end ? 2 : 0));
}

TEST(Nccl, LinksLeaveHalfOfTheMultiprocessorsToTheArithmetic) {
  for (const std::int64_t multiprocessors : {40, 108, 132}) {  // T4, A100, H200
    for (std::int64_t chunks = 1; chunks <= 6; ++chunks) {
      const std::int64_t in_pipeline = 4 * chunks, num_links = in_pipeline + 1;
      const nccl::LinkBlocks blocks = nccl::blocks_of_links(num_links, multiprocessors);
      const std::int64_t in_use = in_pipeline * blocks.pipeline + blocks.exchange;
      SCOPED_TRACE(fmt::format("{} multiprocessors, {} chunks", multiprocessors, chunks));
      EXPECT_LE(in_use, num_links <= multiprocessors / 4 ? multiprocessors / 2 : multiprocessors);
    }
  }
  EXPECT_EQ(nccl::blocks_of_links(5, 132).pipeline, 4) << "1f1b on an H200: as many as help";
}

TEST(Nccl, RefusesMoreLinksThanTheGpuHasQueues) {
  EXPECT_NO_THROW(nccl::check_num_links(28, 32));
  EXPECT_CONTAINS(message_of<RequestError>([] { nccl::check_num_links(29, 32); }), "smaller schedule.chunks");
  EXPECT_CONTAINS(message_of<RequestError>([] { nccl::check_num_links(5, 1); }), "CUDA_DEVICE_MAX_CONNECTIONS = 1");
}

TEST(Session, SetsTheQueuesOfAGpuToTheMaximumBeforeCudaStarts) {
  EXPECT_STREQ(std::getenv("CUDA_DEVICE_MAX_CONNECTIONS"), "32");
}

TEST(Nccl, ALostRankIsAnErrorOfProgressAndNotAWaitWithoutEnd) {
  if (world().size() == 1) GTEST_SKIP() << "needs a link";
  Rig rig = gpu_rig(By::kNccl, First::kOldest);
  EXPECT_EQ(differences_in_pipeline(rig, 1), 0);
  streams::set_links_broken(true);
  EXPECT_CONTAINS(message_of<Error>([&] { rig.transport().progress(); }), "remote process exited");
  streams::set_links_broken(false);
}

}  // namespace

}  // namespace convoy::test
