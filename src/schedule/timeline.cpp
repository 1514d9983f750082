/// Computes mean and planned steps from measured ones.
#include "convoy/schedule/timeline.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "convoy/base/error.h"

namespace convoy {

namespace {

/// The key of instructions whose mean work is the same: micro-batches are assumed to be alike.
using Kind = std::tuple<Op, std::int64_t, std::int64_t>;
Kind kind_of(const Instruction& instruction) {
  return {instruction.op, instruction.bucket, instruction.chunk};
}

struct Mean {
  double sum_seconds = 0;
  std::int64_t count = 0;

  double seconds() const { return sum_seconds / static_cast<double>(count); }
};

/// Returns the list of two steps. The micro-batches of the second one continue the numbers of the first.
StageProgram twice(const StageProgram& program) {
  std::int64_t num_micro_batches = 0;
  for (const Instruction& i : program) num_micro_batches = std::max(num_micro_batches, i.micro_batch + 1);
  StageProgram list = program;
  for (Instruction i : program) {
    if (i.micro_batch >= 0) i.micro_batch += num_micro_batches;
    list.push_back(i);
  }
  return list;
}

void shift(std::vector<Span>& rank, double seconds) {
  for (Span& i : rank) {
    i.begin_seconds += seconds;
    i.ready_seconds += seconds;
    i.end_seconds += seconds;
  }
}

/// Returns the indices of the instructions of one kind and chunk in the list of a rank, in order.
std::vector<std::size_t> indices_of(const std::vector<Span>& rank, Op op, std::int64_t chunk) {
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < rank.size(); ++i)
    if (rank[i].instruction.op == op && rank[i].instruction.chunk == chunk) indices.push_back(i);
  return indices;
}

std::int64_t num_chunks(const std::vector<Span>& rank) {
  std::int64_t num = 1;
  for (const Span& i : rank) num = std::max(num, i.instruction.chunk + 1);
  return num;
}

}  // namespace

Timeline step_of(const Timeline& timeline, std::int64_t step) {
  Timeline one{.num_stages = timeline.num_stages, .num_steps = 1, .ranks = {}};
  for (std::size_t r = 0; r < timeline.num_ranks(); ++r) {
    const auto length = static_cast<std::ptrdiff_t>(timeline.length_of(r));
    const auto begin = timeline.ranks[r].begin() + step * length;
    one.ranks.emplace_back(begin, begin + length);
  }
  return one;
}

double step_seconds(const Timeline& timeline, std::int64_t step) {
  double longest = 0;
  for (const auto& rank : step_of(timeline, step).ranks)
    if (!rank.empty()) longest = std::max(longest, rank.back().end_seconds - rank.front().begin_seconds);
  return longest;
}

Extent extent_of(const Timeline& timeline) {
  double first = std::numeric_limits<double>::infinity(), last = -first;
  for (const auto& rank : timeline.ranks) {
    if (rank.empty()) continue;
    first = std::min(first, rank.front().begin_seconds);
    last = std::max(last, rank.back().end_seconds);
  }
  return last >= first ? Extent{.first_seconds = first, .seconds = last - first} : Extent{};
}

std::int64_t median_step(const Timeline& timeline) {
  std::vector<std::pair<double, std::int64_t>> lengths;
  for (std::int64_t step = 0; step < timeline.num_steps; ++step)
    lengths.emplace_back(step_seconds(timeline, step), step);
  std::sort(lengths.begin(), lengths.end());
  return lengths[(lengths.size() - 1) / 2].second;
}

std::vector<WorkSeconds> mean_work(const Timeline& measured) {
  std::vector<std::map<Kind, Mean>> of_stage(static_cast<std::size_t>(measured.num_stages));
  for (std::size_t r = 0; r < measured.num_ranks(); ++r)
    for (const Span& i : measured.ranks[r]) {
      Mean& mean = of_stage[measured.stage_of(r)][kind_of(i.instruction)];
      mean.sum_seconds += i.work_seconds();
      ++mean.count;
    }
  std::vector<WorkSeconds> work(measured.num_ranks());
  for (std::size_t r = 0; r < measured.num_ranks(); ++r)
    for (std::size_t i = 0; i < measured.length_of(r); ++i)
      work[r].push_back(of_stage[measured.stage_of(r)].at(kind_of(measured.ranks[r][i].instruction)).seconds());
  return work;
}

Timeline planned_step(const std::vector<Schedule>& replicas, const std::vector<WorkSeconds>& work) {
  Timeline planned{.num_stages = std::ssize(replicas.front()), .num_steps = 1, .ranks = {}};
  for (const Schedule& schedule : replicas) {
    Schedule two_steps;
    std::vector<WorkSeconds> work_of_two;
    const std::size_t first_rank = planned.num_ranks();
    for (std::size_t s = 0; s < schedule.size(); ++s) {
      two_steps.push_back(twice(schedule[s]));
      work_of_two.push_back(work.at(first_rank + s));
      work_of_two.back().insert(work_of_two.back().end(), work[first_rank + s].begin(), work[first_rank + s].end());
    }
    const Simulation simulation = simulate(two_steps, work_of_two);
    Timeline step{.num_stages = planned.num_stages, .num_steps = 1, .ranks = {}};
    for (const std::vector<Span>& spans : simulation.spans)
      step.ranks.emplace_back(spans.begin() + std::ssize(spans) / 2, spans.end());
    for (std::size_t s = 0; s < schedule.size(); ++s)  // with the numbers of the first step's micro-batches
      for (std::size_t i = 0; i < schedule[s].size(); ++i) step.ranks[s][i].instruction = schedule[s][i];
    const double first = extent_of(step).first_seconds;
    for (auto& rank : step.ranks) {
      shift(rank, -first);
      planned.ranks.push_back(std::move(rank));
    }
  }
  return planned;
}

std::vector<Passage> find_passages(const Timeline& timeline) {
  struct End {
    std::size_t rank = 0;
    std::int64_t chunk = 0;
  };
  std::vector<Passage> passages;
  const auto stages = static_cast<std::size_t>(timeline.num_stages);
  const auto match = [&](const End& from, Op send, const End& to, Op receive) {
    const auto sends = indices_of(timeline.ranks[from.rank], send, from.chunk),
               receives = indices_of(timeline.ranks[to.rank], receive, to.chunk);
    if (sends.size() != receives.size())
      fail("Rank {} sends {} messages to rank {}, which receives {}.", from.rank, sends.size(), to.rank,
           receives.size());
    for (std::size_t k = 0; k < sends.size(); ++k)
      passages.push_back({.from_rank = from.rank, .send = sends[k], .to_rank = to.rank, .receive = receives[k]});
  };
  for (std::size_t rank = 0; rank < timeline.num_ranks(); ++rank) {
    const bool wraps = timeline.stage_of(rank) + 1 == stages;
    const std::int64_t chunks = num_chunks(timeline.ranks[rank]);
    for (std::int64_t c = 0; c < chunks; ++c) {
      if (wraps && c + 1 == chunks) continue;  // the last virtual stage
      const End here{rank, c}, next = wraps ? End{rank + 1 - stages, c + 1} : End{rank + 1, c};
      match(here, Op::kSendActivation, next, Op::kRecvActivation);
      match(next, Op::kSendGradient, here, Op::kRecvGradient);
    }
  }
  return passages;
}

}  // namespace convoy
