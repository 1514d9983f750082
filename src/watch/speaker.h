/// Has texts printed by a thread of its own.
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace convoy {

/// For threads that must not be held up by what takes the texts: a terminal that was stopped, or a file system that
/// does not answer, takes none.
class Speaker {
 public:
  explicit Speaker(std::function<void(const std::string&)> print);
  /// Waits as finish() does.
  ~Speaker();
  Speaker(const Speaker&) = delete;
  Speaker& operator=(const Speaker&) = delete;

  void say(std::string text);
  /// Waits until all texts are printed, at most five seconds.
  void finish();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace convoy
