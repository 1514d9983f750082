/// Checkpoints to test with.
#pragma once

#include <cstdint>
#include <string>

#include "convoy/io/checkpoint.h"

namespace convoy::test {

inline io::NamedTensor make_tensor(const std::string& name, std::vector<std::int64_t> dims, float start) {
  io::NamedTensor tensor{name, std::move(dims), {}};
  std::int64_t count = 1;
  for (const std::int64_t dim : tensor.dims) count *= dim;
  for (std::int64_t i = 0; i < count; ++i) tensor.values.push_back(start + 0.25f * static_cast<float>(i));
  return tensor;
}

/// A checkpoint whose tensors are in the order of their names, as decoding gives them.
inline io::Checkpoint make_checkpoint(std::int64_t step = 1234) {
  io::Checkpoint checkpoint;
  checkpoint.state = {.step = step,
                      .samples = step * 64,
                      .seed = -7,
                      .batch_global = 64,
                      .batch_micro = 32,
                      .num_samples = 60'000,
                      .evaluated_step = 468,
                      .best_value = 0.1,
                      .best_step = 400,
                      .best_loss = 0.3,
                      .improved_step = 300,
                      .updates = step - 2,
                      .loss_scale = 32768,
                      .loss_scale_steps = 17,
                      .epoch = {{.loss = 1.0 / 3, .num_correct = 17, .num_samples = 40, .num_labels = 41},
                                {.loss = 2.0 / 3, .num_correct = 3, .num_samples = 42, .num_labels = 43}},
                      .loss_average = 0.7,
                      .loss_lowest = 2.0 / 3,
                      .loss_left_step = 1200,
                      .bad_steps = 5,
                      .bad_steps_in_row = 2,
                      .rollbacks = 1,
                      .rate_factor = 0.25};
  checkpoint.metadata = {.name = "resnet20",
                         .input = io::ImageInput{.shape = {28, 32, 3},
                                                 .resizes = true,
                                                 .short_side = 36,
                                                 .orients = true,
                                                 .normalizes = false,
                                                 .channel_mean = {0.1, 0.2, 0.7},
                                                 .channel_stddev = {0.3, 0, 1.0 / 3}},
                         .class_names = {"cat", "", "sea horse"}};
  checkpoint.model = {make_tensor("conv1.weight", {8, 3, 3, 3}, -5), make_tensor("fc.bias", {10}, 1),
                      make_tensor("fc.weight", {10, 8}, 2), make_tensor("layer1.0.bn1.running_mean", {8}, 3)};
  checkpoint.counters = {{"layer1.0.bn1.num_batches_tracked", step - 9}};
  checkpoint.ema = {make_tensor("conv1.weight", {8, 3, 3, 3}, -4), make_tensor("layer1.0.bn1.running_mean", {8}, 2)};
  checkpoint.optimizer["momentum"] = {make_tensor("conv1.weight", {8, 3, 3, 3}, 9), make_tensor("fc.bias", {10}, 8)};
  checkpoint.optimizer["variance"] = {};
  checkpoint.parameters = "[batch]\nglobal = 64\n";
  return checkpoint;
}

}  // namespace convoy::test
