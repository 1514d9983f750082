/// Follows chains of waits to ranks that wait for no other.
#include "watchdog/roll_call.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <tuple>
#include <utility>

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

bool is_silent(const RankReport& report) {
  return report.reach != Reach::kAnswers && report.reach != Reach::kLeft;
}

// Whether rank `a`, which others wait for, is more likely the reason than rank `b`. What counts, in this order: it does
// not answer; it waits for no rank; it has not left; it is at an earlier step; it has stood still for longer.
bool is_likelier(const RankReport& a, const RankReport& b) {
  const auto key = [](const RankReport& report) {
    const RankStatus& status = report.status;
    return std::tuple(!is_silent(report), status.wait == Wait::kRanks, report.reach == Reach::kLeft, status.step,
                      -status.standing_seconds);
  };
  return key(a) < key(b);
}

const RankReport& report_of(int rank, const std::vector<RankReport>& all) {
  return *std::find_if(all.begin(), all.end(), [rank](const RankReport& report) { return report.rank == rank; });
}

// The likeliest reason among the ranks that this one waits for; nullptr if it waits for none.
const RankReport* likeliest_awaited(const RankReport& report, const std::vector<RankReport>& all) {
  const RankReport* likeliest = nullptr;
  for (const int rank : awaited_ranks(report, all))
    if (const RankReport& candidate = report_of(rank, all); likeliest == nullptr || is_likelier(candidate, *likeliest))
      likeliest = &candidate;
  return likeliest;
}

// Number of waits in the chain from this rank to one that waits for none. A ring of waits has no such end.
std::size_t distance_to_culprit(const RankReport& report, const std::vector<RankReport>& all) {
  const RankReport* at = &report;
  for (std::size_t distance = 0; distance < all.size(); ++distance) {
    at = likeliest_awaited(*at, all);
    if (at == nullptr) return distance;
  }
  return all.size();
}

const char* describe(Activity activity) {
  constexpr std::array kTexts = {"starts", "imports",   "opens its data",     "chooses its layout",
                                 "trains", "evaluates", "saves a checkpoint", "has done its work and ends"};
  static_assert(kTexts.size() == static_cast<std::size_t>(Activity::kEnding) + 1);
  return kTexts[static_cast<std::size_t>(activity)];
}

std::string describe_awaited(const std::vector<int>& ranks, std::size_t num_others) {
  if (ranks.empty()) return "others";
  if (ranks.size() == num_others && num_others > 1) return "all other ranks";
  return fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", fmt::join(ranks, ", "));
}

// In a ring at least one message was sent and has not arrived: first the network between hosts is suspected. A rank,
// and one that it waits for.
std::pair<int, int> suspected_pair(const std::vector<int>& ring, const std::vector<RankReport>& reports) {
  for (const int rank : ring)
    for (const int awaited : awaited_ranks(report_of(rank, reports), reports))
      if (report_of(awaited, reports).host != report_of(rank, reports).host) return {rank, awaited};
  return {ring.front(), ring[1 % ring.size()]};
}

}  // namespace

const char* describe(Reach reach) {
  constexpr std::array kTexts = {"answers",
                                 "has done its work and left",
                                 "has ended: its process is gone",
                                 "does not run: its process was stopped (SIGSTOP); kill -CONT lets it continue",
                                 "does not run: a debugger holds its process",
                                 "does not answer, although its host can be reached: its process is stopped, swapped "
                                 "out, or gets no processor time",
                                 "cannot be reached: its host, or the network to its host, is down"};
  static_assert(kTexts.size() == static_cast<std::size_t>(Reach::kUnreachable) + 1);
  return kTexts[static_cast<std::size_t>(reach)];
}

