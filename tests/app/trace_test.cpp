/// Pictures of steps: what run.trace and plan.draw leave on disk, on a real grid.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "app/program.h"
#include "app/small_data.h"
#include "unit/schedule/well_formed.h"

namespace convoy::test {

namespace {

using Json = nlohmann::json;

class Traces : public testing::Test {
 protected:
  ProcessResult train(const std::vector<std::string>& more, int ranks) const {
    return run_program(
        {.arguments = arguments_ + std::vector<std::string>{"--run.directory=" + run_} + more, .ranks = ranks});
  }

  WorkingDirectory directory_;
  std::vector<std::string> arguments_ = import_small_data(directory_ / "small");
  std::string run_ = directory_ / "run";
};

std::int64_t nanoseconds(const Json& microseconds) {
  return std::llround(microseconds.get<double>() * 1e3);
}

// Converts to seconds; 0 for an unknown unit.
double seconds_of(const std::string& number, const std::string& unit) {
  return std::stod(number) * (unit == "s" ? 1 : unit == "ms" ? 1e-3 : 0);
}

double longest_title(const std::string& svg) {
  const std::regex title("class=\"t\"[^>]*>([^<]*)<"), length("([0-9.]+) (m?s)\\b");
  double longest = 0;
  for (std::sregex_iterator i(svg.begin(), svg.end(), title), end; i != end; ++i) {
    const std::string text = (*i)[1];
    double last = 0;
    for (std::sregex_iterator k(text.begin(), text.end(), length); k != end; ++k) last = seconds_of((*k)[1], (*k)[2]);
    longest = std::max(longest, last);
  }
  return longest;
}

double end_of_axis(const std::string& svg) {
  const std::regex last_ticks("class=\"m\"[^>]*>([0-9.]+)</text>\n<text class=\"m\"[^>]*>time, (m?s)<");
  std::smatch match;
  return std::regex_search(svg, match, last_ticks) ? seconds_of(match[1], match[2]) : -1;
}

/// Sums of the lengths of slices by rank.
using Lengths = std::map<int, std::int64_t>;

Lengths lengths_of(const Json& trace, const std::string& category) {
  Lengths lengths;
  for (const Json& event : trace["traceEvents"])
    if (event["ph"] == "X" && event["cat"] == category) lengths[event["tid"]] += nanoseconds(event["dur"]);
  return lengths;
}

}  // namespace

TEST_F(Traces, OfTwoStepsOnTwoStagesAndTwoReplicasTellWhoWorkedAndWhoWaited) {
  const ProcessResult result =
      train({"--grid.stages=2", "--train.max_steps=6", "--run.trace=2", "--run.bucket_mib=0.05"}, 4);
  ASSERT_EQ(result.status, 0) << result.output;
  const std::size_t line = result.output.find("trace of steps 4 to 5: busy ");
  ASSERT_NE(line, std::string::npos) << result.output;
  for (const char* cause : {"; idle: bubble ", " %, straggler ", " %, communication ", " %, data "})
    EXPECT_NE(result.output.find(cause, line), std::string::npos) << result.output;

  const Json trace = Json::parse(read_text(run_ + "/trace.json"));
  EXPECT_EQ(trace["otherData"]["ranks"], 4);
  std::map<int, std::set<std::string>> steps;
  std::map<int, std::map<std::string, int>> instructions;
  std::map<std::string, int> flows;
  for (const Json& event : trace["traceEvents"]) {
    const std::string phase = event["ph"];
    if (phase == "s" || phase == "f") ++flows[phase + std::to_string(event["id"].get<int>())];
    if (phase != "X") continue;
    const std::string name = event["name"];
    if (event["cat"] == "step") steps[event["tid"]].insert(name);
    if (event["cat"] == "instruction") ++instructions[event["tid"]][name.substr(0, name.find(' '))];
  }
  ASSERT_EQ(steps.size(), 4u);
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(steps[rank], (std::set<std::string>{"step 4", "step 5"})) << rank;
    EXPECT_EQ(instructions[rank]["Forward"], 2 * 4) << "4 of 8 micro-batches, two steps";
    EXPECT_EQ(instructions[rank]["SendActivation"], rank % 2 == 0 ? 8 : 0);
    EXPECT_EQ(instructions[rank]["RecvActivation"], rank % 2 == 1 ? 8 : 0);
    EXPECT_EQ(instructions[rank]["Loss"], rank % 2 == 1 ? 8 : 0);
    EXPECT_GT(instructions[rank]["UpdateBucket"], 2) << "several buckets";
  }
  // A send and a receive for each of 2 replicas, 2 steps, 2 directions, 4 micro-batches; each once.
  EXPECT_EQ(flows.size(), 2u * 2 * 2 * 2 * 4);
  for (const auto& [flow, times] : flows) EXPECT_EQ(times, 1) << flow;
  // Instructions fill their steps; waits are a part of them, and on stage 1 there must be some. Each of about 200
  // lengths is rounded to a nanosecond.
  const Lengths whole = lengths_of(trace, "step"), parts = lengths_of(trace, "instruction"),
                idle = lengths_of(trace, "idle");
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_NEAR(static_cast<double>(parts.at(rank)), static_cast<double>(whole.at(rank)), 500) << rank;
    if (idle.contains(rank)) {
      EXPECT_LT(idle.at(rank), whole.at(rank));
    }
  }
  EXPECT_TRUE(idle.contains(1) && idle.at(1) > 0);
  // Arrows point forwards, except for differences between clocks; here there is one clock.
  std::map<int, std::int64_t> sent;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == "s") sent[event["id"]] = nanoseconds(event["ts"]);
    if (event["ph"] == "f") {
      EXPECT_LE(sent.at(event["id"]), nanoseconds(event["ts"])) << event;
    }
  }

  const std::string svg = read_text(run_ + "/trace.svg");
  EXPECT_EQ(fault_in_xml(svg), "");
  EXPECT_TRUE(contains(svg, ">planned: ")) << svg;
  EXPECT_TRUE(contains(svg, ">every instruction takes its mean time, messages take no time; bubble ")) << svg;
  EXPECT_TRUE(contains(svg, ">measured: step ")) << svg;
  // The latest time in the titles is the end of the boxes: the axis ends with the longer of the two.
  EXPECT_EQ(longest_title(svg), end_of_axis(svg)) << svg;
  EXPECT_LT(svg.size(), 60u << 10);
}

