/// BERT as a user trains it: on pairs of spans that every rank draws for itself, then classes from its weights.
#include <algorithm>
#include <filesystem>
#include <random>

#include <gtest/gtest.h>

#include "app/runs.h"
#include "app/small_data.h"
#include "unit/io/same_bits.h"

namespace convoy::test {

namespace {

/// Texts of two classes; each of their words belongs to one class or to all texts.
void write_texts(const std::string& folder) {
  const std::vector<std::string> common = {"the", "film", "was", "and", "a", "story", "with", "actors", "of", "in"};
  const std::vector<std::string> own[] = {{"bad", "dull", "poor", "slow"}, {"good", "great", "fine", "lovely"}};
  std::mt19937 random(5);
  const auto one_of = [&](const std::vector<std::string>& words) { return words[random() % words.size()]; };
  for (const auto& [split, count] : {std::pair("train", 48), std::pair("test", 12)}) {
    for (int label = 0; label < 2; ++label) {
      const std::string class_folder = folder + "/" + split + (label == 0 ? "/neg" : "/pos");
      std::filesystem::create_directories(class_folder);
      for (int i = 0; i < count; ++i) {
        std::string text;
        for (unsigned words = 4 + random() % 30; words > 0; --words)
          text += (random() % 3 == 0 ? one_of(own[label]) : one_of(common)) + " ";
        write_text(class_folder + "/" + std::to_string(i) + ".txt", text);
      }
    }
  }
}

/// Texts that repeat twenty words in a circle: each word follows from its neighbours, and not from counts of words.
void write_circles(const std::string& folder) {
  std::mt19937 random(6);
  for (const auto& [split, count] : {std::pair("train", 1000), std::pair("test", 100)}) {
    for (const char* label : {"/a", "/b"}) {
      std::filesystem::create_directories(folder + "/" + split + label);
      for (int i = 0; i < count; ++i) {
        std::string text;
        unsigned word = random() % 20;
        for (unsigned words = 20 + random() % 40; words > 0; --words)
          text += std::string("word") + static_cast<char>('a' + word++ % 20) + " ";
        write_text(folder + "/" + split + label + "/" + std::to_string(i) + ".txt", text);
      }
    }
  }
}

class Bert : public testing::Test {
 protected:
  void import(void (*write)(const std::string& folder)) const {
    write(directory_ / "texts");
    const ProcessResult result = run_program({.arguments = {"import", "--import.source=" + (directory_ / "texts"),
                                                            "--import.output=" + (directory_ / "data")}});
    EXPECT_EQ(result.status, 0) << result.output;
  }

  std::vector<std::string> arguments(const std::string& model, const std::string& run) const {
    return {"train",
            "--model.name=" + model,
            "--model.layers=2",
            "--model.heads=2",
            "--model.width=32",
            "--model.feedforward=32",
            "--model.length=24",
            "--model.positions=learned",
            "--model.activation=gelu",
            "--data.train=" + (directory_ / "data/train"),
            "--data.test=" + (directory_ / "data/test"),
            "--batch.global=16",
            "--batch.micro=4",
            "--optimizer.kind=adamw",
            "--optimizer.lr=0.005",
            "--train.epochs=4",
            "--run.device=cpu",
            "--run.threads=1",
            "--run.directory=" + (directory_ / run)};
  }
  std::string train(const std::string& model, const std::string& run, const std::vector<std::string>& more,
                    int ranks = 1) const {
    const ProcessResult result = run_program({.arguments = arguments(model, run) + more, .ranks = ranks});
    EXPECT_EQ(result.status, 0) << run << "\n" << result.output;
    return result.output;
  }
  io::Checkpoint end(const std::string& run) const {
    return read_checkpoint(io::checkpoint_path((directory_ / run) + "/checkpoints", 24));
  }

