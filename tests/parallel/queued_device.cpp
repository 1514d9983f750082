/// Work runs in order; copies run in whatever order is allowed, here the newest first.
#include "parallel/queued_device.h"

#include <cstdlib>
#include <cstring>
#include <utility>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"

namespace convoy::test {

namespace {

class DirectWork final : public RepeatedWork {
 public:
  void run(const std::function<void()>& issue) override { issue(); }
};

}  // namespace

class QueuedLane final : public CopyLane {
 public:
  explicit QueuedLane(QueuedDevice& device) : device_(device) {}

  void mark() override {
    if (device_.spec_.marks) marked_ = device_.num_issued_;
  }
  void start_to_host(void* host, const void* device, std::int64_t size_bytes) override {
    start(host, device, size_bytes);
  }
  void start_to_device(void* device, const void* host, std::int64_t size_bytes) override {
    start(device, host, size_bytes);
  }
  bool done() override { return copy_ == nullptr || copy_->ended; }
  void join() override {
    if (!device_.spec_.joins || copy_ == nullptr) return;
    device_.work_.push_back({.work = nullptr, .copy = copy_});
    ++device_.num_issued_;
  }

 private:
  void start(void* to, const void* from, std::int64_t size_bytes) {
    if (!done()) fail("a copy was started on a lane whose last one had not ended");
    copy_ = std::make_shared<QueuedDevice::Copy>(QueuedDevice::Copy{to, from, size_bytes, marked_});
    device_.copies_.push_back(copy_);
  }

  QueuedDevice& device_;
  std::shared_ptr<QueuedDevice::Copy> copy_;
  std::int64_t marked_ = 0;
};

class QueuedStopwatch final : public Stopwatch {
 public:
  QueuedStopwatch(QueuedDevice& device, std::int64_t num_marks)
      : device_(device), seconds_(static_cast<std::size_t>(num_marks)) {}

  void mark(std::int64_t number) override {
    device_.issue([time = &seconds_[static_cast<std::size_t>(number)]] { *time = now_seconds(); });
  }
  std::vector<double> read(std::int64_t num_marks) override {
    device_.synchronize();
    return {seconds_.begin(), seconds_.begin() + num_marks};
  }

 private:
  QueuedDevice& device_;
  std::vector<double> seconds_;
};

void QueuedDevice::issue(std::function<void()> work) {
  work_.push_back({.work = std::move(work), .copy = nullptr});
  ++num_issued_;
}

bool QueuedDevice::on_progress() {
  if (spec_.first == First::kCopies) return run_a_copy() || run_work();
  return run_work() || run_a_copy();
}

bool QueuedDevice::run_a_copy() {
  for (std::size_t i = copies_.size(); i-- > 0;) {
    Copy& copy = *copies_[i];
    if (copy.after > num_done_) continue;
    std::memcpy(copy.to, copy.from, static_cast<std::size_t>(copy.size_bytes));
    copy.ended = true;
    copies_.erase(copies_.begin() + static_cast<std::ptrdiff_t>(i));
    return true;
  }
  return false;
}

bool QueuedDevice::run_work() {
  if (work_.empty() || (work_.front().copy != nullptr && !work_.front().copy->ended)) return false;
  const Item item = std::move(work_.front());
  work_.pop_front();
  ++num_done_;
  if (item.work) item.work();
  return true;
}

void* QueuedDevice::allocate_host(std::int64_t size_bytes) {
  allocated_bytes_ += size_bytes;
  return std::calloc(static_cast<std::size_t>(size_bytes), 1);
}

void QueuedDevice::release_host(void* data, std::int64_t size_bytes) noexcept {
  allocated_bytes_ -= size_bytes;
  std::free(data);
}

void QueuedDevice::copy_to_device(void* device, const void* host, std::int64_t size_bytes) {
  synchronize();
  std::memcpy(device, host, static_cast<std::size_t>(size_bytes));
}

void QueuedDevice::copy_to_host(void* host, const void* device, std::int64_t size_bytes) {
  copy_to_device(host, device, size_bytes);
}

std::unique_ptr<CopyLane> QueuedDevice::make_copy_lane() {
  return std::make_unique<QueuedLane>(*this);
}

std::unique_ptr<Stopwatch> QueuedDevice::make_stopwatch(std::int64_t num_marks) {
  return std::make_unique<QueuedStopwatch>(*this, num_marks);
}

std::unique_ptr<RepeatedWork> QueuedDevice::make_repeated_work() {
  return std::make_unique<DirectWork>();
}

void QueuedDevice::synchronize() {
  while (!work_.empty()) {
    if (!on_progress()) fail("work waits for a copy that waits for it");
  }
}

}  // namespace convoy::test
