/// Long work that sends no message reports its progress here, so that the watchdog knows that it is not stuck.
#pragma once

#include <functional>

namespace convoy {

/// Reports progress. The main thread calls this after each piece of long work (a file, a row). It costs some ten
/// nanoseconds.
void note_progress();

/// Sets the function that note_progress() calls; an empty one removes it. Only the main thread may call this.
void set_progress_listener(std::function<void()> listener);

}  // namespace convoy
