/// A mark on the device's stopwatch where a cell begins, and after each layer.
#include "step/layer_timer.h"

#include <algorithm>

namespace convoy {

void LayerTimer::begin_cell(const Cell& cell) {
  add({.cell = &cell});
}

void LayerTimer::end_layer(std::size_t layer, LayerWork work, bool is_split) {
  add({.layer = layer, .work = work, .is_split = is_split, .is_begin = false});
}

void LayerTimer::add(const Mark& mark) {
  const std::size_t number = num_marks_++;
  if (number >= marks_.size()) return;
  marks_[number] = mark;
  stopwatch_->mark(static_cast<std::int64_t>(number));
}

void LayerTimer::start(std::int64_t num_steps) {
  marks_.resize(num_marks_ * static_cast<std::size_t>(num_steps));
  stopwatch_ = device_.make_stopwatch(std::ssize(marks_));
  num_marks_ = 0;
}

std::vector<LayerTime> LayerTimer::read() {
  std::vector<LayerTime> times;
  if (stopwatch_ == nullptr) return times;
  const std::vector<double> seconds = stopwatch_->read(static_cast<std::int64_t>(std::min(num_marks_, marks_.size())));
  const Cell* cell = nullptr;
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    const Mark& mark = marks_[i];
    if (mark.is_begin) {
      cell = mark.cell;
    } else {
      times.push_back({.cell = cell,
                       .layer = mark.layer,
                       .work = mark.work,
                       .is_split = mark.is_split,
                       .seconds = seconds[i] - seconds[i - 1]});
    }
  }
  return times;
}

}  // namespace convoy
