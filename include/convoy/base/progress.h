/// Lets long work that sends no message report its progress, so that the watchdog knows that this rank is not stuck.
/// The program has one listener: work deep inside a call needs no object to report progress.
#pragma once

#include <functional>
#include <utility>

namespace convoy {

/// The function that note_progress() calls; empty: none.
inline std::function<void()>& progress_listener() {
  static std::function<void()> listener;
  return listener;
}

/// Reports progress of this rank. The main thread calls it after each piece of long work (a file, a row). It takes
/// about ten nanoseconds.
inline void note_progress() {
  if (progress_listener()) progress_listener()();
}

/// Sets the function that note_progress() calls; an empty one removes it. Only the main thread may call this.
inline void set_progress_listener(std::function<void()> listener) {
  progress_listener() = std::move(listener);
}

}  // namespace convoy
