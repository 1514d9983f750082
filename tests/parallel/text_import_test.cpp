/// However many ranks import texts, the same vocabulary and files appear; bad texts are named, and predictions read
/// texts without an import as an import does.
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/base/special_tokens.h"
#include "convoy/data/import.h"
#include "convoy/data/open_samples.h"
#include "convoy/io/atomic_file.h"
#include "convoy/io/dataset.h"
#include "convoy/io/inspect.h"
#include "convoy/params/data_parameters.h"

#include "data/source_listing.h"
#include "parallel/mpi_main.h"
#include "parallel/shared_directory.h"
#include "unit/io/temporary_directory.h"
#include "unit/messages.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using test::message_of;
using test::world;
using Tokens = std::vector<std::int32_t>;

void ignore_progress(const ImportProgress&) {}

std::string review(const std::string& split, const std::string& kind, int i) {
  const char* const judgement = kind == "pos" ? "Wonderful" : "Terrible";
  return fmt::format("{} film, number {} of {}. Don't miss the ending!<br />{}", judgement, i, split,
                     std::string(i % 3, '!'));
}

/// A folder as aclImdb's, for all ranks.
class TextImport : public testing::Test {
 protected:
  TextImport() : alone_(world().split(world().rank(), 0)) {
    on_root([&] {
      for (const std::string split : {"train", "test"})
        for (const std::string kind : {"neg", "pos"})
          for (int i = 0; i < (split == "train" ? 20 : 7); ++i)
            write(fmt::format("imdb/{}/{}/{}_{}.txt", split, kind, i, i % 10), review(split, kind, i));
      write("imdb/train/urls_pos.txt", "http://");
      write("imdb/train/unsup/0_0.txt", "neither nor");
    });
    params_.source = root_ + "/imdb";
    params_.output = root_ + "/out";
    params_.vocabulary = 60;
  }

  void write(const std::string& name, const std::string& text) const {
    test::write_bytes(root_ + "/" + name, std::as_bytes(std::span(text)));
  }
  void on_root(const std::function<void()>& work) const {
    world().barrier();
    if (world().rank() == 0) work();
    world().barrier();
  }
  ImportSummary import() const { return import_samples(params_, 3, world(), ignore_progress); }
  static std::map<std::string, std::vector<std::byte>> files_of(const std::string& folder) {
    std::map<std::string, std::vector<std::byte>> files;
    for (const fs::directory_entry& file : fs::directory_iterator(folder))
      files[file.path().filename().string()] = io::read_file(file.path().string());
    return files;
  }
  void expect_same_files_by_one_rank() {
    import();
    on_root([&] {
      ImportParams params = params_;
      params.output = root_ + "/alone";
      import_samples(params, 3, alone_, ignore_progress);
      EXPECT_TRUE(files_of(params_.output) == files_of(params.output));
      for (const io::Verdict& verdict : io::verify(params_.output)) EXPECT_EQ(verdict.damage, std::nullopt);
      fs::remove_all(params_.output);
      fs::remove_all(params.output);
    });
  }
  static Tokens tokens_of(const io::SampleStore& store, std::int64_t sample) {
    Tokens memory;
    const auto tokens = store.read_tokens(sample, memory);
    return {tokens.begin(), tokens.end()};
  }
  std::string refusal() const {
    return message_of<RequestError>([&] { import(); });
  }

  test::SharedDirectory directory_;
  std::string root_ = directory_.path();
  mpi::Communicator alone_;
  ImportParams params_;
};

TEST_F(TextImport, GivesTheSameFilesOnAnyNumberOfRanks) {
  for (const TokenizerKind tokenizer : {TokenizerKind::kWords, TokenizerKind::kSubwords})
    for (const std::int64_t shards : {0, 3}) {
      params_.tokenizer = tokenizer;
      params_.shards = shards;
      params_.val_fraction = shards == 0 ? 0.2 : 0;
      expect_same_files_by_one_rank();
    }
}

TEST_F(TextImport, LearnsFromTheTrainingSplitAloneAndKeepsEveryText) {
  const ImportSummary summary = import();
  ASSERT_EQ(summary.splits.size(), 2u);
  const io::Dataset train(params_.output, "data.train"), test(params_.output, "data.test");
  EXPECT_EQ(train.info().num_samples, 40);
  EXPECT_EQ(test.info().num_samples, 14);
  EXPECT_EQ(train.info().class_counts, (std::vector<std::int64_t>{20, 20}));
  EXPECT_EQ(train.info().text.tokenization, test.info().text.tokenization);
  const std::string& words = train.info().text.tokenization.model;
  EXPECT_TRUE(words.starts_with("br\ndon't\nending\nfilm\nmiss\nnumber\nof\nthe\ntrain\nterrible\nwonderful\n"))
      << words;
  EXPECT_EQ(words.find("test"), std::string::npos);
  EXPECT_EQ(words.find("neither"), std::string::npos) << "it has no class";
  EXPECT_EQ(train.info().text.num_tokens, 40 * 11);
  EXPECT_EQ(train.name(0), "train/neg/0_0.txt");
  const std::int32_t first = special_tokens::kCount;
  // "Terrible film, number 0 of test. Don't miss the ending!<br />"
  const Tokens got = tokens_of(test, 0);
  EXPECT_EQ(got[0], first + 9);
  EXPECT_EQ(got[5], special_tokens::kUnknown) << "test";
  world().barrier();
}