TEST_F(Traces, OfChunksNameTheirCellsAndFollowMessagesAroundTheStages) {
  const ProcessResult result = train({"--grid.stages=2", "--schedule.kind=interleaved", "--train.max_steps=5",
                                      "--run.trace=1", "--run.bucket_mib=0.05", "--train.clip_norm=1"},
                                     2);
  ASSERT_EQ(result.status, 0) << result.output;
  const Json trace = Json::parse(read_text(run_ + "/trace.json"));
  std::map<std::pair<int, std::string>, std::set<std::string>> cells;  // by rank, and operation with its chunk
  std::set<std::string> flows;
  for (const Json& event : trace["traceEvents"]) {
    const std::string phase = event["ph"];
    if (phase == "s" || phase == "f") flows.insert(phase + std::to_string(event["id"].get<int>()));
    if (phase != "X" || event["cat"] != "instruction") continue;
    const std::string name = event["name"], chunk = name.ends_with(" chunk 1") ? " chunk 1" : "";
    cells[{event["tid"], name.substr(0, name.find(' ')) + chunk}].insert(event["args"]["cells"]);
  }
  // Two stages of two chunks have three boundaries: a send and a receive for each, 2 directions, 8 micro-batches.
  EXPECT_EQ(flows.size(), 3u * 2 * 2 * 8);
  std::set<std::string> runs;
  for (const int rank : {0, 1}) {
    std::vector<std::string> mine;
    for (const std::string chunk : {"", " chunk 1"}) {
      const std::set<std::string>& named = cells[{rank, "Forward" + chunk}];
      ASSERT_EQ(named.size(), 1u) << rank << chunk;
      mine.push_back(*named.begin());
      EXPECT_TRUE((cells[{rank, "Backward" + chunk}].contains(mine.back()))) << rank << chunk;
    }
    EXPECT_EQ((cells[{rank, "AgreeOnUpdate"}]), std::set<std::string>{mine[0] + ", " + mine[1]});
    runs.insert(mine.begin(), mine.end());
  }
  EXPECT_EQ(runs.size(), 4u);
  EXPECT_TRUE((cells[{0, "Forward"}].begin()->starts_with("stem")));
  EXPECT_TRUE((cells[{1, "Forward chunk 1"}].begin()->ends_with("head")));
  EXPECT_GT((cells[{1, "Backward chunk 1"}].size()), 1u) << "whole, and by bucket";
}

