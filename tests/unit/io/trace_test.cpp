/// Traces in the form in which viewers read them.
#include "convoy/io/trace.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace convoy {
namespace {

using Json = nlohmann::json;

/// Two steps of a planned pipeline, the second 1 ms after the first, with a wait for the loader before each.
Timeline made_up(const PipelineSpec& spec) {
  const Schedule schedule = make_1f1b(spec);
  std::vector<WorkSeconds> work;
  for (const StageProgram& program : schedule)
    work.push_back(work_seconds(program, {{.forward_seconds = 1.1e-3, .backward_seconds = 2.3e-3}}));
  const Timeline one = planned_step({schedule, schedule}, {work[0], work[1], work[0], work[1]});
  Timeline two{.num_stages = one.num_stages, .num_steps = 2, .ranks = {}};
  for (const auto& rank : one.ranks) {
    auto& both = two.ranks.emplace_back();
    for (const double later : {5.0, 5.0 + 1e-3 + rank.back().end_seconds - rank.front().begin_seconds})
      for (Span i : rank) {
        i.begin_seconds += later;
        i.ready_seconds += later;
        i.end_seconds += later;
        both.push_back(i);
      }
  }
  return two;
}

class Trace : public testing::Test {
 protected:
  Trace()
      : text_(io::encode_trace({.timeline = timeline_,
                                .idle = idle_,
                                .first_step = 4,
                                .cells = [](std::size_t rank, const Instruction&) { return rank % 2 ? "b" : "\"a\""; },
                                .clock_error_seconds = 2.5e-6})),
        trace_(Json::parse(text_)) {}

  std::vector<Json> events(const std::string& phase, const std::string& category) const {
    std::vector<Json> found;
    for (const Json& event : trace_["traceEvents"])
      if (event["ph"] == phase && event["cat"] == category) found.push_back(event);
    return found;
  }
  static std::int64_t nanoseconds(const Json& microseconds) { return std::llround(microseconds.get<double>() * 1e3); }

  Timeline timeline_ = made_up({.stages = 2, .micro_batches = 3, .num_buckets = {2, 1}});
  std::vector<std::vector<IdleSlice>> idle_ = divide_idle(timeline_, step_of(timeline_, 0));
  std::string text_;
  Json trace_;
};

TEST_F(Trace, HasATrackARankThatBelongsToItsReplica) {
  std::map<int, std::string> tracks;
  std::set<std::string> processes;
  for (const Json& event : trace_["traceEvents"]) {
    if (event["ph"] != "M") continue;
    if (event["name"] == "thread_name") tracks[event["tid"]] = event["args"]["name"];
    if (event["name"] == "process_name") processes.insert(event["args"]["name"]);
  }
  EXPECT_EQ(processes, (std::set<std::string>{"replica 0", "replica 1"}));
  ASSERT_EQ(tracks.size(), 4u);
  EXPECT_EQ(tracks[3], "rank 3, stage 1");
  for (const Json& event : trace_["traceEvents"]) EXPECT_EQ(event["pid"].get<int>(), event["tid"].get<int>() / 2);
}

TEST_F(Trace, HasEveryInstructionWithItsCellsOneBehindTheOther) {
  std::map<int, std::int64_t> end;
  std::map<int, std::size_t> number;
  for (const Json& slice : events("X", "instruction")) {
    const int rank = slice["tid"];
    const Span& timed = timeline_.ranks[rank].at(number[rank]++);
    EXPECT_EQ(slice["name"], to_string(timed.instruction));
    EXPECT_EQ(slice["args"]["cells"], rank % 2 ? "b" : "\"a\"");
    if (timed.instruction.micro_batch >= 0) {
      EXPECT_EQ(slice["args"]["micro_batch"], timed.instruction.micro_batch);
    }
    EXPECT_GE(nanoseconds(slice["ts"]), end[rank]) << slice;
    EXPECT_GE(nanoseconds(slice["ts"]), 0);
    EXPECT_GE(nanoseconds(slice["dur"]), 0);
    end[rank] = nanoseconds(slice["ts"]) + nanoseconds(slice["dur"]);
  }
  for (int rank = 0; rank < 4; ++rank) EXPECT_EQ(number[rank], timeline_.ranks[rank].size());
}

TEST_F(Trace, HasEveryWaitWithinItsInstruction) {
  std::size_t num_slices = 0;
  for (const auto& rank : idle_) num_slices += rank.size();
  ASSERT_GT(num_slices, 0u);
  const std::vector<Json> waits = events("X", "idle"), instructions = events("X", "instruction");
  EXPECT_EQ(waits.size(), num_slices);
  for (const Json& wait : waits) {
    const std::int64_t begin = nanoseconds(wait["ts"]), end = begin + nanoseconds(wait["dur"]);
    const auto holds = [&](const Json& slice) {
      const std::int64_t from = nanoseconds(slice["ts"]);
      return slice["tid"] == wait["tid"] && from <= begin && end <= from + nanoseconds(slice["dur"]);
    };
    EXPECT_TRUE(std::any_of(instructions.begin(), instructions.end(), holds)) << wait;
  }
}

TEST_F(Trace, LeadsFromEverySendToItsReceive) {
  std::map<int, Json> begins, ends;
  for (const Json& flow : events("s", "message")) EXPECT_TRUE(begins.emplace(flow["id"], flow).second);
  for (const Json& flow : events("f", "message")) EXPECT_TRUE(ends.emplace(flow["id"], flow).second);
  EXPECT_EQ(begins.size(), 2u * 2 * 2 * 3) << "replicas, steps, directions, micro-batches";
  ASSERT_EQ(begins.size(), ends.size());
  for (const auto& [id, begin] : begins) {
    const Json& end = ends.at(id);
    EXPECT_EQ(begin["name"], end["name"]);
    EXPECT_EQ(begin["pid"], end["pid"]);
    EXPECT_EQ(std::abs(begin["tid"].get<int>() - end["tid"].get<int>()), 1);
    EXPECT_LE(nanoseconds(begin["ts"]), nanoseconds(end["ts"]));
    EXPECT_EQ(end["bp"], "e");
  }
}

TEST_F(Trace, NumbersItsStepsAndSaysWhatItKnowsOfTheClocks) {
  std::set<std::string> steps;
  for (const Json& step : events("X", "step")) steps.insert(step["name"]);
  EXPECT_EQ(steps, (std::set<std::string>{"step 4", "step 5"}));
  EXPECT_EQ(trace_["otherData"]["clock_error_us"], 2.5);
  EXPECT_EQ(trace_["otherData"]["steps"], 2);
}

}  // namespace
}  // namespace convoy
