/// Work of stages that share cores: all that compute get equal parts of them (processor sharing).
#pragma once

#include <cstddef>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace convoy::schedule {

/// In simulated time, which never runs back.
class SharedWork {
 public:
  /// `stages_at_once`: as SharedCores has it.
  explicit SharedWork(double stages_at_once) : stages_at_once_(stages_at_once) {}

  /// That stage, which was idle, begins work that takes it `seconds` at full speed.
  void begin(std::size_t stage, double seconds, double now);
  /// When the next stage has done its work, unless others begin before; infinity where none works.
  double next_end() const;
  /// At next_end(): that stage, which is idle from now on.
  std::size_t end_next();

 private:
  /// Of full speed.
  double rate() const;
  void advance_to(double now);

  using End = std::pair<double, std::size_t>;  ///< what its stage will have been given then; the stage

  double stages_at_once_;
  double now_ = 0;
  double given_ = 0;  ///< seconds at full speed that each stage would have been given, had it always worked
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
};

}  // namespace convoy::schedule
