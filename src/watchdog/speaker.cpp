/// The thread shares the texts with the speaker, which may end before it.
#include "watchdog/speaker.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "watchdog/process.h"

namespace convoy {

namespace {

constexpr std::chrono::seconds kPatience{5};

}  // namespace

struct Speaker::State {
  std::function<void(const std::string&)> print;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::string> texts;
  bool prints = false;  ///< a thread does

  void print_all() {
    std::unique_lock lock(mutex);
    while (!texts.empty()) {
      const std::string text = std::move(texts.front());
      texts.pop_front();
      lock.unlock();
      print(text);
      lock.lock();
    }
    prints = false;
    changed.notify_all();
  }
};

Speaker::Speaker(std::function<void(const std::string&)> print) : state_(std::make_shared<State>()) {
  state_->print = std::move(print);
}

void Speaker::say(std::string text) {
  {
    const std::lock_guard lock(state_->mutex);
    state_->texts.push_back(std::move(text));
    if (std::exchange(state_->prints, true)) return;
  }
  try {
    std::thread([state = state_] {
      block_signals();
      state->print_all();
    }).detach();
  } catch (const std::system_error&) {  // no more threads
    state_->print_all();
  }
}

void Speaker::finish() {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait_for(lock, kPatience, [this] { return !state_->prints; });
}

}  // namespace convoy
