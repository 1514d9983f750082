/// Groups of ranks are freed once, and never where another rank may not come to it.
#include <cstdint>
#include <stdexcept>

#include <gtest/gtest.h>
#include <mpi.h>

#include "convoy/comm/communicator.h"

#include "counting/calls.h"

namespace convoy::counting {

namespace {

class Groups : public testing::Test {
 protected:
  static std::int64_t freed() { return calls().freed_groups; }

  const mpi::Communicator world_ = simulated_world();

 private:
  static mpi::Communicator simulated_world() {
    simulate({.ranks = 2, .groups = {{0, 1}}});
    calls() = {};
    return mpi::Communicator(MPI_COMM_WORLD);
  }
};

class Listener final : public mpi::WaitListener {
  void begin_wait() override {}
  void end_wait() override {}
};

}  // namespace

TEST_F(Groups, AreFreedByTheirLastCopy) {
  Listener listener;
  {
    mpi::Communicator last;
    {
      const mpi::Communicator part = world_.split(0, 0), copy = part;
      last = copy.with(listener);
    }
    EXPECT_EQ(freed(), 0);
  }
  EXPECT_EQ(freed(), 1);
}

TEST_F(Groups, ThatWereNotSplitAreNotFreed) {
  { const mpi::Communicator copy = world_; }
  EXPECT_EQ(freed(), 0);
}

TEST_F(Groups, AreNotFreedAfterMpiHasEnded) {
  {
    const mpi::Communicator part = world_.split(0, 0);
    end_mpi();
  }
  EXPECT_EQ(freed(), 0);
}

// MPI_Comm_free may wait for all ranks of the group, and this one may be the only one that has failed.
TEST_F(Groups, AreLeftToTheEndOfMpiWhileAnExceptionUnwinds) {
  try {
    const mpi::Communicator part = world_.split(0, 0);
    throw std::runtime_error("a full disk");
  } catch (const std::runtime_error&) {
    EXPECT_EQ(freed(), 0);
  }
}

}  // namespace convoy::counting
