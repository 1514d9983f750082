/// Multiplies the lists out. Each combination is checked as the parameters of a run are.
#include "sweep/sweep_rows.h"

#include <algorithm>
#include <functional>
#include <map>

#include "convoy/base/error.h"
#include "convoy/comm/process_grid.h"
#include "convoy/params/parse.h"

#include "plan/step_plan.h"

namespace convoy {

namespace {

/// A row whose values are being put together.
struct Draft {
  Parameters params;
  std::int64_t ranks = 0, replicas = 0, micro_batches = 0, samples_per_rank = 0;  ///< 0: not given
};

struct Factor {
  std::string name;
  std::vector<std::string> values;
  std::function<void(Draft&, std::size_t)> apply;  ///< applies the value with that index
};

std::string to_text(std::int64_t value) {
  return fmt::format("{}", value);
}
template <typename Choice>
std::string to_text(Choice value) {
  return name_of(value);
}

template <typename T, typename Set>
void add(std::vector<Factor>& factors, const char* name, const std::vector<T>& list, const Set& set) {
  if (list.empty()) return;
  Factor factor{.name = name, .values = {}, .apply = [list, set](Draft& row, std::size_t i) { set(row, list[i]); }};
  for (const T& value : list) factor.values.push_back(to_text(value));
  factors.push_back(std::move(factor));
}

// Returns the listed factors in the order of the table's columns.
std::vector<Factor> factors_of(const SweepParams& sweep) {
  std::vector<Factor> factors;
  add(factors, "ranks", sweep.ranks, [](Draft& row, std::int64_t n) { row.ranks = n; });
  add(factors, "replicas", sweep.replicas, [](Draft& row, std::int64_t n) { row.replicas = n; });
  add(factors, "stages", sweep.stages, [](Draft& row, std::int64_t n) { row.params.grid.stages = n; });
  add(factors, "schedule", sweep.schedule, [](Draft& row, ScheduleKind kind) { row.params.schedule.kind = kind; });
  add(factors, "chunks", sweep.chunks, [](Draft& row, std::int64_t n) { row.params.schedule.chunks = n; });
  add(factors, "recompute", sweep.recompute,
      [](Draft& row, RecomputeKind kind) { row.params.memory.recompute = kind; });
  add(factors, "precision", sweep.precision, [](Draft& row, PrecisionKind kind) { row.params.train.precision = kind; });
  add(factors, "global", sweep.global, [](Draft& row, std::int64_t n) { row.params.batch.global = n; });
  add(factors, "samples_per_rank", sweep.samples_per_rank,
      [](Draft& row, std::int64_t n) { row.samples_per_rank = n; });
  add(factors, "micro", sweep.micro, [](Draft& row, std::int64_t n) {
    if (n != kLargestThatFits) row.params.batch.micro = n;
    row.params.sweep.micro = {n};
  });
  for (Factor& factor : factors)
    if (factor.name == "micro") std::ranges::replace(factor.values, to_text(kLargestThatFits), "max");
  add(factors, "micro_batches", sweep.micro_batches, [](Draft& row, std::int64_t n) { row.micro_batches = n; });
  return factors;
}

// Throws RequestError if the values contradict each other.
void take_ranks(const Draft& draft, std::int64_t job_ranks, SweepRow& row) {
  const std::int64_t stages = draft.params.grid.stages;
  if (draft.replicas > 0 && stages == 0)
    refuse("sweep.replicas = {} with grid.stages = auto: give the number of stages, or sweep.ranks.", draft.replicas);
  row.ranks = draft.replicas > 0 ? draft.replicas * stages : draft.ranks > 0 ? draft.ranks : job_ranks;
  if (stages > 0) grid_shape(stages, row.ranks);
  // Cuts by hand fit only one number of runs of cells.
  const bool has_chunks = stages > 1 && row.params.schedule.kind == ScheduleKind::kInterleaved;
  const std::int64_t num_runs = stages * (has_chunks ? row.params.schedule.chunks : 1);
  if (std::ssize(row.params.grid.cuts) + 1 != num_runs) row.params.grid.cuts.clear();
}

void take_batch(const Draft& draft, SweepRow& row) {
  if (draft.samples_per_rank > 0) row.params.batch.global = draft.samples_per_rank * row.ranks;
  if (finds_largest_micro(row.params) && row.params.grid.stages == 0)
    refuse("sweep.micro = max with grid.stages = auto: the number of stages must be known.");
  if (draft.micro_batches == 0) return;
  if (row.params.grid.stages == 0)
    refuse("sweep.micro_batches = {} with grid.stages = auto: the number of replicas must be known.",
           draft.micro_batches);
  const std::int64_t replicas = row.ranks / row.params.grid.stages, global = row.params.batch.global;
  if (global % (replicas * draft.micro_batches) != 0)
    refuse("batch.global = {} cannot be cut into {} x {} equal micro-batches (replicas x micro-batches each).", global,
           replicas, draft.micro_batches);
  row.params.batch.micro = global / (replicas * draft.micro_batches);
}

// Returns a text that is the same for rows that do the same work. A single stage has no schedule, only the interleaved
// schedule has chunks, and a prediction recomputes nothing.
std::string work_of(const SweepRow& row) {
  const Parameters& p = row.params;
  const bool trains = p.sweep.work == SweepWork::kTrain, has_schedule = p.grid.stages != 1 && trains;
  const bool has_chunks = has_schedule && p.schedule.kind == ScheduleKind::kInterleaved;
  const std::string schedule = p.schedule.kind ? name_of(*p.schedule.kind) : "auto";
  return fmt::format("{} {} {} {} {} {} {} {}", row.ranks, p.grid.stages, has_schedule ? schedule : "",
                     has_chunks ? p.schedule.chunks : 0, trains ? name_of(p.memory.recompute) : "",
                     name_of(p.train.precision), p.batch.global,
                     finds_largest_micro(p) ? "max" : to_text(p.batch.micro));
}

SweepRow make_row(const Draft& draft, std::int64_t job_ranks, std::int64_t number) {
  SweepRow row{.number = number, .values = {}, .params = draft.params, .reason = {}};
  try {
    take_ranks(draft, job_ranks, row);
    take_batch(draft, row);
    check_consistency(row.params);
  } catch (const RequestError& error) {
    row.reason = error.what();
  }
  if (row.reason.empty() && row.ranks > job_ranks)
    row.reason = fmt::format("needs {} ranks; this job has {}", row.ranks, job_ranks);
  return row;
}

void find_repeated(SweepTable& table) {
  std::map<std::string, std::int64_t> first;
  for (SweepRow& row : table.rows) {
    if (!row.reason.empty()) continue;
    const auto [found, is_new] = first.emplace(work_of(row), row.number);
    if (!is_new) row.reason = fmt::format("the same work as row {}", found->second);
  }
}

}  // namespace

bool finds_largest_micro(const Parameters& row) {
  return row.sweep.micro == std::vector{kLargestThatFits};
}

SweepTable make_table(const Parameters& params, std::int64_t job_ranks) {
  const std::vector<Factor> factors = factors_of(params.sweep);
  if (factors.empty())
    refuse(
        "convoy sweep needs a list of values to measure, such as sweep.stages = 1, 2 or sweep.micro = 4, 8, 16, in the "
        "section [sweep] of a parameter file.");
  SweepTable table;
  std::int64_t num_rows = 1;
  for (const Factor& factor : factors) {
    table.factors.push_back(factor.name);
    num_rows *= std::ssize(factor.values);
  }
  for (std::int64_t i = 0; i < num_rows; ++i) {
    Draft draft{.params = params};
    std::vector<std::string> values(factors.size());
    std::int64_t left = i;
    for (std::size_t f = factors.size(); f-- > 0;) {
      const std::size_t index = static_cast<std::size_t>(left % std::ssize(factors[f].values));
      left /= std::ssize(factors[f].values);
      factors[f].apply(draft, index);
      values[f] = factors[f].values[index];
    }
    table.rows.push_back(make_row(draft, job_ranks, i + 1));
    table.rows.back().values = std::move(values);
  }
  find_repeated(table);
  return table;
}

void check_rows(const io::ModelMetadata& metadata, SweepTable& table) {
  for (SweepRow& row : table.rows) {
    if (!row.reason.empty() || row.params.grid.stages == 0) continue;
    try {
      const bool trains = row.params.sweep.work == SweepWork::kTrain;
      StepPlan(trains ? runtime_spec(row.params, metadata) : evaluation_spec(row.params, metadata),
               grid_shape(row.params.grid.stages, row.ranks));
    } catch (const RequestError& error) {
      row.reason = error.what();
    }
  }
}

std::string describe_values(const SweepTable& table, const SweepRow& row) {
  std::string text;
  for (std::size_t f = 0; f < table.factors.size(); ++f)
    text += fmt::format("{}{} {}", f == 0 ? "" : ", ", table.factors[f], row.values[f]);
  return text;
}

}  // namespace convoy
