/// Prints texts in a thread of its own, so that the caller never waits for the output.
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace convoy {

/// Prints texts for threads that must not block: writing can block if the terminal was stopped, or if a file system
/// does not answer.
class Speaker {
 public:
  /// `print` prints a text. It is called in another thread, which continues after the end of the speaker if printing
  /// takes longer than finish() waits. So `print` must not refer to anything that ends with the speaker.
  explicit Speaker(std::function<void(const std::string&)> print);
  ~Speaker() { finish(); }
  Speaker(const Speaker&) = delete;
  Speaker& operator=(const Speaker&) = delete;

  /// Queues a text to be printed. Does not wait, unless the system can start no thread: then it prints the text itself.
  void say(std::string text);
  /// Waits until all texts are printed, but at most five seconds.
  void finish();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace convoy
