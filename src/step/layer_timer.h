/// Measures how long each layer computes in a few training steps. It does not slow them down: memory is allocated
/// before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "convoy/device/device.h"
#include "convoy/model/cell.h"

namespace convoy {

/// The duration of one call of a layer.
struct LayerTime {
  const Cell* cell = nullptr;  ///< the cell that has the layer; the network owns it
  std::size_t layer = 0;       ///< index in Cell::layers()
  LayerWork work = LayerWork::kForward;
  /// Whether the call is a part of a backward that is split into data gradient and weight gradient.
  bool is_split = false;
  double seconds = 0;  ///< duration on the device
};

/// First counts the calls of one step. After start() it times as many steps as it has memory for. Only read() waits.
class LayerTimer final : public LayerObserver {
 public:
  explicit LayerTimer(Device& device) : device_(device) {}

  void begin_cell(const Cell& cell) override;
  void end_layer(std::size_t layer, LayerWork work, bool is_split) override;

  /// Makes room for `num_steps` steps, each with as many calls as were counted so far, and times from the next call on.
  void start(std::int64_t num_steps);
  /// Returns the times of all timed calls, in their order; empty before start(). Waits for the device.
  std::vector<LayerTime> read();

 private:
  /// A mark of the stopwatch: the begin of a cell's call, or the end of a layer's work.
  struct Mark {
    const Cell* cell = nullptr;
    std::size_t layer = 0;
    LayerWork work = LayerWork::kForward;
    bool is_split = false, is_begin = true;
  };
  void add(const Mark& mark);

  Device& device_;
  std::unique_ptr<Stopwatch> stopwatch_;  ///< null before start(): marks are only counted
  std::vector<Mark> marks_;
  std::size_t num_marks_ = 0;
};

}  // namespace convoy
