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
  std::size_t layer = 0;  ///< of Cell::layers()
  LayerWork work = LayerWork::kForward;
  bool is_split = false;  ///< in a backward of two parts
  double seconds = 0;     ///< of one call
};

/// Watches a step to count its calls, then as many steps as it is given room for. No call of it waits.
class LayerRecorder final : public LayerWatch {
 public:
  explicit LayerRecorder(Device& device) : device_(device) {}

  void begin_cell(const Cell& cell) override;
  void end_layer(std::size_t layer, LayerWork work, bool is_split) override;

  /// The step that was watched so far is forgotten; from here on `num_steps` like it are recorded.
  void start(std::int64_t num_steps);
  /// Of all calls that were recorded, in order. Waits for the device.
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
