/// Something to train on that is the same on every grid.
#pragma once

#include <cstdint>

#include "convoy/base/random.h"

#include "train/engine.h"

namespace convoy::test {

/// Images and labels by their place in the step, the same at every step: the loss falls fast.
class FixedBatch final : public BatchSource {
 public:
  FixedBatch(Engine& engine, std::uint64_t seed) : engine_(engine), spec_(engine.plan().spec()), seed_(seed) {}

  void load(std::string_view feature, std::int64_t micro_batch, void* to) override {
    if (feature == features::kImage) load_images(micro_batch, to);
    if (feature == features::kLabel) load_labels(micro_batch, static_cast<std::int32_t*>(to));
  }

 private:
  void load_images(std::int64_t micro_batch, void* x) {
    const std::int64_t count = spec_.batch.micro * spec_.network.image.count();
    const RandomKey key{.seed = seed_, .item = static_cast<std::uint64_t>(place_of(micro_batch))};
    const Buffer values(engine_.device(), count * kFloatBytes);
    for (std::int64_t i = 0; i < count; ++i)
      values.floats()[i] = static_cast<float>(random_normal(key, static_cast<std::uint64_t>(i)));
    engine_.operations().elementwise().round_to(spec_.network.type, values.floats(), x, count);
  }
  void load_labels(std::int64_t micro_batch, std::int32_t* labels) const {
    const std::int64_t first = place_of(micro_batch) * spec_.batch.micro;
    for (std::int64_t i = 0; i < spec_.batch.micro; ++i)
      labels[i] = static_cast<std::int32_t>((first + i) * 7 % spec_.network.num_classes);
  }
  std::int64_t place_of(std::int64_t micro_batch) const { return engine_.micro_batches().begin + micro_batch; }

  Engine& engine_;
  EngineSpec spec_;
  std::uint64_t seed_;
};

}  // namespace convoy::test
