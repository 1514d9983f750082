/// Which signals ask for a stop, and which end the process.
#include "convoy/comm/stop_signals.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include <gtest/gtest.h>

namespace convoy {
namespace {

// Each death test is a process of its own: handlers and flags are global.
[[noreturn]] void leave() {
  std::_Exit(stop_is_requested() && !is_terminated() ? 75 : 1);
}

TEST(StopSignals, AnInterruptThatComesTwiceAtOnceIsOne) {
  const auto interrupted = [] {
    catch_stop_signals(/*says_so=*/true);
    for (int i = 0; i < 3; ++i) std::raise(SIGINT);
    leave();
  };
  EXPECT_EXIT(interrupted(), testing::ExitedWithCode(75), "");
}

TEST(StopSignals, ASecondInterruptEndsTheProcess) {
  const auto interrupted = [] {
    catch_stop_signals(/*says_so=*/true);
    std::raise(SIGINT);
    std::this_thread::sleep_for(std::chrono::milliseconds(1100));
    std::raise(SIGINT);
    leave();
  };
  EXPECT_EXIT(interrupted(), testing::KilledBySignal(SIGINT), "");
}

TEST(StopSignals, OthersMayBeRepeated) {
  const auto asked = [] {
    catch_stop_signals(/*says_so=*/true);
    for (int i = 0; i < 3; ++i) std::raise(SIGUSR1);
    leave();
  };
  EXPECT_EXIT(asked(), testing::ExitedWithCode(75), "^\nconvoy: asked to stop: [^\n]* after the next step[^\n]*\n$")
      << "said once";
}

TEST(StopSignals, AreAnsweredByTheRankThatIsToSaySo) {
  const auto asked = [] {
    catch_stop_signals(/*says_so=*/false);
    std::raise(SIGUSR1);
    leave();
  };
  EXPECT_EXIT(asked(), testing::ExitedWithCode(75), "^$");
}

}  // namespace
}  // namespace convoy
