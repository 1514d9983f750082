/// CSV tables that survive a restart.
#include "train/run_log.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <span>

#include <unistd.h>

#include "convoy/base/error.h"
#include "convoy/io/checkpoint.h"

#include "io/atomic_file.h"

namespace convoy {

namespace {

constexpr TableColumns kEpochColumns{
    .header =
        "epoch,step,samples,train_loss,train_top1,test_loss,test_top1,lr,images_per_second,data_wait_percent,"
        "seconds,val_loss,val_top1,evaluation_seconds,save_seconds",
    .step_column = 1};
constexpr TableColumns kStepColumns{.header = "step,loss,lr", .step_column = 0};
constexpr const char* kTestFile = "/test.csv";

// Loss and top-1; two empty fields where they were not measured.
std::string fields(const std::optional<StepMetrics>& metrics) {
  return metrics ? fmt::format("{:.9g},{:.9g}", metrics->mean_loss(), metrics->top1()) : ",";
}

}  // namespace

RunLog::RunLog(const std::string& directory, const Keep& keep)
    : directory_(directory),
      epochs_(open(directory + "/log.csv", kEpochColumns, keep.epochs, keep.expected_epochs)),
      steps_(open(directory + "/steps.csv", kStepColumns, keep.steps, keep.expected_steps)) {
  std::error_code absent;
  std::filesystem::remove(directory + kTestFile, absent);  // of an earlier end of this run, which now goes on
  flush();
}

RunLog::Table RunLog::open(const std::string& path, const TableColumns& columns, std::int64_t last_step,
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

void RunLog::write_through(const Table& table) {
  check(table, std::fflush(table.file.get()) == 0);
  check(table, fsync(fileno(table.file.get())) == 0);
}

void RunLog::add_step(std::int64_t step, double loss, double lr, double now) {
  check(steps_, std::fprintf(steps_.file.get(), "%lld,%.17g,%.17g\n", static_cast<long long>(step), loss, lr) > 0);
  if (first_waiting_seconds_ == 0) first_waiting_seconds_ = now;
  if (now - first_waiting_seconds_ >= kMaxWaitSeconds) write_rows();
}

void RunLog::add_epoch(const EpochRow& row) {
  const std::string line =
      fmt::format("{},{},{},{},{},{:.9g},{:.1f},{:.2f},{:.2f},{},{:.2f},{:.2f}\n", row.epoch, row.step, row.samples,
                  fields(row.train), fields(row.test), row.lr, row.images_per_second, row.data_wait_percent,
                  row.seconds, fields(row.val), row.evaluation_seconds, row.save_seconds);
  check(epochs_, std::fputs(line.c_str(), epochs_.file.get()) >= 0);
  flush();
}

void RunLog::write_test(const TestResult& result) const {
  const std::string text = fmt::format("step,samples,loss,top1\n{},{},{}\n", result.step, result.metrics.num_samples,
                                       fields(result.metrics));
  io::write_file_atomically(directory_ + kTestFile, std::as_bytes(std::span(text)));
}

void RunLog::write_rows() {
  check(steps_, std::fflush(steps_.file.get()) == 0);
  first_waiting_seconds_ = 0;
}

void RunLog::flush() {
  write_through(epochs_);
  write_through(steps_);
  first_waiting_seconds_ = 0;
}

}  // namespace convoy
