/// Writes CSV tables that survive a restart: they are read line by line, and compared with the steps that they must
/// have.
#include "run/run_log.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <utility>

#include <unistd.h>

#include "convoy/base/error.h"
#include "convoy/base/fingerprint.h"
#include "convoy/base/wording.h"
#include "convoy/io/atomic_file.h"

namespace convoy {

namespace {

constexpr const char* kEpochHeader =
    "epoch,step,samples,train_loss,train_top1,test_loss,test_top1,lr,samples_per_second,data_wait_percent,"
    "seconds,val_loss,val_top1,evaluation_seconds,save_seconds";
constexpr const char* kWriteColumn = ",write_seconds";  // after the objectives' columns, where older tables end
constexpr const char* kStepHeader = "step,loss,lr";
constexpr const char* kLastColumns = ",fingerprint,skipped";  // the last columns of older tables
constexpr const char* kTestHeader = "step,samples,loss,top1";
constexpr const char* kTestFile = "/test.csv";
constexpr int kDigits = 9, kAllDigits = 17;

// Returns loss and top-1, or two empty fields if they were not measured.
std::string fields(const std::optional<StepMetrics>& metrics) {
  return metrics ? fmt::format("{:.9g},{:.9g}", metrics->mean_loss(), metrics::top1(metrics->counts())) : ",";
}

// Returns ",masked_words_loss,masked_words_top1,...", each name with the prefix.
std::string names_of(const std::vector<NetworkMetric>& list, const std::string& prefix = "") {
  std::string names;
  for (const NetworkMetric& metric : list) names += fmt::format(",{}{}", prefix, metric.name());
  return names;
}

// Returns a field for each name of names_of().
std::string fields_of(const std::vector<NetworkMetric>& list, const std::optional<StepMetrics>& metrics,
                      int digits = kDigits) {
  std::string fields;
  for (const NetworkMetric& metric : list)
    fields += metrics ? fmt::format(",{:.{}g}", metric.value(*metrics), digits) : ",";
  return fields;
}

// Returns the columns of log.csv. New columns come last, so that an older table's header is the beginning of this one.
std::string epoch_header(const MetricList& metrics) {
  std::string header = kEpochHeader;
  for (const char* prefix : {"train_", "test_", "val_"}) header += names_of(metrics.of_objectives(), prefix);
  header += kWriteColumn;
  for (const char* prefix : {"test_", "val_"}) header += names_of(metrics.of_classes(), prefix);
  return header;
}

// Returns the columns of steps.csv, of which top-1 is the newest.
std::string step_header(const MetricList& metrics) {
  return kStepHeader + names_of(metrics.of_objectives()) + kLastColumns + ",top1";
}

struct Row {
  std::int64_t step = 0;
  std::string line;
};

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t end = 0; (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1))
    lines.push_back(text.substr(0, end));
  return lines;  // what follows the last newline was cut short by a crash
}

std::ptrdiff_t commas_in(std::string_view line) {
  return std::count(line.begin(), line.end(), ',');
}

// Returns the step in that column of the line, which has at least `column` commas.
std::optional<std::int64_t> step_in(std::string_view line, std::ptrdiff_t column) {
  for (; column > 0; --column) line.remove_prefix(line.find(',') + 1);
  const std::string_view field = line.substr(0, line.find(','));
  std::int64_t step = 0;
  const auto [end, error] = std::from_chars(field.begin(), field.end(), step);
  return error == std::errc() && end == field.end() ? std::optional(step) : std::nullopt;
}

// Whether the line is this table's header: the present one, an older one with fewer columns, or one with the old name
// images_per_second.
bool is_header(std::string line, std::string_view header) {
  constexpr std::string_view kOldName = ",images_per_second,";
  if (const std::size_t at = line.find(kOldName); at != std::string::npos)
    line.replace(at, kOldName.size(), ",samples_per_second,");
  return !line.empty() && header.starts_with(line) && (line.size() == header.size() || header[line.size()] == ',');
}

std::vector<Row> rows_up_to(std::string_view text, const LogColumns& columns, std::int64_t last_step) {
  std::vector<Row> rows;
  const std::ptrdiff_t commas_now = commas_in(columns.header);
  std::ptrdiff_t commas = commas_now;
  for (const std::string_view line : lines_of(text)) {
    if (is_header(std::string(line), columns.header)) {
      commas = commas_in(line);
      continue;
    }
    if (commas_in(line) != commas || commas < columns.step_column) continue;  // or there is no step
    const auto step = step_in(line, columns.step_column);
    const std::int64_t before = rows.empty() ? 0 : rows.back().step;
    if (step && *step > before && *step <= last_step)
      rows.push_back({*step, std::string(line) + std::string(static_cast<std::size_t>(commas_now - commas), ',')});
  }
  return rows;
}

std::vector<std::int64_t> steps_of(const ExpectedRows& expected, const std::vector<Row>& rows) {
  std::int64_t first = expected.first;
  if (first == 0) first = rows.empty() ? expected.last + 1 : rows.front().step;
  std::vector<std::int64_t> steps;
  for (std::int64_t k = (first + expected.every - 1) / expected.every; k * expected.every < expected.last; ++k)
    steps.push_back(k * expected.every);
  if (expected.last >= first) steps.push_back(expected.last);
  return steps;
}

