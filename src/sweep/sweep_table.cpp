/// The columns of both tables, and what they mean.
#include "sweep/sweep_table.h"

#include <algorithm>
#include <cmath>
#include <functional>

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

// Returns a number for each rank: "0.9124 0.8871".
template <typename T>
std::string by_rank(const std::vector<T>& values, const char* format) {
  std::string text;
  for (const T& value : values)
    text += fmt::format("{}{}", text.empty() ? "" : " ", fmt::format(fmt::runtime(format), value));
  return text;
}

double epoch_seconds(const RowResult& result) {
  return static_cast<double>(result.median.num_samples) / samples_per_second(result);
}

std::string csv_numbers(const RowResult& result) {
  constexpr int kNumColumns = 22;
  if (result.num_rounds == 0) return std::string(kNumColumns - 1, ',');
  const RowMeasurement& m = result.median;
  const bool predicted = m.predicted_seconds > 0;
  return fmt::format("{},{},{},{},{},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{},{}{},{},{},{},{},{}", m.batch_global,
                     m.batch_micro, m.stages, m.replicas, result.num_rounds, m.step_seconds, result.min_step_seconds,
                     result.max_step_seconds, samples_per_second(result), epoch_seconds(result),
                     predicted ? fmt::format("{:.6g}", m.predicted_seconds) : "",
                     predicted ? fmt::format("{:.4f}", m.predicted_seconds / m.step_seconds) : "", csv_fields(m.shares),
                     by_rank(m.busy_of_ranks, "{:.4f}"), std::ranges::min(m.memory_bytes_of_ranks),
                     m.max_memory_bytes(), by_rank(m.memory_bytes_of_ranks, "{}"), m.output_bytes);
}

constexpr std::size_t kMostNamedRanks = 8;

