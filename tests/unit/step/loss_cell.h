/// One call of a cell that ends in the scores of a linear layer's loss, with the memory that it needs.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "convoy/model/cell.h"

#include "unit/ops/op_test.h"

namespace convoy {

/// Parameters w and b as they lie in an arena.
inline Array in_arena(Array w, const Array& b) {
  w.resize(index(round_up(std::ssize(w), 16)));
  w.insert(w.end(), b.begin(), b.end());
  w.resize(index(round_up(std::ssize(w), 16)));
  return w;
}

/// The cell's memory, and what is in it. The cell reads x and one feature of 32-bit values.
struct LossCellCall {
  template <typename Value>
  LossCellCall(ops::Backend& of_backend, std::unique_ptr<Cell> of, const Array& x, const Array& parameters,
               const std::vector<Value>& feature)
      : backend(of_backend),
        cell(std::move(of)),
        x_array(backend, x, cell->x().type),
        masters(backend, parameters),
        copies(backend, parameters, cell->x().type),
        y(backend, cell->y().shape.count()),
        dy(backend, cell->y().shape.count()),
        dx(backend, std::ssize(x), cell->x().type),
        gradients(backend, std::ssize(parameters)),
        features(backend.device(), cell->memory().feature_bytes()),
        scratch(backend.device(), cell->memory().scratch_bytes()),
        stored(backend.device(), cell->memory().weight_gradient_input_bytes()),
        activations(backend.device(), cell->memory().activation_bytes()),
        statistics(backend.device(), cell->memory().statistic_bytes()) {
    cell->create_ops(backend);
    backend.device().copy_to_device(features.data(), feature.data(),
                                    std::ssize(feature) * static_cast<std::int64_t>(sizeof(Value)));
    const DataType type = cell->x().type;
    frame = {.x = x_array.data(),
             .y = y.data(),
             .dy = dy.data(),
             .dx = dx.data(),
             .activations = activations.data(),
             .statistics = statistics.data(),
             .features = features.data(),
             .scratch = scratch.data(),
             .parameters = masters,
             .weights = {.data = type == DataType::kFloat32 ? masters.data() : copies.data(), .type = type},
             .gradients = gradients};
  }

  /// Sets the gradient with respect to the loss of each sample.
  void set_dy(const Array& dloss) const {
    std::vector<float> floats;
    for (const double value : dloss) floats.insert(floats.end(), {static_cast<float>(value), 0.0f, 0.0f});
    backend.device().copy_to_device(dy.data(), floats.data(), std::ssize(floats) * kFloatBytes);
  }
  /// Returns `count` gradients of parameters, from `begin` on.
  Array gradient(std::size_t begin, std::int64_t count) const {
    const Array all = gradients.doubles();
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(begin);
    return {first, first + count};
  }

  ops::Backend& backend;
  std::unique_ptr<Cell> cell;
  DeviceArray x_array, masters, copies, y, dy, dx, gradients;
  Buffer features, scratch, stored, activations, statistics;
  Frame frame;
};

}  // namespace convoy