TEST_F(Traces, ChangeNoBit) {
  ASSERT_EQ(train({"--grid.stages=2", "--train.max_steps=5", "--run.trace=2"}, 4).status, 0);
  const std::string traced = read_text(run_ + "/steps.csv");
  ASSERT_EQ(train({"--grid.stages=2", "--train.max_steps=5", "--run.directory=" + (directory_ / "plain")}, 4).status,
            0);
  EXPECT_EQ(read_text(directory_ / "plain/steps.csv"), traced);
  EXPECT_FALSE(std::filesystem::exists(directory_ / "plain/trace.json"));
}

TEST_F(Traces, OfARunThatIsTooShortAreExplained) {
  const ProcessResult one = train({"--train.max_steps=1", "--run.trace=2"}, 2);
  EXPECT_EQ(one.status, 0) << one.output;
  EXPECT_TRUE(contains(one.output, "run.trace: this run ended before a step that could be traced")) << one.output;
  const ProcessResult two = train({"--train.max_steps=4", "--run.trace=9"}, 2);
  EXPECT_EQ(two.status, 0) << two.output;
  EXPECT_TRUE(contains(two.output, "trace of steps 3 to 4: ")) << "all but the first of this run: " << two.output;
}

TEST_F(Traces, ThatTheDiskDoesNotTakeAreWarnedOfAndTheTrainingGoesOn) {
  std::filesystem::create_directories(run_ + "/trace.json/in-the-way");
  const ProcessResult result = train({"--train.max_steps=6", "--run.trace=2"}, 2);
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_TRUE(contains(result.output, "convoy: warning: run.trace: ")) << result.output;
  EXPECT_TRUE(contains(result.output, "trace.json")) << result.output;
  EXPECT_TRUE(contains(result.output, "trace of steps 4 to 5: "))
      << "the line is there all the same: " << result.output;
  EXPECT_TRUE(std::filesystem::exists(run_ + "/checkpoints/step-00000006.h5"));
}

TEST_F(Traces, OfAPlanNeedNoRanks) {
  const std::string svg_path = directory_ / "plan.svg";
  std::vector<std::string> arguments = arguments_;
  arguments.front() = "plan";
  const ProcessResult plan =
      run_program({.arguments = arguments + std::vector<std::string>{"--grid.stages=2", "--plan.ranks=8",
                                                                     "--plan.draw=" + svg_path}});
  ASSERT_EQ(plan.status, 0) << plan.output;
  EXPECT_TRUE(contains(plan.output, "2 stages x 4 replicas = 8 ranks")) << plan.output;
  const std::string svg = read_text(svg_path);
  EXPECT_EQ(fault_in_xml(svg), "");
  EXPECT_TRUE(contains(svg, ">rank 7<")) << svg;
  EXPECT_TRUE(contains(svg, ">planned step of resnet20: ")) << svg;
  EXPECT_TRUE(contains(plan.output, "layouts: cells measured; ")) << plan.output;
  EXPECT_TRUE(contains(svg, "times of cells measured</text>")) << "as the table beside it: " << svg;
  const ProcessResult nowhere = run_program(
      {.arguments = arguments + std::vector<std::string>{"--plan.draw=" + (directory_ / "absent/plan.svg")}});
  EXPECT_EQ(nowhere.status, 1) << nowhere.output;
  EXPECT_TRUE(contains(nowhere.output, "absent/plan.svg")) << nowhere.output;
}

}  // namespace convoy::test
