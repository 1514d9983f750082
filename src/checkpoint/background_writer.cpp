/// Passes errors of the thread to the caller of wait().
#include "checkpoint/background_writer.h"

#include <utility>

#include "convoy/base/clock.h"

namespace convoy {

void BackgroundWriter::start(std::function<void()> work) {
  is_done_ = false;
  thread_ = std::jthread([this, work = std::move(work)] {
    const double start = now_seconds();
    try {
      work();
    } catch (...) {  // a full disk, no memory: the training can continue
      result_.error = std::current_exception();
    }
    result_.seconds = now_seconds() - start;
    is_done_.store(true, std::memory_order_release);
  });
}

WriteResult BackgroundWriter::wait() {
  thread_.join();
  is_done_ = false;
  return std::exchange(result_, {});
}

}  // namespace convoy
