/// Fills memory with a pattern of numbers from 0 to 1, rounded to its type.
#include "calibrate/fill.h"

#include <vector>

#include "convoy/device/device.h"
#include "convoy/ops/elementwise.h"

namespace convoy {

void fill(ops::Backend& backend, DataType type, void* to, std::int64_t count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.01f * static_cast<float>(i * 37 % 101);
  const Buffer floats(backend.device(), count * kFloatBytes);
  backend.device().copy_to_device(floats.data(), values.data(), count * kFloatBytes);
  backend.elementwise().round_to(type, floats.floats(), to, count);
  backend.device().synchronize();
}

}  // namespace convoy
