/// How work of minutes that sends no message lets the watchdog know that it goes on.
#pragma once

#include <functional>

namespace convoy {

/// Called after each piece of such work (a file, a row), by the main thread. Costs some ten nanoseconds.
void note_progress();

/// Hears of progress from here on; an empty one ends that. Called by the main thread.
void set_progress_listener(std::function<void()> listener);

}  // namespace convoy