  WorkingDirectory directory_;
};

}  // namespace

// 24 steps; a stop within an epoch, so that its sums of both objectives go through a checkpoint.
TEST_F(Bert, HasTheBitsOfOneRankOnAnyGridAndAfterARestartOnAnother) {
  import(write_texts);
  const std::string shown = train("bert", "one", {});
  EXPECT_TRUE(contains(shown, "(masked words ")) << shown;
  EXPECT_TRUE(contains(shown, "next sentence ")) << shown;
  EXPECT_TRUE(contains(shown, "best test masked words top-1 ")) << shown;
  train("bert", "grid", {"--grid.stages=2", "--schedule.kind=zero_bubble", "--memory.recompute=cell"}, 4);
  train("bert", "restarted", {"--grid.stages=2", "--train.max_steps=15"}, 2);
  train("bert", "restarted", {"--train.max_steps=0"}, 2);
  for (const char* run : {"grid", "restarted"}) {
    SCOPED_TRACE(run);
    expect_same_bits(end(run).model, end("one").model);
    EXPECT_EQ(end(run).state.best_value, end("one").state.best_value);
    EXPECT_EQ(read_text((directory_ / run) + "/steps.csv"), read_text((directory_ / "one") + "/steps.csv"));
    EXPECT_EQ(end(run).state.epoch, end("one").state.epoch);
  }
  EXPECT_TRUE(read_text((directory_ / "one") + "/steps.csv")
                  .starts_with("step,loss,lr,masked_words_loss,masked_words_top1,next_sentence_loss,next_sentence_"));
}

TEST_F(Bert, GivesItsWeightsToAClassifierAndNoClassesItself) {
  import(write_texts);
  train("bert", "bert", {});
  const std::vector<std::string> of_bert = {(directory_ / "bert") + "/params.cfg"};
  const ProcessResult measured = run_program({.arguments = std::vector<std::string>{"evaluate"} + of_bert});
  EXPECT_EQ(measured.status, 0) << measured.output;
  EXPECT_TRUE(contains(measured.output, "24 samples  loss ")) << measured.output;
  EXPECT_TRUE(contains(measured.output, "masked words ")) << measured.output;
  const ProcessResult predicted = run_program(
      {.arguments = std::vector<std::string>{"predict"} + of_bert + std::vector<std::string>{"--predict.text=good"}});
  EXPECT_EQ(predicted.status, 2);
  EXPECT_TRUE(contains(predicted.output, "was trained for masked words and next sentence, and gives no classes"))
      << predicted.output;

  const std::string weights = (directory_ / "bert") + "/checkpoints/step-00000024.h5";
  train("bert_classifier", "start", {"--init.weights=" + weights, "--init.strict=false", "--optimizer.lr=0"});
  const io::Checkpoint start = end("start"), bert = end("bert");
  std::size_t num_shared = 0;
  for (const io::NamedTensor& tensor : start.model) {
    const auto same = std::ranges::find(bert.model, tensor.name, &io::NamedTensor::name);
    if (same == bert.model.end()) continue;
    EXPECT_EQ(tensor.values, same->values) << tensor.name;
    ++num_shared;
  }
  EXPECT_EQ(num_shared, start.model.size() - 2) << "all but the weight and the bias of the classes";
  const std::string shown = train("bert_classifier", "tuned", {"--init.weights=" + weights, "--init.strict=false"});
  EXPECT_TRUE(contains(shown, "test 0.")) << shown;
  EXPECT_GT(end("tuned").state.best_value, 0.9) << "its words tell a text's class";
}

// By chance a word is guessed in one of twenty cases, a following span in one of two. So positions, words and answers
// are those of one text.
TEST_F(Bert, GuessesWordsFromTheirNeighboursAndWhichSpanFollows) {
  import(write_circles);
  train("bert", "circles",
        {"--model.length=32", "--model.width=64", "--model.heads=4", "--model.feedforward=128", "--model.norm=before",
         "--model.dropout=0", "--batch.global=32", "--batch.micro=16", "--optimizer.lr=0.003", "--train.epochs=8"});
  const std::string log = read_text((directory_ / "circles") + "/log.csv");
  const io::Checkpoint end = read_checkpoint(io::checkpoint_path((directory_ / "circles") + "/checkpoints", 8 * 62));
  EXPECT_GT(end.state.best_value, 0.8) << "of masked words\n" << log;
  ASSERT_EQ(end.state.epoch.size(), 2u);
  const io::EpochSums& next = end.state.epoch[1];
  EXPECT_GT(static_cast<double>(next.num_correct), 0.7 * static_cast<double>(next.num_labels)) << log;
}

}  // namespace convoy::test
