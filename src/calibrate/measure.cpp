/// See measure.h.
#include "calibrate/measure.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "convoy/base/clock.h"
#include "convoy/comm/topology.h"
#include "convoy/device/device.h"
#include "convoy/ops/elementwise.h"

namespace convoy {

Repetitions repeat(const std::function<void()>& work) {
  constexpr int kWarmUps = 2, kRepetitions = 9;
  for (int i = 0; i < kWarmUps; ++i) work();
  std::vector<double> seconds;
  for (int i = 0; i < kRepetitions; ++i) {
    const double begin = now_seconds();
    work();
    seconds.push_back(std::max(now_seconds() - begin, kMinSeconds));
  }
  return judge_repetitions(seconds);
}

Steadiest measure_together(const mpi::Communicator& world, const NodeLoad& node, bool in_pairs, double max_spread,
                           const std::function<Repetitions()>& measure) {
  return measure_until_steady(max_spread, [&] {
    Repetitions mine;
    take_turns(world, node, in_pairs, [&] { mine = measure(); });
    // The same on all ranks, which all measure again or none.
    return Repetitions{.median_seconds = slowest(world, mine.median_seconds), .spread = slowest(world, mine.spread)};
  });
}

double slowest(const mpi::Communicator& world, double seconds) {
  return static_cast<double>(world.max(std::llround(seconds * 1e9))) * 1e-9;
}

void fill(ops::Backend& backend, DataType type, void* to, std::int64_t count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.01f * static_cast<float>(i * 37 % 101);
  const Buffer floats(backend.device(), count * kFloatBytes);
  backend.device().copy_to_device(floats.data(), values.data(), count * kFloatBytes);
  backend.elementwise().round_to(type, floats.floats(), to, count);
  backend.device().synchronize();
}

}  // namespace convoy
