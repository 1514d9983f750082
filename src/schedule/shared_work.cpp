/// All active stages get equal parts of the cores, so one clock that runs at their rate is enough for all of them.
#include "schedule/shared_work.h"

#include <algorithm>
#include <limits>

namespace convoy::schedule {

double SharedWork::rate() const {
  return std::min(1.0, stages_at_once_ / static_cast<double>(ends_.size()));
}

void SharedWork::advance_to(double now) {
  if (!ends_.empty()) given_ += (now - now_) * rate();
  now_ = now;
}

void SharedWork::begin(std::size_t stage, double seconds, double now) {
  advance_to(now);
  ends_.emplace(given_ + seconds, stage);
}

double SharedWork::next_end() const {
  if (ends_.empty()) return std::numeric_limits<double>::infinity();
  return now_ + std::max(0.0, ends_.top().first - given_) / rate();
}

std::size_t SharedWork::end_next() {
  now_ = next_end();
  const auto [given, stage] = ends_.top();
  given_ = given;  // exact, unlike a sum of rounded products
  ends_.pop();
  return stage;
}

}  // namespace convoy::schedule
