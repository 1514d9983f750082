/// What goes wrong in the thread is told to whoever waits for it.
#include "run/background_writer.h"

#include <exception>
#include <utility>

#include "convoy/base/clock.h"

#include "run/divergence.h"

namespace convoy {

namespace {

WriteResult result_of(const std::function<void()>& work) {
  const double start = now_seconds();
  WriteResult result;
  try {
    work();
  } catch (const DivergenceError& error) {
    result.failure = error.what();
    result.diverged = true;
  } catch (const std::exception& error) {  // a full disk, no memory: the training can go on
    result.failure = error.what();
  }
  result.seconds = now_seconds() - start;
  return result;
}

}  // namespace

void BackgroundWriter::start(std::function<void()> work) {
  is_done_ = false;
  thread_ = std::jthread([this, work = std::move(work)] {
    result_ = result_of(work);
    is_done_.store(true, std::memory_order_release);
  });
}

WriteResult BackgroundWriter::wait() {
  thread_.join();
  is_done_ = false;
  return std::exchange(result_, {});
}

}  // namespace convoy
