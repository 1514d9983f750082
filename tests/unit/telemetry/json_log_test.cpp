/// log.jsonl: rows that are JSON, current, and true after a restart.
#include "telemetry/json_log.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace convoy {

namespace {

class JsonLogTest : public testing::Test {
 protected:
  JsonLogTest() : path_(fmt::format("{}/convoy-{}.jsonl", std::filesystem::temp_directory_path().string(), getpid())) {}
  void TearDown() override { std::filesystem::remove(path_); }

  std::string text() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string path_;
};

std::string row(const char* kind, int step) {
  return JsonRow(kind, 1, step).line();
}

}  // namespace

TEST(JsonRow, IsOneLineOfJsonWhateverTextsAndNumbersItHolds) {
  const std::string line = JsonRow("warning", 12.5, 3)
                               .add("text", "two\nlines, a \"quote\" and a byte that is no UTF-8: \xff")
                               .add("loss", std::numeric_limits<double>::quiet_NaN())
                               .add("lr", 0.1)
                               .add("rank", 7)
                               .line();
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const auto json = nlohmann::json::parse(line);
  EXPECT_EQ(json["kind"], "warning");
  EXPECT_EQ(json["step"], 3);
  EXPECT_EQ(json["time"], 12.5);
  EXPECT_TRUE(json["loss"].is_null());
  EXPECT_EQ(json["lr"], 0.1) << "to the last bit";
  EXPECT_EQ(json["rank"], 7);
  EXPECT_EQ(json["text"].get<std::string>().substr(0, 9), "two\nlines");
}

TEST_F(JsonLogTest, RowsAreInTheFileOnceTheyHaveWaited) {
  JsonLog log(path_, {});
  log.add({"step", 1, 1}, 100);
  EXPECT_EQ(text(), "");
  log.add({"step", 1, 2}, 100 + JsonLog::kMaxWaitSeconds);
  EXPECT_EQ(text(), row("step", 1) + row("step", 2));
  log.add({"step", 1, 3}, 200);
  log.add_at_once({"warning", 1, 3});
  EXPECT_EQ(text(), row("step", 1) + row("step", 2) + row("warning", 3)) << "a warning does not wait";
}

TEST_F(JsonLogTest, ARestartKeepsRowsUpToItsStepAndNoHalfLine) {
  std::ofstream(path_) << row("start", 0) << row("step", 9) << row("epoch", 10) << row("step", 10) << row("epoch", 14)
                       << row("step", 14) << "garbage\n{\"kind\":1}\n"
                       << row("warning", 15) << "{\"kind\":\"st";
  const JsonLog log(path_, {.steps = 14, .epochs = 10});
  EXPECT_EQ(text(), row("start", 0) + row("step", 9) + row("epoch", 10) + row("step", 10) + row("step", 14));
}

TEST_F(JsonLogTest, ARunFromTheBeginningKeepsNothing) {
  std::ofstream(path_) << row("start", 0) << row("step", 9);
  const JsonLog log(path_, {});
  EXPECT_EQ(text(), "");
}

}  // namespace convoy
