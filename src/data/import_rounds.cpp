/// Every rank sees the same sums of the same rounds, so all stop after the same one.
#include "data/import_rounds.h"

#include <utility>

#include "convoy/base/clock.h"

namespace convoy {

namespace {

constexpr double kRoundSeconds = 0.1;

}  // namespace

ImportRounds::ImportRounds(const mpi::Communicator& group, std::function<void(const ImportCounts&)> show)
    : group_(group), show_(std::move(show)), next_seconds_(now_seconds() + kRoundSeconds) {}

void ImportRounds::step() {
  if (over_) return;
  if (!under_way_) {
    if (now_seconds() < next_seconds_ && mine_.ended == 0) return;
    sent_ = {mine_.done, mine_.skipped, mine_.ended, mine_.failed};
    round_ = group_.start_sum(sent_, sums_);
    under_way_ = true;
  }
  if (!round_.test()) return;
  under_way_ = false;
  next_seconds_ = now_seconds() + kRoundSeconds;
  const State all{sums_[0], sums_[1], sums_[2], sums_[3]};
  over_ = all.failed > 0 || all.ended == group_.size();
  if (group_.rank() == 0) show_({all.done, all.skipped});
}

bool ImportRounds::pulse(const ImportCounts& mine) {
  mine_.done = mine.done;
  mine_.skipped = mine.skipped;
  step();
  return !over_;
}

void ImportRounds::end(const ImportCounts& mine, bool failed) {
  mine_ = {mine.done, mine.skipped, 1, failed ? 1 : 0};
  for (mpi::Backoff backoff; !over_; backoff.pause()) step();
}

}  // namespace convoy
