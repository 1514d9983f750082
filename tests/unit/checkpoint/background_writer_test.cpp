/// Work in another thread: its results are seen after wait(), and its errors are thrown there.
#include "checkpoint/background_writer.h"

#include <atomic>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace convoy {
namespace {

TEST(BackgroundWriter, GivesWhatItsWorkHasDoneToWhoeverWaits) {
  BackgroundWriter writer;
  EXPECT_FALSE(writer.is_busy());
  std::vector<int> written;
  for (int i = 0; i < 100; ++i) {
    writer.start([&written, i] { written.push_back(i); });
    EXPECT_TRUE(writer.is_busy());
    if (i % 2 == 0)
      while (!writer.is_done()) std::this_thread::yield();
    const WriteResult result = writer.wait();
    EXPECT_EQ(result.error, nullptr);
    EXPECT_GE(result.seconds, 0);
    EXPECT_FALSE(writer.is_busy());
    EXPECT_EQ(written.back(), i);
  }
}

TEST(BackgroundWriter, IsBusyUntilSomebodyHasWaited) {
  BackgroundWriter writer;
  std::atomic<bool> may_end = false;
  writer.start([&may_end] {
    while (!may_end) std::this_thread::yield();
  });
  EXPECT_FALSE(writer.is_done());
  may_end = true;
  while (!writer.is_done()) std::this_thread::yield();
  EXPECT_TRUE(writer.is_busy());
  writer.wait();
  EXPECT_FALSE(writer.is_busy());
}

TEST(BackgroundWriter, HandsAnErrorOverOnce) {
  BackgroundWriter writer;
  writer.start([] { throw std::runtime_error("the disk is full"); });
  const WriteResult failed = writer.wait();
  ASSERT_NE(failed.error, nullptr);
  try {
    std::rethrow_exception(failed.error);
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(std::string(error.what()), "the disk is full");
  }
  writer.start([] {});
  EXPECT_EQ(writer.wait().error, nullptr);
}

TEST(BackgroundWriter, DestroyedWaitsForTheEnd) {
  int done = 0;
  {
    BackgroundWriter writer;
    writer.start([&done] { done = 1; });
  }
  EXPECT_EQ(done, 1);
}

}  // namespace
}  // namespace convoy
