/// Lets long work that sends no message report its progress, so that the watchdog knows that this rank is not stuck.
#pragma once

#include <functional>

namespace convoy {

/// Reports progress of this rank. The main thread calls it after each piece of long work (a file, a row). It takes
/// about ten nanoseconds.
void note_progress();

/// Sets the function that note_progress() calls; an empty one removes it. Only the main thread may call this.
void set_progress_listener(std::function<void()> listener);

}  // namespace convoy