// Returns the texts of all ranks, or those of the smallest and the largest of many: "91.2 %, 95.0 %", "88.0 % to 95.0
// %". If all texts are equal, returns one.
template <typename T, typename Show>
std::string of_ranks(const std::vector<T>& values, const Show& show) {
  if (values.empty()) return "";
  const auto [least, most] = std::ranges::minmax(values);
  if (show(least) == show(most)) return show(least);
  if (values.size() > kMostNamedRanks) return fmt::format("{} to {}", show(least), show(most));
  std::vector<std::string> texts;
  for (const T& value : values) texts.push_back(show(value));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

/// A column of measured numbers.
struct Column {
  std::string name;
  std::string meaning;
  std::function<std::string(const RowResult&)> show;
};

// Returns whether a factor has the numbers of a column already: sizes that were given, and not found.
bool has_factor(const SweepTable& table, const std::string& name) {
  const auto factor = std::ranges::find(table.factors, name) - table.factors.begin();
  return factor < std::ssize(table.factors) && std::ranges::none_of(table.rows, [&](const SweepRow& row) {
           return row.values[static_cast<std::size_t>(factor)] == "max";
         });
}

std::vector<Column> columns_of(const SweepHead& head, const SweepTable& table) {
  const auto predicted = [](const RowResult& result) { return result.median.predicted_seconds > 0; };
  const auto shares = [](const RowResult& result) { return result.median.shares.value_or(TimeShares()); };
  const bool trains = head.work == SweepWork::kTrain;
  std::vector<Column> columns;
  if (!has_factor(table, "global"))
    columns.push_back({"batch", fmt::format("{}s of a step, over all ranks", head.sample),
                       [](const RowResult& r) { return fmt::format("{}", r.median.batch_global); }});
  if (!has_factor(table, "micro"))
    columns.push_back({"micro-batch", fmt::format("{}s that a rank computes at once", head.sample),
                       [](const RowResult& r) { return fmt::format("{}", r.median.batch_micro); }});
  const std::vector<Column> times = {
      {fmt::format("{}s/s", head.sample),
       fmt::format("{}s per second: those of a step divided by its time", head.sample),
       [](const RowResult& r) { return fmt::format("{:.1f}", samples_per_second(r)); }},
      {trains ? "epoch" : "all samples", fmt::format("time for all {}s of the data set at this speed", head.sample),
       [](const RowResult& r) { return human_seconds(epoch_seconds(r)); }},
      {"step, ms", "time of a step: the median of the rounds",
       [](const RowResult& r) { return milliseconds(r.median.step_seconds); }},
      {"step range, ms", "the step of the fastest round to that of the slowest round",
       [](const RowResult& r) {
         return fmt::format("{} to {}", milliseconds(r.min_step_seconds), milliseconds(r.max_step_seconds));
       }},
      {"predicted, ms", "time of a step as the planner predicts it from measured times of cells, memory and messages",
       [=](const RowResult& r) { return predicted(r) ? milliseconds(r.median.predicted_seconds) : ""; }},
      {"ratio", "predicted divided by measured", [=](const RowResult& r) {
         return predicted(r) ? fmt::format("{:.2f}", r.median.predicted_seconds / r.median.step_seconds) : "";
       }}};
  columns.insert(columns.end(), times.begin(), times.end());
  if (trains) {
    columns.push_back({"busy", "share of a step in which a rank works: of each rank, in the order of the ranks",
                       [](const RowResult& r) { return of_ranks(r.median.busy_of_ranks, percent); }});
    columns.push_back({"bubble", "share in which ranks wait because stages work one after the other",
                       [=](const RowResult& r) { return percent(shares(r).bubble); }});
    columns.push_back({"waits for others",
                       "share in which ranks wait for messages, or for a rank that is slower than planned",
                       [=](const RowResult& r) { return percent(shares(r).communication + shares(r).straggler); }});
  }
  columns.push_back(
      {"memory of a rank",
       "the most memory that the rank's process held, the program included; on a GPU, the buffers of the GPU",
       [](const RowResult& r) { return of_ranks(r.median.memory_bytes_of_ranks, human_bytes); }});
  return columns;
}

// Explains the columns, and the rows that are marked.
std::string explain(const std::vector<Column>& columns, const std::vector<RowResult>& results) {
  std::string text = "\nWhat the columns mean:\n\n";
  for (const Column& column : columns) text += fmt::format("- **{}**: {}\n", column.name, column.meaning);
  if (std::ranges::any_of(columns, [](const Column& column) { return column.name == "busy"; }))
    text += fmt::format(
        "\nIf all ranks have the same number, it is there once; of more than {} ranks, the smallest and the largest "
        "are there.\n",
        kMostNamedRanks);
  if (std::ranges::any_of(results, is_disturbed))
    text +=
        "\n**(!)**: the rounds of this row differ by more than 20 %, because something else used the machine. Measure "
        "the row again on a quiet machine.\n";
  return text;
}

// Compares with data parallelism in which one rank computes the loss of all.
std::string describe_outputs(const SweepHead& head, const std::vector<RowResult>& results) {
  const auto most = std::ranges::max_element(
      results, {}, [](const RowResult& r) { return r.median.replicas > 1 ? r.median.output_bytes : 0; });
  if (head.work != SweepWork::kTrain || most == results.end() || most->median.replicas < 2) return "";
  const RowMeasurement& m = most->median;
  return fmt::format(
      "\nEach rank of a last stage computes the loss of its own share of the batch. If one rank gathered the outputs "
      "of {} {}s to compute the loss, it would hold {} more than the others: the outputs, and their gradients.\n",
      m.batch_global, head.sample, human_bytes(2 * m.output_bytes));
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

double samples_per_second(const RowResult& result) {
  return static_cast<double>(result.median.batch_global) / result.median.step_seconds;
}

bool is_disturbed(const RowResult& result) {
  constexpr double kMostSpread = 0.2;
  return result.num_rounds > 0 &&
         result.max_step_seconds - result.min_step_seconds > kMostSpread * result.median.step_seconds;
}

std::string sweep_csv(const SweepTable& table, const std::vector<RowResult>& results) {
  std::string text = fmt::format(
      "row,{},ranks,batch_global,batch_micro,grid_stages,grid_replicas,rounds,step_seconds,step_seconds_min,"
      "step_seconds_max,samples_per_second,epoch_seconds,predicted_seconds,predicted_over_measured,busy,bubble,"
      "straggler,communication,data,busy_of_ranks,memory_min_bytes,memory_max_bytes,memory_bytes_of_ranks,"
      "output_bytes,reason\n",
      fmt::join(table.factors, ","));
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const SweepRow& row = table.rows[i];
    text += fmt::format("{},{},{},{},{}\n", row.number, fmt::join(row.values, ","), row.ranks, csv_numbers(results[i]),
                        csv_field(reason_of(row, results[i])));
  }
  return text;
}

std::string sweep_markdown(const SweepHead& head, const SweepTable& table, const std::vector<RowResult>& results) {
  std::string text =
      fmt::format("# {}, {}{}\n\n{}. Convoy {}. {}. {} of {} in each row.\n\n", head.network, parameters_of(results),
                  head.work == SweepWork::kTrain ? "training" : "prediction", head.date, version(), head.machine,
                  counted(head.num_rounds, "round"), counted(head.num_steps, "step"));
  const std::vector<Column> columns = columns_of(head, table);
  std::vector<std::string> names = {"row"};
  names.insert(names.end(), table.factors.begin(), table.factors.end());
  for (const Column& column : columns) names.push_back(column.name);
  text += line_of(names) + line_of(std::vector<std::string>(names.size(), "---"));
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const SweepRow& row = table.rows[i];
    const RowResult& result = results[i];
    std::vector<std::string> cells = {fmt::format("{}{}", row.number, is_disturbed(result) ? " (!)" : "")};
    cells.insert(cells.end(), row.values.begin(), row.values.end());
    for (const Column& column : columns) cells.push_back(result.num_rounds > 0 ? column.show(result) : "");
    if (result.num_rounds == 0) cells[cells.size() - columns.size()] = reason_of(row, result);
    text += line_of(cells);
  }
  return text + judge_predictions(results) + describe_outputs(head, results) + explain(columns, results);
}

}  // namespace convoy