TEST_F(TextImport, TablesGiveWhatTheirTextsInFilesGive) {
  on_root([&] {
    for (const std::string split : {"train", "test"}) {
      std::string table = "stars,review,sentiment\n";
      for (const std::string kind : {"neg", "pos"})
        for (int i = 0; i < (split == "train" ? 20 : 7); ++i)
          table += fmt::format("{},\"{}\",{}\n", i % 10, review(split, kind, i), kind);
      write("tables/" + split + ".csv", table);
    }
  });
  import();
  params_.source = root_ + "/tables";
  params_.output = root_ + "/of_tables";
  params_.text_column = "review";
  params_.label_column = "sentiment";
  import();
  const io::Dataset files(root_ + "/out", "data.train"), rows(params_.output, "data.train");
  ASSERT_EQ(rows.info().num_samples, 40);
  EXPECT_EQ(rows.info().text.tokenization, files.info().text.tokenization);
  EXPECT_EQ(rows.info().text.num_tokens, files.info().text.num_tokens);
  EXPECT_EQ(rows.info().text.columns, (io::ColumnNames{.text = "review", .label = "sentiment"}));
  EXPECT_EQ(files.info().text.columns, io::ColumnNames{});
  std::multiset<Tokens> of_files, of_rows;
  for (std::int64_t i = 0; i < 40; ++i) {
    of_files.insert(tokens_of(files, i));
    of_rows.insert(tokens_of(rows, i));
    EXPECT_EQ(rows.label(i), i < 20 ? 0 : 1);
  }
  EXPECT_EQ(of_rows, of_files);
  EXPECT_EQ(rows.name(0), "train.csv:2");
  params_.replace = true;
  params_.shards = 2;
  expect_same_files_by_one_rank();
}

// A name with a 0 byte, as a column of labels had once, must not cut the list that the ranks share.
TEST_F(TextImport, NamesTravelWithAnyBytes) {
  SourceListing listing{.class_names = {std::string("a\0b", 3), "", "c\n"}, .splits = {}};
  SourceSplit& split = listing.splits.emplace_back();
  split.name = "train";
  split.add(std::string_view("\0", 1), 2, -7);
  split.add("plain", -1, std::int64_t{1} << 40);
  const SourceListing got = list_on_root(world(), [&] { return listing; });
  EXPECT_EQ(got.class_names, listing.class_names);
  ASSERT_EQ(got.splits.size(), 1u);
  EXPECT_EQ(got.splits[0].name, "train");
  ASSERT_EQ(got.splits[0].size(), 2);
  EXPECT_EQ(got.splits[0].names[0], std::string_view("\0", 1));
  EXPECT_EQ(got.splits[0].names[1], "plain");
  EXPECT_EQ(got.splits[0].labels, split.labels);
  EXPECT_EQ(got.splits[0].source_ids, split.source_ids);
}

TEST_F(TextImport, NamesCountsAndSkipsBadTexts) {
  on_root([&] {
    write("imdb/train/neg/b1.txt", "");
    write("imdb/train/neg/b2.txt", "caf\xe9");
    write("imdb/train/pos/b3.txt", std::string((1 << 20) + 1, 'a'));
    write("imdb/train/pos/b4.txt", std::string("a\0b", 3));
    write("imdb/test/pos/b5.txt", "?!");
  });
  const ImportSummary summary = import();
  EXPECT_EQ(summary.splits[0].info.num_samples, 40);
  EXPECT_EQ(summary.splits[1].info.num_samples, 14);
  if (world().rank() == 0) {
    std::vector<std::string> skipped;
    for (const SkippedSample& bad : summary.skipped) skipped.push_back(bad.name + ": " + bad.reason);
    EXPECT_EQ(skipped,
              (std::vector<std::string>{"test/pos/b5.txt: it has no words", "train/neg/b1.txt: it is empty",
                                        "train/neg/b2.txt: it is not UTF-8: byte 0xe9 at 3. Convert it to UTF-8",
                                        "train/pos/b3.txt: it is too long: 1048577 bytes; at most 1048576 are allowed",
                                        "train/pos/b4.txt: it is binary: byte 0x00 at 1"}));
  }
  params_.replace = true;
  params_.shards = 2;
  expect_same_files_by_one_rank();
  params_.strict = true;
  EXPECT_CONTAINS(refusal(), "import.strict = true: '");
  world().barrier();
}

