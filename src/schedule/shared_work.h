/// Simulates the work of stages that share the cores of a processor: all stages that compute at the same time get equal
/// parts of the cores (processor sharing).
#pragma once

#include <cstddef>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace convoy::schedule {

/// The work of a group of stages that share cores, in simulated time. The times given to its functions must not
/// decrease.
class SharedWork {
 public:
  /// If n > stages_at_once stages compute at the same time, each runs at stages_at_once / n of its full speed, as in
  /// SharedCores.
  explicit SharedWork(double stages_at_once) : stages_at_once_(stages_at_once) {}

  /// At the simulated time `now`, the idle stage `stage` begins work that takes `seconds` at full speed.
  void begin(std::size_t stage, double seconds, double now);
  /// Returns the simulated time at which the next stage finishes its work, if no other begins before that; infinity if
  /// no stage works.
  double next_end() const;
  /// Advances the simulated time to next_end(). Returns the stage that finishes at this time; it is idle afterwards.
  std::size_t end_next();

 private:
  /// Returns the speed of each stage that works, as a share of its full speed.
  double rate() const;
  void advance_to(double now);

  using End = std::pair<double, std::size_t>;  ///< the value that given_ will have at the end of the work; the stage

  double stages_at_once_;
  double now_ = 0;
  double given_ = 0;  ///< work, in seconds at full speed, that a stage would have done if it had worked all the time
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
};

}  // namespace convoy::schedule
