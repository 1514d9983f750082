/// A device whose work and copies wait in queues until on_progress() runs them: what code on top of it forgets to order
/// happens in the wrong order, every time.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "convoy/device/device.h"

namespace convoy::test {

/// What runs first if both could.
enum class First {
  kCopies,  ///< finds the copy that does not wait for the work before it: mark() was forgotten
  kWork,    ///< finds the work that does not wait for the copy before it: join() was forgotten
};

struct QueuedDeviceSpec {
  First first = First::kCopies;
  // Broken lanes, to show that tests on this device find what they should.
  bool marks = true;
  bool joins = true;
};

class QueuedDevice final : public Device {
 public:
  explicit QueuedDevice(const QueuedDeviceSpec& spec) : spec_(spec) {}

  void issue(std::function<void()> work);
  /// Runs one piece of work or one copy, the newest of those that may run; false if none may.
  bool on_progress();

  std::string description() const override { return "queues"; }
  bool is_host() const override { return false; }
  void* allocate(std::int64_t size_bytes) override { return allocate_host(size_bytes); }
  void release(void* data, std::int64_t size_bytes) noexcept override { release_host(data, size_bytes); }
  void* allocate_host(std::int64_t size_bytes) override;
  void release_host(void* data, std::int64_t size_bytes) noexcept override;
  void copy_to_device(void* device, const void* host, std::int64_t size_bytes) override;
  void copy_to_host(void* host, const void* device, std::int64_t size_bytes) override;
  std::unique_ptr<CopyLane> make_copy_lane() override;
  std::unique_ptr<RepeatedWork> make_repeated_work() override;
  std::unique_ptr<Stopwatch> make_stopwatch(std::int64_t num_marks) override;
  void synchronize() override;
  bool idle() override { return work_.empty(); }

 private:
  friend class QueuedLane;

  struct Copy {
    void* to = nullptr;
    const void* from = nullptr;
    std::int64_t size_bytes = 0;
    std::int64_t after = 0;  ///< number of pieces of work that it waits for, from the beginning
    bool ended = false;
  };
  /// A piece of work, or the wait for a copy.
  struct Item {
    std::function<void()> work;
    std::shared_ptr<Copy> copy;
  };

  bool run_a_copy();
  bool run_work();

  QueuedDeviceSpec spec_;
  std::deque<Item> work_;
  std::vector<std::shared_ptr<Copy>> copies_;
  std::int64_t num_issued_ = 0, num_done_ = 0;
};

}  // namespace convoy::test
