/// Records how long each layer's work of a few steps took, without slowing them down: memory is allocated before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "convoy/device/device.h"
#include "convoy/model/cell.h"

namespace convoy {

struct LayerTime {
  const Cell* cell = nullptr;
  std::size_t layer = 0;  ///< index in Cell::layers()
  LayerWork work = LayerWork::kForward;
  bool is_split = false;  ///< whether it is a part of a backward in two parts
  double seconds = 0;     ///< duration of one call
};

/// Watches one step to count its calls, then records as many steps as it has room for. None of its calls waits, except
/// read().
class LayerRecorder final : public LayerWatch {
 public:
  explicit LayerRecorder(Device& device) : device_(device) {}

  void begin_cell(const Cell& cell) override;
  void end_layer(std::size_t layer, LayerWork work, bool is_split) override;

  /// Forgets the step that was watched so far, and records the next `num_steps` steps, which have the same calls.
  void start(std::int64_t num_steps);
  /// Returns the times of all calls that were recorded, in order. Waits for the device.
  std::vector<LayerTime> read();

 private:
  struct Mark {
    const Cell* cell = nullptr;
    std::size_t layer = 0;
    LayerWork work = LayerWork::kForward;
    bool is_split = false, is_begin = true;
  };
  void add(const Mark& mark);

  Device& device_;
  std::unique_ptr<Stopwatch> stopwatch_;  ///< null: marks are only counted
  std::vector<Mark> marks_;
  std::size_t num_marks_ = 0;
};

}  // namespace convoy