std::vector<int> awaited_ranks(const RankReport& report, const std::vector<RankReport>& all) {
  std::vector<int> ranks;
  if (report.reach != Reach::kAnswers || report.status.wait != Wait::kRanks) return ranks;
  const Op op = report.status.instruction.op;
  const std::int64_t replica = report.status.replica, stage = report.status.stage;
  std::int64_t num_stages = 1;
  for (const RankReport& other : all) num_stages = std::max(num_stages, other.status.stage + 1);
  const std::int64_t before = (stage + num_stages - 1) % num_stages, after = (stage + 1) % num_stages;
  for (const RankReport& other : all) {
    if (other.rank == report.rank) continue;
    const bool same_replica = other.status.replica == replica;
    const bool awaited = !report.status.in_step         ? true
                         : waits_for_previous_stage(op) ? same_replica && other.status.stage == before
                         : waits_for_next_stage(op)     ? same_replica && other.status.stage == after
                         : is_backward(op)              ? same_replica && other.status.stage == before
                         : waits_for_replicas(op)       ? other.status.stage == stage
                                                        : true;
    if (awaited) ranks.push_back(other.rank);
  }
  return ranks;
}

std::vector<std::size_t> culprits_first(const std::vector<RankReport>& reports) {
  std::vector<std::size_t> order(reports.size()), distance;
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (const RankReport& report : reports) distance.push_back(distance_to_culprit(report, reports));
  const auto key = [&](std::size_t i) {
    const RankReport& report = reports[i];
    return std::tuple(report.reach != Reach::kEnded, !is_silent(report), distance[i], report.reach == Reach::kLeft,
                      -report.status.standing_seconds);
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  return order;
}

std::vector<int> ring_of_waits(const std::vector<RankReport>& reports) {
  std::vector<int> path;
  const RankReport* at = &reports[culprits_first(reports).front()];
  while (at != nullptr && std::ranges::find(path, at->rank) == path.end()) {
    path.push_back(at->rank);
    at = likeliest_awaited(*at, reports);
  }
  if (at == nullptr) return {};
  path.erase(path.begin(), std::ranges::find(path, at->rank));
  return path;
}

std::string describe_standstill(const std::vector<RankReport>& reports) {
  if (reports[culprits_first(reports).front()].reach == Reach::kEnded)
    return "a rank has ended, and the others cannot continue without it";
  const std::vector<int> ring = ring_of_waits(reports);
  if (ring.empty()) return "the run makes no progress; the rank that blocks the others comes first in the table";
  const auto [receiver, sender] = suspected_pair(ring, reports);
  return fmt::format(
      "the run makes no progress, because ranks wait for each other: messages between rank {} on {} and rank {} on {} "
      "do not arrive, or arrive only slowly",
      receiver, report_of(receiver, reports).host, sender, report_of(sender, reports).host);
}

std::string describe(const RankReport& report, const std::vector<RankReport>& all) {
  const RankStatus& status = report.status;
  std::string where = describe(status.activity);
  if (status.in_step) {
    const bool trains = status.activity == Activity::kTraining;
    where = to_string(status.instruction) + (trains ? fmt::format(" of step {}", status.step) : ", " + where);
  }
  if (report.reach != Reach::kAnswers) {
    const bool was_heard = status.standing_seconds >= 0;
    return describe(report.reach) + (was_heard ? "; its last report: " + where : "");
  }
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
  return status.in_step ? fmt::format("{}: computes", where) : where;
}

std::string roll_call_table(const std::vector<RankReport>& reports) {
  const auto place = [](std::int64_t number) { return number < 0 ? "-" : std::to_string(number); };
  std::size_t width = 16;
  for (const RankReport& report : reports) width = std::max(width, report.host.size());
  std::string text = fmt::format("{:>6}  {:<{}}  {:>7}  {:>5}  {:>8}  {}\n", "rank", "host", width, "replica", "stage",
                                 "stuck, s", "what it does");
  std::size_t num_lines = 0;
  for (const std::size_t i : culprits_first(reports)) {
    if (num_lines++ == kMaxLines)
      return text + fmt::format("{:>6}  more ranks, which wait for these or continue\n", reports.size() - kMaxLines);
    const RankReport& report = reports[i];
    const double seconds = report.status.standing_seconds;
    text += fmt::format("{:>6}  {:<{}}  {:>7}  {:>5}  {:>8}  {}\n", report.rank, report.host, width,
                        place(report.status.replica), place(report.status.stage),
                        seconds < 0 ? "-" : fmt::format("{:.0f}", seconds), describe(report, reports));
  }
  return text;
}

}  // namespace convoy
