/// A run directory in the form of version 0.9.0, which had no metric but top-1: it is read, resumed, watched, compared
/// and plotted.
#include <algorithm>
#include <filesystem>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "convoy/io/atomic_file.h"

#include "app/runs.h"
#include "app/small_data.h"
#include "io/hdf5.h"
#include "io/trailer.h"
#include "unit/messages.h"

namespace convoy::test {

namespace {

constexpr int kEpoch = 10;  // steps per epoch

// Returns the table without the named column and those after it.
std::string without_columns(const std::string& table, const std::string& name) {
  const std::string header = table.substr(0, table.find('\n'));
  const std::size_t at = header.find("," + name);
  EXPECT_NE(at, std::string::npos) << header;
  const auto num_kept = std::count(header.begin(), header.begin() + static_cast<std::ptrdiff_t>(at), ',') + 1;
  std::string kept;
  std::int64_t fields = 0;
  for (const char c : table) {
    if (c == ',') ++fields;
    if (c == '\n') fields = 0;
    if (fields < num_kept) kept += c;
  }
  return kept;
}

std::string without(std::string text, const std::string& begin, const std::string& end) {
  for (std::size_t at = 0; (at = text.find(begin, at)) != std::string::npos;)
    text.erase(at, text.find(end, at + begin.size()) - at);
  return text;
}

// Returns the parameters with run.engines under its former name.
std::string with_former_key(std::string parameters) {
  const std::size_t at = parameters.find("\nengines =");
  EXPECT_NE(at, std::string::npos) << parameters;
  return parameters.replace(at + 1, std::string("engines").size(), "plans");
}

class OldRun : public Runs {
 protected:
  OldRun() : Runs(import_small_texts) {
    train("run", {1, 1}, 2 * kEpoch);
    std::filesystem::copy(run_, directory_ / "new", std::filesystem::copy_options::recursive);
    for (const auto& entry : std::filesystem::directory_iterator(run_ + "/checkpoints"))
      make_old_checkpoint(entry.path());
    for (const auto& [name, column] : {std::pair{"/log.csv", "test_balanced_accuracy"}, {"/steps.csv", "top1"}})
      write_text(run_ + name, without_columns(read_text(run_ + name), column));
    write_text(run_ + "/log.jsonl", without(without(read_text(run_ + "/log.jsonl"), ",\"metric\":", "}"),
                                            ",\"test_balanced_accuracy\":", ",\"samples_per_second\""));
    write_text(run_ + "/params.cfg", with_former_key(without(read_text(run_ + "/params.cfg"), "metric ", "\n")));
  }

  // Writes a valid file whose state lacks the metric's name.
  static void make_old_checkpoint(const std::string& path) {
    std::vector<std::byte> bytes = io::read_file(path);
    bytes.resize(bytes.size() - io::kTrailerBytes);
    write_bytes(path, bytes);
    {
      const io::hdf5::Lock lock = io::hdf5::lock_library();
      const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
      ASSERT_GE(H5Ldelete(file, "/state/metric", H5P_DEFAULT), 0) << path;
      ASSERT_GE(H5Fclose(file), 0);
    }
    bytes = io::read_file(path);
    io::append_trailer(bytes, io::magic::kCheckpoint);
    write_bytes(path, bytes);
  }
  static void write_bytes(const std::string& path, const std::vector<std::byte>& bytes) {
    io::write_file_atomically(path, bytes);
  }

  std::string output_of(const std::vector<std::string>& arguments, int status = 0) const {
    const ProcessResult result = run_program({.arguments = arguments});
    EXPECT_EQ(result.status, status) << result.output;
    return result.output;
  }

  const std::string run_ = directory_ / "run";
};

}  // namespace

TEST_F(OldRun, IsReadWatchedComparedAndPlotted) {
  const io::TrainingState state = checkpoint("run", 2 * kEpoch).state;
  EXPECT_EQ(state.metric, "top1");
  EXPECT_GT(state.best_value, 0);
  const std::string best = fmt::format("top-1 {:.2f} % at step {}", 100 * state.best_value, state.best_step);
  EXPECT_CONTAINS(output_of({"info", run_ + "/checkpoints/best.h5"}), "best          " + best + "\n");
  EXPECT_CONTAINS(output_of({"watch", run_, "--watch.once=true"}), "\ntest top-1 ");
  const std::string compared = output_of({"compare", run_, directory_ / "new"});
  EXPECT_CONTAINS(compared, "test top-1: equal in all 2 evaluations that both runs have");
  EXPECT_CONTAINS(compared, "best: test " + best + " in the first, test " + best + " in the second");
  EXPECT_FALSE(contains(compared, "macro F1")) << "the first has none: " << compared;
  EXPECT_CONTAINS(output_of({"replay", run_ + "/params.cfg", "--replay.steps=11-20"}),
                  "losses: all 10 are equal to the recorded ones, bit by bit\ntop-1: none is recorded for these steps");
  const std::string evaluated =
      output_of({"evaluate", run_ + "/params.cfg", "--checkpoint.resume=best", "--run.plans=" + run_ + "/plans.txt"});
  EXPECT_CONTAINS(evaluated, fmt::format("top-1 {:.2f} %", 100 * state.best_value));
  EXPECT_CONTAINS(evaluated, "convoy: warning: command line: run.plans is now called run.engines: use the new name");
  const ProcessResult plot = run_program(
      {.arguments = {run_, "--output=" + run_ + "/plot.svg"}, .program = CONVOY_INPUT "/../tools/plot_run"});
  EXPECT_TRUE(plot.status == 0 || contains(plot.output, "has no matplotlib")) << plot.output;
}

TEST_F(OldRun, IsResumedToWhatARunOfThisVersionComesTo) {
  arguments_ = {"train", run_ + "/params.cfg"};
  train("run", {1, 1}, 3 * kEpoch);
  EXPECT_FALSE(contains(without(output_, "warning: data.t", "the rest of such a text is not read"), "warning"))
      << output_;
  arguments_ = {"train", directory_ / "new/params.cfg"};
  train("new", {1, 1}, 3 * kEpoch);
  const io::TrainingState old = checkpoint("run", 3 * kEpoch).state, now = checkpoint("new", 3 * kEpoch).state;
  EXPECT_EQ(old.metric, now.metric);
  EXPECT_EQ(old.best_value, now.best_value);
  EXPECT_EQ(old.best_step, now.best_step);
  // The old rows have no such metrics; new rows do.
  const std::string log = read_text(run_ + "/log.csv"), of_new = read_text(directory_ / "new/log.csv");
  EXPECT_EQ(log.substr(0, log.find('\n')), of_new.substr(0, of_new.find('\n')));
  EXPECT_CONTAINS(log, ",,,,\n3,30,");
  EXPECT_FALSE(log.ends_with(",,,,\n")) << log;
}

// A best value of one metric tells nothing about another metric's: the next measurement is the best one.
TEST_F(OldRun, TakesAnotherMetricFromItsNextMeasurementOn) {
  arguments_ = {"train", run_ + "/params.cfg", "--train.metric=macro_f1"};
  train("run", {1, 1}, 3 * kEpoch);
  EXPECT_CONTAINS(output_, "train.metric = macro_f1 is another metric than that of the best top-1 ");
  const io::TrainingState state = checkpoint("run", 3 * kEpoch).state;
  EXPECT_EQ(state.metric, "macro_f1");
  EXPECT_EQ(state.best_step, 3 * kEpoch);
}

}  // namespace convoy::test
