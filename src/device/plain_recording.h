/// A recording that records nothing: for devices without graphs, and where each operation is timed by itself.
#pragma once

#include "convoy/device/device.h"

namespace convoy {

class PlainRecording final : public Recording {
 public:
  void run(const std::function<void()>& issue) override { issue(); }
};

}  // namespace convoy