TEST_F(TextImport, RefusesKeysOfImagesAndSourcesWithoutTexts) {
  params_.size = 32;
  EXPECT_EQ(refusal(),
            "import.size is for images; '" + params_.source + "' holds texts. Leave it out, or give import.format");
  params_.size = 0;
  params_.orient = true;
  EXPECT_CONTAINS(refusal(), "import.orient is for images");
  params_.orient = false;
  params_.shards = 15;
  EXPECT_CONTAINS(refusal(), "import.shards = 15, but split test has 14 texts. Allowed: 1 to 14");
  params_.shards = 0;
  params_.source = root_ + "/absent.csv";
  EXPECT_CONTAINS(refusal(), "absent.csv: there is no such file");
  params_.source = root_ + "/imdb";
  params_.format = ImportFormat::kCsv;
  EXPECT_CONTAINS(refusal(), "there are no tables. Expected: train.csv and test.csv, or .tsv");
  params_.format = ImportFormat::kText;
  on_root([&] {
    for (const char* kind : {"neg", "pos"}) write(fmt::format("bad/{}/1.txt", kind), "?!");
  });
  params_.source = root_ + "/bad";
  EXPECT_CONTAINS(refusal(), "split train has no words");
  params_.tokenizer = TokenizerKind::kSubwords;
  on_root([&] {
    for (const char* kind : {"neg", "pos"}) write(fmt::format("bad/{}/1.txt", kind), "");
  });
  EXPECT_CONTAINS(refusal(), "none of 2 texts of split train is good");
  EXPECT_FALSE(fs::exists(params_.output) && !fs::is_empty(params_.output));
  world().barrier();
}

// --- Without an import -----------------------------------------------------------------------------------------------

TEST_F(TextImport, TextsWhereTheyLieGiveTheTokensOfAnImport) {
  import();
  const io::Dataset imported(params_.output, "data.test");
  const TextFileOptions options{.tokenization = imported.info().text.tokenization,
                                .columns = {.text = "text", .label = "label"}};
  const auto open = [&](const std::string& path) {
    return open_samples({.path = path, .key = "predict.data", .files = options}, world());
  };
  on_root([&] {
    write("imdb/test/pos/b5.txt", "\xff");
    write("rows.tsv", "text\tlabel\n" + review("test", "neg", 0) + "\tneg\n\tpos\nfine film\tnew\n");
    write("one.txt", review("test", "pos", 1));
  });
  const OpenedSamples folder = open(root_ + "/imdb/test");
  EXPECT_FALSE(folder.is_one_file);
  ASSERT_EQ(folder.store->info().num_samples, imported.info().num_samples);
  EXPECT_EQ(folder.store->info().class_names, (std::vector<std::string>{"neg", "pos"}));
  for (std::int64_t i = 0; i < imported.info().num_samples; ++i) {
    EXPECT_EQ(tokens_of(*folder.store, i), tokens_of(imported, i)) << i;
    EXPECT_EQ("test/" + folder.store->name(i), imported.name(i));
    EXPECT_EQ(folder.store->label(i), imported.label(i));
    EXPECT_EQ(folder.store->num_tokens(i), imported.num_tokens(i));
  }
  ASSERT_EQ(folder.skipped.size(), 1u) << "on all ranks";
  EXPECT_EQ(folder.skipped[0].name + ": " + folder.skipped[0].reason,
            "pos/b5.txt: it is not UTF-8: byte 0xff at 0. Convert it to UTF-8");

  const OpenedSamples table = open(root_ + "/rows.tsv");
  EXPECT_FALSE(table.is_one_file);
  ASSERT_EQ(table.store->info().num_samples, 2);
  EXPECT_EQ(tokens_of(*table.store, 0), tokens_of(imported, 0));
  EXPECT_EQ(table.store->info().class_names, (std::vector<std::string>{"neg", "new", "pos"}));
  EXPECT_EQ(table.store->label(1), 1);
  ASSERT_EQ(table.skipped.size(), 1u);
  EXPECT_EQ(table.skipped[0].reason, "it is empty");

  const OpenedSamples file = open(root_ + "/one.txt");
  EXPECT_TRUE(file.is_one_file);
  EXPECT_EQ(file.store->name(0), "one.txt");
  EXPECT_EQ(file.store->label(0), -1);
  const OpenedSamples line = open_one_text(review("test", "pos", 1), "predict.text", options.tokenization);
  EXPECT_EQ(tokens_of(*line.store, 0), tokens_of(*file.store, 0));
  EXPECT_EQ(message_of<RequestError>([&] { open_one_text("?!", "predict.text", options.tokenization); }),
            "predict.text: it has no words");
  EXPECT_CONTAINS(message_of<RequestError>([&] { open(root_ + "/absent.txt"); }), "there is no such file or folder");
  EXPECT_STREQ(open(params_.output).store->info().kind.c_str(), "text") << "a data set is opened as one";
  world().barrier();
}

}  // namespace
}  // namespace convoy
