/// What run.profile writes, on a real grid: all of a step's time.
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "app/program.h"
#include "app/small_data.h"

namespace convoy::test {

namespace {

using Row = std::map<std::string, std::string>;

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
  return fields;
}

std::vector<Row> read_rows(const std::string& path) {
  std::istringstream lines(read_text(path));
  std::string line;
  std::getline(lines, line);
  const std::vector<std::string> names = fields_of(line);
  std::vector<Row> rows;
  while (std::getline(lines, line)) {
    const std::vector<std::string> fields = fields_of(line);
    EXPECT_EQ(fields.size(), names.size()) << line;
    Row& row = rows.emplace_back();
    for (std::size_t i = 0; i < std::min(fields.size(), names.size()); ++i) row[names[i]] = fields[i];
  }
  return rows;
}

class Profiles : public testing::Test {
 protected:
  ProcessResult train(const std::vector<std::string>& more, int ranks) const {
    return run_program(
        {.arguments = arguments_ + std::vector<std::string>{"--run.directory=" + run_} + more, .ranks = ranks});
  }
  std::vector<Row> rows() const { return read_rows(run_ + "/profile.csv"); }

  WorkingDirectory directory_;
  std::vector<std::string> arguments_ = import_small_data(directory_ / "small");
  std::string run_ = directory_ / "run";
};

}  // namespace

// Counts the calls of each layer of both stages, forward and backward, for the micro-batches that a replica has per
// step.
TEST_F(Profiles, HaveEveryLayersWorkOnce) {
  const ProcessResult result = train({"--grid.stages=2", "--train.max_steps=6", "--run.profile=2"}, 4);
  ASSERT_EQ(result.status, 0) << result.output;
  EXPECT_TRUE(contains(result.output, "profile of steps 4 to 5: ")) << result.output;
  EXPECT_TRUE(contains(result.output, "\n  convolution, gradient of w ")) << result.output;
  EXPECT_TRUE(contains(result.output, "  each layer: " + run_ + "/profile.csv\n")) << result.output;
  std::set<std::string> seen;
  std::map<std::string, double> share;
  std::int64_t num_convolutions = 0;
  const std::string calls = rows().front()["calls"];
  for (Row& row : rows()) {
    share[row["stage"]] += std::stod(row["share_percent"]);
    if (row["work"].empty()) continue;
    EXPECT_TRUE(seen.insert(row["name"] + row["x"] + row["cell"] + row["operation"] + row["work"]).second)
        << row["name"] << row["work"];
    EXPECT_EQ(row["calls"], calls);
    if (row["operation"] != "convolution") continue;
    EXPECT_GT(std::stod(row["milliseconds"]), 0);
    if (row["work"] == "forward") ++num_convolutions;
    if (row["work"] != "sum of gradients" && (row["work"] != "gradient of x" || row["cell"] != "stem")) {
      EXPECT_GT(std::stod(row["gflop_per_second"]), 0) << row["name"] << row["work"];
    }
  }
  EXPECT_EQ(num_convolutions, 19) << "resnet20";
  ASSERT_EQ(share.size(), 2u) << "stages";
  for (const auto& [stage, percent] : share) {  // 100, but ranks begin and end a step at other times than rank 0
    EXPECT_GT(percent, 60) << stage;
    EXPECT_LT(percent, 130) << stage;
  }
}

TEST_F(Profiles, OfABackwardInTwoPartsAndOfWhatIsRecomputed) {
  ASSERT_EQ(train({"--grid.stages=2", "--train.max_steps=5", "--run.profile=1", "--schedule.kind=zero_bubble",
                   "--memory.recompute=cell"},
                  2)
                .status,
            0);
  std::map<std::string, int> works;
  for (Row& row : rows())
    if (row["operation"] == "convolution") ++works[row["work"]];
  EXPECT_EQ(works["forward"], 19);
  EXPECT_EQ(works["gradient of w"], 19);
  EXPECT_GT(works["recomputing"], 0);
}

TEST_F(Profiles, ChangeNoBit) {
  ASSERT_EQ(train({"--train.max_steps=5", "--run.profile=2"}, 2).status, 0);
  const std::string profiled = read_text(run_ + "/steps.csv");
  run_ = directory_ / "plain";
  ASSERT_EQ(train({"--train.max_steps=5"}, 2).status, 0);
  EXPECT_EQ(read_text(run_ + "/steps.csv"), profiled);
  EXPECT_FALSE(std::filesystem::exists(run_ + "/profile.csv"));
}

TEST_F(Profiles, OfShortRunsSayWhatTheyMeasured) {
  const ProcessResult one = train({"--train.max_steps=1", "--run.profile=2"}, 1);
  ASSERT_EQ(one.status, 0) << one.output;
  EXPECT_TRUE(contains(one.output, "run.profile: this run ended before a step that could be measured")) << one.output;
  const ProcessResult two = train({"--train.max_steps=4", "--run.profile=9"}, 1);
  ASSERT_EQ(two.status, 0) << two.output;
  EXPECT_TRUE(contains(two.output, "profile of steps 3 to 4: ")) << "all but the first of this run: " << two.output;
}

TEST_F(Profiles, ThatCannotBeWrittenAreWarnedOf) {
  std::filesystem::create_directories(run_ + "/profile.csv/in-the-way");
  const ProcessResult result = train({"--train.max_steps=6", "--run.profile=2"}, 1);
  ASSERT_EQ(result.status, 0) << result.output;
  EXPECT_TRUE(contains(result.output, "convoy: warning: run.profile: ")) << result.output;
  EXPECT_TRUE(contains(result.output, "profile of steps 4 to 5: ")) << "the table is said nevertheless";
}

}  // namespace convoy::test
