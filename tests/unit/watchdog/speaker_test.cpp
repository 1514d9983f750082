/// A terminal that takes nothing does not hold up the thread that has something to say.
#include "watchdog/speaker.h"

#include <future>
#include <string>

#include <gtest/gtest.h>

#include "convoy/base/clock.h"

namespace convoy {
namespace {

TEST(Speaker, PrintsInOrderBeforeItEnds) {
  std::string printed;
  {
    Speaker speaker([&](const std::string& text) { printed += text; });
    for (const char* text : {"a", "b", "c"}) speaker.say(text);
    speaker.finish();
    EXPECT_EQ(printed, "abc");
    speaker.say("d");
  }
  EXPECT_EQ(printed, "abcd");
}

TEST(Speaker, WaitsForNoPlaceThatTakesNothing) {
  std::promise<void> taken;
  const std::shared_future<void> is_taken = taken.get_future().share();
  Speaker speaker([is_taken](const std::string&) { is_taken.wait(); });
  const double start = now_seconds();
  speaker.say("a");
  speaker.say("b");
  EXPECT_LT(now_seconds() - start, 1);
  speaker.finish();
  EXPECT_GE(now_seconds() - start, 4.9);
  EXPECT_LT(now_seconds() - start, 10);
  taken.set_value();  // else its end would wait once more
}

}  // namespace
}  // namespace convoy
