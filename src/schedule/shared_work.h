/// The work of stages that share cores: all stages that compute get equal parts of the cores (processor sharing).
#pragma once

#include <cstddef>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace convoy::schedule {

/// The work of one group of stages in simulated time, which never runs back.
class SharedWork {
 public:
  /// `stages_at_once` has the same meaning as in SharedCores.
  explicit SharedWork(double stages_at_once) : stages_at_once_(stages_at_once) {}

  /// Lets a stage that was idle begin work that takes `seconds` at full speed.
  void begin(std::size_t stage, double seconds, double now);
  /// Returns when the next stage finishes its work, unless others begin before that; infinity if no stage works.
  double next_end() const;
  /// Advances the time to next_end(). Returns the stage that finishes then; it is idle from now on.
  std::size_t end_next();

 private:
  /// Returns the share of its full speed at which each active stage works.
  double rate() const;
  void advance_to(double now);

  using End = std::pair<double, std::size_t>;  ///< the value of given_ at the end of the work; the stage

  double stages_at_once_;
  double now_ = 0;
  double given_ = 0;  ///< work, in seconds at full speed, of a stage that had been active all the time
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
};

}  // namespace convoy::schedule