std::string describe_lost(const std::string& path, const std::vector<Row>& rows,
                          const std::vector<std::int64_t>& expected) {
  std::vector<NumberRange> lost;
  std::size_t num_lost = 0;
  bool previous_is_lost = false;
  auto row = rows.begin();
  for (const std::int64_t step : expected) {
    row = std::find_if(row, rows.end(), [&](const Row& candidate) { return candidate.step >= step; });
    const bool is_lost = row == rows.end() || row->step != step;
    if (is_lost && previous_is_lost) lost.back().second = step;
    if (is_lost && !previous_is_lost) lost.emplace_back(step, step);
    if (is_lost) ++num_lost;
    previous_is_lost = is_lost;
  }
  if (num_lost == 0) return "";
  return fmt::format(
      "{} has lost {} of the {} rows that this run wrote before: those of step {}. The file was removed or changed "
      "since then. The run continues without these rows",
      path, num_lost, expected.size(), shown_ranges(lost));
}

}  // namespace

const char* why_skipped(StepOutcome outcome) {
  switch (outcome) {
    case StepOutcome::kOverflow:
      return "overflow";
    case StepOutcome::kBad:
      return "bad";
    case StepOutcome::kWrong:
      return "audit";
    default:
      return "";
  }
}

KeptRows keep_rows(const std::string& path, std::string_view text, const LogColumns& columns, std::int64_t last_step,
                   const ExpectedRows& expected) {
  const std::vector<Row> rows = rows_up_to(text, columns, last_step);
  KeptRows kept{.text = "", .lost = describe_lost(path, rows, steps_of(expected, rows))};
  for (const Row& row : rows) kept.text += row.line + '\n';
  return kept;
}

RunLog::RunLog(const std::string& directory, const Keep& keep, const MetricList& metrics)
    : directory_(directory),
      metrics_(metrics),
      epochs_(open(directory + "/log.csv", {.header = epoch_header(metrics), .step_column = 1}, keep.epochs,
                   keep.expected_epochs)),
      steps_(open(directory + "/steps.csv", {.header = step_header(metrics), .step_column = 0}, keep.steps,
                  keep.expected_steps)) {
  std::error_code absent;
  std::filesystem::remove(directory + kTestFile, absent);  // from an earlier end of this run, which now continues
  flush();
}

RunLog::Table RunLog::open(const std::string& path, const LogColumns& columns, std::int64_t last_step,
                           const ExpectedRows& expected) {
  const KeptRows rows = keep_rows(path, io::read_text(path).value_or(""), columns, last_step, expected);
  if (!rows.lost.empty()) losses_.push_back(rows.lost);
  const std::string temporary = path + ".tmp";
  Table table{.path = path, .file = nullptr};
  table.file.reset(fdopen(io::open_for_writing(temporary).release(), "w"));
  check(table, table.file != nullptr);
  const std::string text = fmt::format("{}\n{}", columns.header, rows.text);
  check(table, std::fputs(text.c_str(), table.file.get()) >= 0);
  write_through(table);
  check(table, std::rename(temporary.c_str(), path.c_str()) == 0);
  return table;
}

void RunLog::check(const Table& table, bool ok) {
  if (!ok) fail("cannot write {}: {}. Make room or choose another run.directory", table.path, std::strerror(errno));
}

void RunLog::sync(const Table& table) {
  check(table, fsync(fileno(table.file.get())) == 0);
}

void RunLog::write_through(const Table& table) {
  check(table, std::fflush(table.file.get()) == 0);
  sync(table);
}

void RunLog::add_step(const StepRow& row, double now) {
  check(steps_, std::fprintf(steps_.file.get(), "%lld,%.17g,%.17g%s,%s,%s,%.17g\n", static_cast<long long>(row.step),
                             row.metrics.mean_loss(), row.lr,
                             fields_of(metrics_.of_objectives(), row.metrics, kAllDigits).c_str(),
                             row.fingerprint ? fingerprint_text(*row.fingerprint).c_str() : "",
                             why_skipped(row.outcome), metrics::top1(row.metrics.counts())) > 0);
  if (first_waiting_seconds_ == 0) first_waiting_seconds_ = now;
  if (now - first_waiting_seconds_ >= kMaxWaitSeconds) write_rows();
}

void RunLog::add_epoch(const EpochRow& row) {
  const std::string line =
      fmt::format("{},{},{},{},{},{:.9g},{:.1f},{:.2f},{:.2f},{},{:.2f},{:.2f}{}{}{},{:.2f}{}{}\n", row.epoch, row.step,
                  row.samples, fields(row.train), fields(row.test), row.lr, row.samples_per_second,
                  row.data_wait_percent, row.seconds, fields(row.val), row.evaluation_seconds, row.save_seconds,
                  fields_of(metrics_.of_objectives(), row.train), fields_of(metrics_.of_objectives(), row.test),
                  fields_of(metrics_.of_objectives(), row.val), row.write_seconds,
                  fields_of(metrics_.of_classes(), row.test), fields_of(metrics_.of_classes(), row.val));
  check(epochs_, std::fputs(line.c_str(), epochs_.file.get()) >= 0);
  flush();
}

void RunLog::write_test(const TestResult& result) const {
  io::write_text_atomically(directory_ + kTestFile,
                            fmt::format("{}{}{}\n{},{},{}{}{}\n", kTestHeader, names_of(metrics_.of_objectives()),
                                        names_of(metrics_.of_classes()), result.step, result.metrics.num_samples(),
                                        fields(result.metrics), fields_of(metrics_.of_objectives(), result.metrics),
                                        fields_of(metrics_.of_classes(), result.metrics)));
}

void RunLog::write_rows() {
  check(steps_, std::fflush(steps_.file.get()) == 0);
  first_waiting_seconds_ = 0;
}

void RunLog::sync_rows() const {
  sync(epochs_);
  sync(steps_);
}

void RunLog::flush() {
  write_through(epochs_);
  write_through(steps_);
  first_waiting_seconds_ = 0;
}

}  // namespace convoy
