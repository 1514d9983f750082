/// A network of texts from its import to its predictions, as a person meets it: no message calls a text an image.
#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "convoy/base/text.h"

#include "app/runs.h"
#include "app/small_data.h"

namespace convoy::test {

namespace {

constexpr int kEpoch = 10;  // steps per epoch

class TextRun : public Runs {
 protected:
  TextRun() : Runs(import_small_texts) { train("run", {1, 1}, kEpoch); }

  /// Returns the program's output; expects that it ends with this status, and mentions texts, not images.
  std::string output_of(const std::vector<std::string>& arguments, int status = 0, int ranks = 0) const {
    const ProcessResult result = run_program({.arguments = arguments, .ranks = ranks});
    EXPECT_EQ(result.status, status) << result.output;
    expect_no_image(result.output);
    return result.output;
  }
  static void expect_no_image(const std::string& output) {
    for (const char* word : {"image", "picture", "pixel"})
      EXPECT_FALSE(contains(lower_case(output), word)) << word << " in\n" << output;
  }
  std::string of_run(const std::string& name) const { return (directory_ / "run") + "/" + name; }
  std::string small(const std::string& name) const { return (directory_ / "small") + "/" + name; }
};

}  // namespace

TEST_F(TextRun, IsPlannedTrainedAndMeasuredInItsWords) {
  expect_no_image(output_);
  EXPECT_TRUE(contains(output_, " texts/s")) << output_;
  EXPECT_TRUE(contains(read_text(of_run("log.csv")), ",samples_per_second,"));
  EXPECT_TRUE(contains(output_of({"evaluate", of_run("params.cfg")}, 0, 2), " texts/s)"));

  std::vector<std::string> plan =
      arguments_ + std::vector<std::string>{"--plan.ranks=2", "--plan.measure=false", "--schedule.kind=zero_bubble"};
  plan.front() = "plan";
  const std::string planned = output_of(plan);
  EXPECT_TRUE(contains(planned, " texts/s ")) << planned;
  EXPECT_TRUE(contains(planned, "texts read ahead on stage 0, ")) << planned;
}

TEST_F(TextRun, IsNotResumedOnOtherTextsUnlessAsked) {
  // Two texts exchange their classes: the numbers of texts per class, and of all words, stay.
  std::string table = read_text(small("tables/train.csv"));
  const std::size_t first = table.find("\nwonderful,") + 1, second = table.find("\nterrible,") + 1;
  table.replace(std::max(first, second), second > first ? 8 : 9, second > first ? "wonderful" : "terrible");
  table.replace(std::min(first, second), second > first ? 9 : 8, second > first ? "terrible" : "wonderful");
  write_text(small("tables/train.csv"), table);
  output_of(
      {"import", "--import.source=" + small("tables"), "--import.output=" + small("data"), "--import.replace=true"});
  const std::vector<std::string> more = {"train", of_run("params.cfg"), "--train.max_steps=12"};
  const std::string refused = output_of(more, 2);
  EXPECT_TRUE(contains(refused, "holds other texts or labels than ")) << refused;
  const std::string resumed = output_of(more + std::vector<std::string>{"--checkpoint.allow_other_data=true"});
  EXPECT_TRUE(contains(resumed, "holds other texts or labels than ")) << resumed;
}

TEST_F(TextRun, PredictsDataSetsTablesFoldersFilesAndLines) {
  const std::vector<std::string> predict = {"predict", of_run("params.cfg")};
  const auto predicted = [&](const std::string& key, int ranks = 0) {
    return output_of(predict + std::vector<std::string>{"--predict." + key}, 0, ranks);
  };
  const std::string of_set = predicted("data=" + small("data/test"));
  EXPECT_TRUE(contains(of_set, ": 96 samples  top-1 ")) << of_set;
  EXPECT_TRUE(contains(of_set, " texts/s)")) << of_set;
  const std::string rows = read_text(of_run("predictions.csv")), logits = read_text(of_run("predictions.h5"));
  predicted("data=" + small("data/test"), 2);
  EXPECT_EQ(read_text(of_run("predictions.csv")), rows) << "on two ranks";
  EXPECT_TRUE(read_text(of_run("predictions.h5")) == logits) << "on two ranks";
  // Read without an import, the same texts have the same classes; only their names differ.
  const std::string of_table = predicted("data=" + small("tables/test.csv"));
  const auto score = [](const std::string& output) {
    const std::size_t begin = output.find("96 samples"), end = output.find(" %", begin);
    return output.substr(begin, end - begin);
  };
  EXPECT_EQ(score(of_table), score(of_set));

  std::filesystem::create_directories(directory_ / "texts");
  for (const std::string word : {"wonderful", "terrible"})
    write_text((directory_ / "texts") + "/" + word + ".txt", "word1 " + word + " word2");
  EXPECT_TRUE(contains(predicted("data=" + (directory_ / "texts")), ": 2 samples"));
  const std::string of_line = predicted("text=word1 terrible word2"),
                    of_file = predicted("data=" + (directory_ / "texts") + "/terrible.txt");
  const auto classes = [](const std::string& output) { return output.substr(output.find(":\n ")); };
  EXPECT_EQ(classes(of_line), classes(of_file));
  EXPECT_TRUE(contains(of_line, " %  wonderful\n")) << of_line;
  EXPECT_TRUE(contains(of_line, " %  terrible\n")) << of_line;
}

TEST_F(TextRun, IsDescribedAndCheckedInItsWords) {
  for (const std::string& path : {small("data"), small("data/train.h5"), of_run("checkpoints/step-00000010.h5")})
    for (const std::string command : {"info", "check"}) output_of({command, path});
  output_of({"info", of_run("checkpoints")});
  EXPECT_TRUE(contains(output_of({"info", small("data/train.h5")}), "texts"));
}

}  // namespace convoy::test
