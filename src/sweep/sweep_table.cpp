/// Writes the columns of both tables.
#include "sweep/sweep_table.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "convoy/base/median.h"
#include "convoy/base/text.h"
#include "convoy/base/version.h"
#include "convoy/base/wording.h"

#include "sweep/sweep_files.h"
#include "sweep/sweep_rows.h"

namespace convoy {

namespace {

std::string reason_of(const SweepRow& row, const RowResult& result) {
  if (!result.failure.empty()) return result.failure;
  return result.num_rounds > 0 ? "" : row.reason;
}

std::string csv_numbers(const SweepRow& row, const RowResult& result) {
  constexpr int kNumColumns = 16;
  if (result.num_rounds == 0) return std::string(kNumColumns - 1, ',');
  const RowMeasurement& m = result.median;
  const bool predicted = m.predicted_seconds > 0;
  return fmt::format("{},{},{},{:.6g},{:.6g},{:.6g},{:.6g},{},{}{},{},{}", m.stages, m.replicas, result.num_rounds,
                     m.step_seconds, result.min_step_seconds, result.max_step_seconds, samples_per_second(row, result),
                     predicted ? fmt::format("{:.6g}", m.predicted_seconds) : "",
                     predicted ? fmt::format("{:.4f}", m.predicted_seconds / m.step_seconds) : "", csv_fields(m.shares),
                     m.min_memory_bytes, m.max_memory_bytes);
}

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

/// Returns "812 MiB", or "796 to 812 MiB".
std::string memory_range(const RowMeasurement& m) {
  const std::string min = human_bytes(m.min_memory_bytes), max = human_bytes(m.max_memory_bytes);
  return min == max ? max : fmt::format("{} to {}", min, max);
}

std::vector<std::string> markdown_cells(const SweepRow& row, const RowResult& result, SweepWork work) {
  const RowMeasurement& m = result.median;
  const bool predicted = m.predicted_seconds > 0;
  std::vector<std::string> cells = {
      fmt::format("{:.1f}", samples_per_second(row, result)), milliseconds(m.step_seconds),
      fmt::format("{} to {}", milliseconds(result.min_step_seconds), milliseconds(result.max_step_seconds)),
      predicted ? milliseconds(m.predicted_seconds) : "",
      predicted ? fmt::format("{:.2f}", m.predicted_seconds / m.step_seconds) : ""};
  const TimeShares shares = m.shares.value_or(TimeShares());
  if (work == SweepWork::kTrain)
    for (const double share : {shares.busy, shares.bubble, shares.communication + shares.straggler})
      cells.push_back(percent(share));
  cells.push_back(memory_range(m));
  return cells;
}

std::vector<std::string> markdown_columns(const SweepHead& head) {
  std::vector<std::string> columns = {head.sample + "s/s", "step, ms", "step range, ms", "predicted, ms", "ratio"};
  if (head.work == SweepWork::kTrain)
    for (const char* name : {"busy", "bubble", "waits for others"}) columns.emplace_back(name);
  columns.emplace_back("memory of a rank");
  return columns;
}

std::string line_of(const std::vector<std::string>& cells) {
  return fmt::format("| {} |\n", fmt::join(cells, " | "));
}

// Returns "24,253,410 parameters, ", or "" if no row was measured.
std::string parameters_of(const std::vector<RowResult>& results) {
  const auto measured = std::ranges::find_if(results, [](const RowResult& result) { return result.num_rounds > 0; });
  if (measured == results.end()) return "";
  std::string digits = fmt::format("{}", measured->median.num_parameters);
  for (std::int64_t at = std::ssize(digits) - 3; at > 0; at -= 3) digits.insert(static_cast<std::size_t>(at), ",");
  return digits + " parameters, ";
}

// Returns a line with the median error of the predictions over the rows.
std::string judge_predictions(const std::vector<RowResult>& results) {
  std::vector<double> errors;
  for (const RowResult& result : results)
    if (result.num_rounds > 0 && result.median.predicted_seconds > 0)
      errors.push_back(std::abs(result.median.predicted_seconds / result.median.step_seconds - 1));
  if (errors.empty()) return "";
  return fmt::format("\nPredicted and measured steps differ by {:.1f} % in the median of {}.\n", 100 * median(errors),
                     counted(std::ssize(errors), "row"));
}

}  // namespace

std::string milliseconds(double seconds) {
  return seconds < 1 ? plain_number(1e3 * seconds) : fmt::format("{:.0f}", 1e3 * seconds);
}

double samples_per_second(const SweepRow& row, const RowResult& result) {
  return static_cast<double>(row.params.batch.global) / result.median.step_seconds;
}

std::string sweep_csv(const SweepTable& table, const std::vector<RowResult>& results) {
  std::string text = fmt::format(
      "row,{},batch_global,batch_micro,ranks,grid_stages,grid_replicas,rounds,step_seconds,step_seconds_min,"
      "step_seconds_max,samples_per_second,predicted_seconds,predicted_over_measured,busy,bubble,straggler,"
      "communication,data,memory_min_bytes,memory_max_bytes,reason\n",
      fmt::join(table.factors, ","));
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const SweepRow& row = table.rows[i];
    text += fmt::format("{},{},{},{},{},{},{}\n", row.number, fmt::join(row.values, ","), row.params.batch.global,
                        row.params.batch.micro, row.ranks, csv_numbers(row, results[i]),
                        csv_field(reason_of(row, results[i])));
  }
  return text;
}

std::string sweep_markdown(const SweepHead& head, const SweepTable& table, const std::vector<RowResult>& results) {
  std::string text = fmt::format(
      "# {}, {}{}\n\n{}. Convoy {}. {}. Rounds: {}, steps in each: {}; a step is the median of the rounds.\n\n",
      head.network, parameters_of(results), head.work == SweepWork::kTrain ? "training" : "prediction", head.date,
      version(), head.machine, head.num_rounds, head.num_steps);
  std::vector<std::string> columns = {"row"};
  columns.insert(columns.end(), table.factors.begin(), table.factors.end());
  const std::vector<std::string> measured = markdown_columns(head);
  columns.insert(columns.end(), measured.begin(), measured.end());
  text += line_of(columns) + line_of(std::vector<std::string>(columns.size(), "---"));
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const SweepRow& row = table.rows[i];
    std::vector<std::string> cells = {fmt::format("{}", row.number)};
    cells.insert(cells.end(), row.values.begin(), row.values.end());
    std::vector<std::string> numbers(measured.size());
    if (results[i].num_rounds > 0)
      numbers = markdown_cells(row, results[i], head.work);
    else
      numbers.front() = reason_of(row, results[i]);
    cells.insert(cells.end(), numbers.begin(), numbers.end());
    text += line_of(cells);
  }
  text +=
      "\nMemory of a rank, from the smallest to the largest of all ranks: the maximum that its process held while the "
      "row ran, including the program; on a GPU, the buffers of the GPU.\n";
  return text + judge_predictions(results);
}

}  // namespace convoy
