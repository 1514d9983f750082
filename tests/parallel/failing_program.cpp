/// Tests that fail on one rank while the others wait for it: what mpi_main.cpp must turn into the end of the job.
#include <stdexcept>

#include <gtest/gtest.h>

#include "parallel/mpi_main.h"

namespace convoy {
namespace {

using test::world;

bool is_last() {
  return world().rank() == world().size() - 1;
}

TEST(OneRank, FailsACheckWhileOthersWait) {
  EXPECT_FALSE(is_last());
  world().barrier();
}

TEST(OneRank, ThrowsWhileOthersWait) {
  if (is_last()) throw std::runtime_error("thrown");
  world().barrier();
}

}  // namespace
}  // namespace convoy
