/// CSV tables that survive a restart.
#include "train/run_log.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>

#include <unistd.h>

#include "convoy/base/error.h"
#include "convoy/io/checkpoint.h"

namespace convoy {

namespace {

constexpr const char* kEpochHeader =
    "epoch,step,samples,train_loss,train_top1,test_loss,test_top1,lr,images_per_second,data_wait_percent,seconds,"
    "val_loss,val_top1";
constexpr const char* kStepHeader = "step,loss,lr";
constexpr const char* kTestFile = "/test.csv";

// The rows whose step is at most `last_step`, without the header; a last row cut short by a crash is dropped.
std::string rows_up_to(const std::string& path, int step_column, std::int64_t last_step) {
  std::ifstream file(path);
  std::string kept, line;
  std::getline(file, line);  // header
  while (std::getline(file, line) && !file.eof()) {
    std::istringstream fields(line);
    std::string field;
    for (int i = 0; i <= step_column; ++i) std::getline(fields, field, ',');
    if (field.empty() || std::strtoll(field.c_str(), nullptr, 10) > last_step) continue;
    kept += line + "\n";
  }
  return kept;
}

// Loss and top-1; two empty fields where they were not measured.
std::string fields(const std::optional<StepMetrics>& metrics) {
  return metrics ? fmt::format("{:.9g},{:.9g}", metrics->mean_loss(), metrics->top1()) : ",";
}

}  // namespace

RunLog::RunLog(const std::string& directory, const Keep& keep)
    : directory_(directory),
      epochs_(open(directory + "/log.csv", kEpochHeader, 1, keep.epochs)),
      steps_(open(directory + "/steps.csv", kStepHeader, 0, keep.steps)) {
  std::error_code absent;
  std::filesystem::remove(directory + kTestFile, absent);  // of an earlier end of this run, which now goes on
  flush();
}

RunLog::Table RunLog::open(const std::string& path, const std::string& header, int step_column,
                           std::int64_t last_step) {
  const std::string rows = last_step > 0 ? rows_up_to(path, step_column, last_step) : "";
  const std::string temporary = path + ".tmp";
  Table table{.path = path, .file = nullptr};
  table.file.reset(std::fopen(temporary.c_str(), "w"));
  check(table, table.file != nullptr);
  check(table, std::fprintf(table.file.get(), "%s\n%s", header.c_str(), rows.c_str()) > 0);
  write_through(table);
  check(table, std::rename(temporary.c_str(), path.c_str()) == 0);
  return table;
}

void RunLog::check(const Table& table, bool ok) {
  if (!ok) fail("cannot write {}: {}. Make room or choose another run.directory", table.path, std::strerror(errno));
}

void RunLog::write_through(const Table& table) {
  check(table, std::fflush(table.file.get()) == 0);
  check(table, fsync(fileno(table.file.get())) == 0);
}

void RunLog::add_step(std::int64_t step, double loss, double lr) {
  check(steps_, std::fprintf(steps_.file.get(), "%lld,%.17g,%.17g\n", static_cast<long long>(step), loss, lr) > 0);
}

void RunLog::add_epoch(const EpochRow& row) {
  const std::string line = fmt::format("{},{},{},{},{},{:.9g},{:.1f},{:.2f},{:.2f},{}\n", row.epoch, row.step,
                                       row.samples, fields(row.train), fields(row.test), row.lr, row.images_per_second,
                                       row.data_wait_percent, row.seconds, fields(row.val));
  check(epochs_, std::fputs(line.c_str(), epochs_.file.get()) >= 0);
  flush();
}

void RunLog::write_test(const TestResult& result) const {
  const std::string text = fmt::format("step,samples,loss,top1\n{},{},{}\n", result.step, result.metrics.num_samples,
                                       fields(result.metrics));
  io::write_file_atomically(directory_ + kTestFile, std::as_bytes(std::span(text)));
}

void RunLog::flush() {
  write_through(epochs_);
  write_through(steps_);
}

}  // namespace convoy
