/// Gives every rank the same sums, so that all stop after the same one.
#include "data/import_sums.h"

#include "convoy/base/clock.h"
#include "convoy/base/progress.h"

namespace convoy {

namespace {

constexpr double kIntervalSeconds = 0.1;

}  // namespace

ImportSums::ImportSums(const mpi::Communicator& group, const char* work, std::int64_t total, const ShowImport& show)
    : group_(group), work_(work), total_(total), show_(show), next_seconds_(now_seconds() + kIntervalSeconds) {}

void ImportSums::step(bool waits) {
  if (over_) return;
  if (!in_flight_) {
    if (now_seconds() < next_seconds_ && mine_.ended == 0) return;
    sent_ = {mine_.done, mine_.skipped, mine_.ended, mine_.failed};
    request_ = group_.start_sum(sent_, sums_);
    in_flight_ = true;
  }
  if (waits) request_.wait();
  if (!request_.test()) return;
  in_flight_ = false;
  next_seconds_ = now_seconds() + kIntervalSeconds;
  const auto [done, skipped, ended, failed] = sums_;
  over_ = failed > 0 || ended == group_.size();
  if (group_.rank() == 0) show_({work_, done, total_, skipped});
}

bool ImportSums::add(bool is_good) {
  ++mine_.done;
  if (!is_good) ++mine_.skipped;
  note_progress();
  step(/*waits=*/false);
  return !over_;
}

void ImportSums::end(bool failed) {
  mine_.ended = 1;
  mine_.failed = failed ? 1 : 0;
  while (!over_) step(/*waits=*/true);
}

}  // namespace convoy
