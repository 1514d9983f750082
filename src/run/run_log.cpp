/// Writes the rows of the CSV tables.
#include "run/run_log.h"

#include <filesystem>
#include <system_error>

#include <fmt/core.h>

#include "convoy/base/clock.h"
#include "convoy/base/fingerprint.h"
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

// Returns top-1; an empty field if the network has no top-1.
std::string top1_field(const StepMetrics& metrics, const MetricList& list, int digits) {
  return list.has_top1() ? fmt::format("{:.{}g}", metrics::top1(metrics.counts()), digits) : "";
}

// Returns loss and top-1, or two empty fields if they were not measured.
std::string fields(const std::optional<StepMetrics>& metrics, const MetricList& list) {
  return metrics ? fmt::format("{:.9g},{}", metrics->mean_loss(), top1_field(*metrics, list, kDigits)) : ",";
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
  for (const char* prefix : {"test_", "val_"}) header += names_of(metrics.of_outputs(), prefix);
  return header;
}

// Returns the columns of steps.csv, of which top-1 is the newest.
std::string step_header(const MetricList& metrics) {
  return kStepHeader + names_of(metrics.of_objectives()) + kLastColumns + ",top1";
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

RunLog::RunLog(const std::string& directory, const Keep& keep, const MetricList& metrics)
    : directory_(directory),
      metrics_(metrics),
      epochs_(open(directory + "/log.csv", {.header = epoch_header(metrics), .step_column = 1}, keep.epochs,
                   keep.expected_epochs)),
      steps_(open(directory + "/steps.csv", {.header = step_header(metrics), .step_column = 0}, keep.steps,
                  keep.expected_steps)) {
  std::error_code absent;
  std::filesystem::remove(directory + kTestFile, absent);  // from an earlier end of this run, which now continues
}

LogFile RunLog::open(const std::string& path, const LogColumns& columns, std::int64_t last_step,
                     const ExpectedRows& expected) {
  const KeptRows rows = keep_rows(path, io::read_text(path).value_or(""), columns, last_step, expected);
  if (!rows.lost.empty()) losses_.push_back(rows.lost);
  return LogFile(path, fmt::format("{}\n{}", columns.header, rows.text), kMaxWaitSeconds);
}

void RunLog::add_step(const StepRow& row, double now) {
  steps_.add(fmt::format("{},{:.17g},{:.17g}{},{},{},{}\n", row.step, row.metrics.mean_loss(), row.lr,
                         fields_of(metrics_.of_objectives(), row.metrics, kAllDigits),
                         row.fingerprint ? fingerprint_text(*row.fingerprint) : "", why_skipped(row.outcome),
                         top1_field(row.metrics, metrics_, kAllDigits)),
             now);
}

void RunLog::add_epoch(const EpochRow& row) {
  const std::string line = fmt::format(
      "{},{},{},{},{},{:.9g},{:.1f},{:.2f},{:.2f},{},{:.2f},{:.2f}{}{}{},{:.2f}{}{}\n", row.epoch, row.step,
      row.samples, fields(row.train, metrics_), fields(row.test, metrics_), row.lr, row.samples_per_second,
      row.data_wait_percent, row.seconds, fields(row.val, metrics_), row.evaluation_seconds, row.save_seconds,
      fields_of(metrics_.of_objectives(), row.train), fields_of(metrics_.of_objectives(), row.test),
      fields_of(metrics_.of_objectives(), row.val), row.write_seconds, fields_of(metrics_.of_outputs(), row.test),
      fields_of(metrics_.of_outputs(), row.val));
  epochs_.add(line, now_seconds());
  flush();
}

void RunLog::write_test(const TestResult& result) const {
  io::write_text_atomically(
      directory_ + kTestFile,
      fmt::format("{}{}{}\n{},{},{}{}{}\n", kTestHeader, names_of(metrics_.of_objectives()),
                  names_of(metrics_.of_outputs()), result.step, result.metrics.num_samples(),
                  fields(result.metrics, metrics_), fields_of(metrics_.of_objectives(), result.metrics),
                  fields_of(metrics_.of_outputs(), result.metrics)));
}

void RunLog::sync_rows() const {
  epochs_.sync();
  steps_.sync();
}

void RunLog::flush() {
  epochs_.write();
  steps_.write();
  sync_rows();
}

}  // namespace convoy
