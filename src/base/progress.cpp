/// The program has one listener: work deep inside a call needs no object to report progress.
#include "convoy/base/progress.h"

#include <utility>

namespace convoy {

namespace {

std::function<void()>& listener() {
  static std::function<void()> instance;
  return instance;
}

}  // namespace

void note_progress() {
  if (listener()) listener()();
}

void set_progress_listener(std::function<void()> new_listener) {
  listener() = std::move(new_listener);
}

}  // namespace convoy
