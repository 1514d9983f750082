/// The stopwatch of devices whose work is done when it has been issued: the host's clock.
#pragma once

#include <vector>

#include "convoy/base/clock.h"
#include "convoy/device/device.h"

namespace convoy {

class HostStopwatch final : public Stopwatch {
 public:
  explicit HostStopwatch(std::int64_t num_marks) : seconds_(static_cast<std::size_t>(num_marks)) {}

  void mark(std::int64_t number) override { seconds_[static_cast<std::size_t>(number)] = now_seconds(); }
  std::vector<double> read(std::int64_t num_marks) override { return {seconds_.begin(), seconds_.begin() + num_marks}; }

 private:
  std::vector<double> seconds_;
};

}  // namespace convoy
