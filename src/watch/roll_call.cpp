/// Chains of waits are followed to ranks that wait for nobody.
#include "watch/roll_call.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace convoy {

namespace {

bool waits_for_previous_stage(Op op) {
  return op == Op::kRecvActivation;
}

// A forward may wait until the output before it has been sent: the next stage has not taken it.
bool waits_for_next_stage(Op op) {
  return op == Op::kRecvGradient || op == Op::kForward;
}

bool waits_for_replicas(Op op) {
  return op == Op::kReduceBucket || op == Op::kFoldBucket || op == Op::kUpdateBucket || op == Op::kGatherBucket;
}

// The least advanced first.
bool is_behind(const RankStatus& a, const RankStatus& b) {
  return a.step != b.step ? a.step < b.step : a.num_events < b.num_events;
}

const RankReport& report_of(int rank, const std::vector<RankReport>& all) {
  return *std::find_if(all.begin(), all.end(), [rank](const RankReport& report) { return report.rank == rank; });
}

// Of a chain: how many waits there are between a rank and one that waits for nobody. A ring of waits ends where it
// began.
std::size_t distance_to_culprit(const RankReport& report, const std::vector<RankReport>& all) {
  const RankReport* at = &report;
  for (std::size_t distance = 0; distance < all.size(); ++distance) {
    const std::vector<int> awaited = awaited_ranks(*at, all);
    if (awaited.empty()) return distance;
    const RankReport* furthest_behind = &report_of(awaited.front(), all);
    for (const int rank : awaited) {
      const RankReport& candidate = report_of(rank, all);
      const bool is_silent = candidate.reach != Reach::kAnswers,
                 other_is_silent = furthest_behind->reach != Reach::kAnswers;
      if (is_silent != other_is_silent ? is_silent : is_behind(candidate.status, furthest_behind->status))
        furthest_behind = &candidate;
    }
    at = furthest_behind;
  }
  return all.size();
}

const char* describe(Reach reach) {
  switch (reach) {
    case Reach::kAnswers:
      return "answers";
    case Reach::kEnded:
      return "has ended: its process is gone";
    case Reach::kStopped:
      return "does not run: its process was stopped (SIGSTOP); kill -CONT lets it go on";
    case Reach::kTraced:
      return "does not run: a debugger holds its process";
    case Reach::kSilent:
      return "does not answer, though its host does: stopped, swapped out, or without a processor";
    case Reach::kUnreachable:
      return "cannot be reached: its host is down, or the network to it";
  }
  return "";
}

const char* describe(Activity activity) {
  switch (activity) {
    case Activity::kStarting:
      return "starts";
    case Activity::kTraining:
      return "trains";
    case Activity::kEvaluating:
      return "evaluates";
    case Activity::kSaving:
      return "saves a checkpoint";
    case Activity::kEnding:
      return "ends";
  }
  return "";
}

std::string describe_awaited(const std::vector<int>& ranks, std::size_t num_others) {
  if (ranks.size() == num_others && num_others > 1) return "all other ranks";
  return fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", fmt::join(ranks, ", "));
}

}  // namespace

std::vector<int> awaited_ranks(const RankReport& report, const std::vector<RankReport>& all) {
  std::vector<int> ranks;
  if (report.reach != Reach::kAnswers || report.status.wait != Wait::kRanks) return ranks;
  const Op op = report.status.instruction.op;
  std::int64_t num_stages = 0;
  for (const RankReport& other : all) num_stages = std::max(num_stages, other.stage + 1);
  const std::int64_t before = (report.stage + num_stages - 1) % num_stages, after = (report.stage + 1) % num_stages;
  for (const RankReport& other : all) {
    if (other.rank == report.rank) continue;
    const bool same_replica = other.replica == report.replica, same_stage = other.stage == report.stage;
    const bool awaited = waits_for_previous_stage(op) ? same_replica && other.stage == before
                         : waits_for_next_stage(op)   ? same_replica && other.stage == after
                         : is_backward(op)            ? same_replica && other.stage == before
                         : waits_for_replicas(op)     ? same_stage
                                                      : true;
    if (awaited) ranks.push_back(other.rank);
  }
  return ranks;
}

std::vector<std::size_t> culprits_first(const std::vector<RankReport>& reports) {
  std::vector<std::size_t> order(reports.size()), distance;
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (const RankReport& report : reports) distance.push_back(distance_to_culprit(report, reports));
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const bool a_answers = reports[a].reach == Reach::kAnswers, b_answers = reports[b].reach == Reach::kAnswers;
    if (a_answers != b_answers) return b_answers;
    if (distance[a] != distance[b]) return distance[a] < distance[b];
    return reports[a].status.standing_seconds > reports[b].status.standing_seconds;
  });
  return order;
}

std::string describe(const RankReport& report, const std::vector<RankReport>& all) {
  const RankStatus& status = report.status;
  const std::string where = status.activity == Activity::kTraining && status.step > 0
                                ? fmt::format("{} of step {}", to_string(status.instruction), status.step)
                                : describe(status.activity);
  if (report.reach != Reach::kAnswers) return fmt::format("{}; last known: {}", describe(report.reach), where);
  switch (status.wait) {
    case Wait::kRanks:
      return fmt::format("{}: waits for {}", where, describe_awaited(awaited_ranks(report, all), all.size() - 1));
    case Wait::kSamples:
      return fmt::format("{}: waits for its samples to be read", where);
    case Wait::kDevice:
      return fmt::format("{}: waits for its device", where);
    case Wait::kNothing:
      break;
  }
  return fmt::format("{}: computes", where);
}

std::string roll_call_table(const std::vector<RankReport>& reports) {
  std::string text = fmt::format("{:>6}  {:<16}  {:>7}  {:>5}  {:>9}  {}\n", "rank", "host", "replica", "stage",
                                 "since, s", "what it does");
  for (const std::size_t i : culprits_first(reports)) {
    const RankReport& report = reports[i];
    text += fmt::format("{:>6}  {:<16}  {:>7}  {:>5}  {:>9.1f}  {}\n", report.rank, report.host, report.replica,
                        report.stage, report.status.standing_seconds, describe(report, reports));
  }
  return text;
}

}  // namespace convoy
