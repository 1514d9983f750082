/// Shards of texts: tokens are read back in 16 or 32 bits, together with their vocabulary.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>

#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/base/features.h"
#include "convoy/io/atomic_file.h"
#include "convoy/io/dataset.h"
#include "convoy/io/inspect.h"
#include "convoy/io/shard_writer.h"

#include "unit/io/temporary_directory.h"
#include "unit/messages.h"

namespace convoy::io {
namespace {

using test::message_of;
using test::TemporaryDirectory;

constexpr std::int64_t kNumTexts = 6;

std::vector<std::int32_t> known_text(std::int64_t sample, std::int64_t vocabulary) {
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(1 + sample * 3));
  std::iota(tokens.begin(), tokens.end(), static_cast<std::int32_t>(vocabulary - 20 - sample));
  for (std::int32_t& token : tokens) token %= static_cast<std::int32_t>(vocabulary);
  return tokens;
}

// The vocabulary, `model`, may hold words by which other kinds of files are recognised.
DatasetInfo text_info(std::int64_t vocabulary, const std::string& model) {
  return {.kind = input_kinds::kText,
          .num_samples = kNumTexts,
          .class_names = {"bad", "good"},
          .class_counts = {kNumTexts / 2, kNumTexts / 2},
          .text = {.tokenization = {.kind = "words", .model = model, .vocabulary = vocabulary},
                   .columns = {.text = "review", .label = "stars"},
                   .num_tokens = 51},
          .source = "made for a test"};
}

std::vector<std::byte> stored(const std::vector<std::int32_t>& tokens, std::int64_t vocabulary) {
  if (vocabulary > 65536) {
    const auto bytes = std::as_bytes(std::span(tokens));
    return {bytes.begin(), bytes.end()};
  }
  const std::vector<std::uint16_t> narrow(tokens.begin(), tokens.end());
  const auto bytes = std::as_bytes(std::span(narrow));
  return {bytes.begin(), bytes.end()};
}

void write_texts(const TemporaryDirectory& directory, std::int64_t num_shards, std::int64_t vocabulary,
                 const std::string& model = "good\nbad\n") {
  const DatasetInfo info = text_info(vocabulary, model);
  std::int64_t sample = 0;
  for (std::int64_t s = 0; s < num_shards; ++s) {
    const std::string path = directory / (num_shards == 1 ? std::string("train.h5") : fmt::format("train-{:03}.h5", s));
    ShardWriter writer({path, s, num_shards}, info);
    for (; sample < kNumTexts * (s + 1) / num_shards; ++sample)
      writer.append(stored(known_text(sample, vocabulary), vocabulary),
                    {.label = static_cast<std::int32_t>(sample % 2)}, fmt::format("{}.txt", sample));
    writer.end_samples();
    writer.finish(info);
    writer.commit();
  }
}

TEST(TextShard, GivesTokensLengthsLabelsNamesAndVocabularyBack) {
  for (const std::int64_t vocabulary : {1000, 65536, 65537, 1'000'000})
    for (const std::int64_t num_shards : {1, 2}) {
      const TemporaryDirectory directory;
      write_texts(directory, num_shards, vocabulary);
      const Dataset dataset(directory.path(), "data.train");
      EXPECT_EQ(dataset.info().kind, "text");
      EXPECT_EQ(dataset.info().text, text_info(vocabulary, "good\nbad\n").text);
      ASSERT_EQ(dataset.info().num_samples, kNumTexts);
      std::vector<std::int32_t> memory;
      for (const std::int64_t i : {5, 0, 3, 1, 4, 2}) {
        const auto tokens = dataset.read_tokens(i, memory);
        EXPECT_EQ(std::vector<std::int32_t>(tokens.begin(), tokens.end()), known_text(i, vocabulary)) << vocabulary;
        EXPECT_EQ(dataset.num_tokens(i), 1 + 3 * i);
        EXPECT_EQ(dataset.label(i), i % 2);
        EXPECT_EQ(dataset.name(i), fmt::format("{}.txt", i));
      }
      for (const Verdict& verdict : verify(directory.path())) EXPECT_EQ(verdict.damage, std::nullopt);
    }
}

TEST(TextShard, HasNoImages) {
  const TemporaryDirectory directory;
  write_texts(directory, 1, 1000);
  const Dataset dataset(directory.path(), "data.train");
  std::vector<std::byte> memory;
  EXPECT_EQ(message_of<Error>([&] { dataset.read_file(0, memory); }),
            "an image's file was requested, but 'made for a test' holds text");
  EXPECT_CONTAINS(message_of<Error>([&] { dataset.read_pixels(0, memory); }), "an image's pixels");
}

TEST(TextShard, OfAnotherVocabularyHasAnotherContentAndDoesNotFitTheOthers) {
  const TemporaryDirectory a, b;
  write_texts(a, 2, 1000, "good\nbad\n");
  write_texts(b, 2, 1000, "bad\ngood\n");
  EXPECT_NE(Dataset(a.path(), "data.train").content_hash(), Dataset(b.path(), "data.train").content_hash());
  std::filesystem::copy_file(b / "train-001.h5", a / "train-001.h5", std::filesystem::copy_options::overwrite_existing);
  EXPECT_CONTAINS(message_of<RequestError>([&] { Dataset(a.path(), "data.train"); }), "have different vocabularies");
}

TEST(TextShard, IsDescribed) {
  const TemporaryDirectory directory;
  write_texts(directory, 1, 1000);
  const std::string text = describe(directory.path()) + describe(directory / "train.h5");
  for (const char* part : {"input         text\n", "texts         51 tokens in the split, 8 per text on average\n",
                           "tokenizer     words; a vocabulary of 1000\n", "(hash of texts, labels and classes)",
                           "(XXH3-128 of texts and names)"})
    EXPECT_CONTAINS(text, part);
  EXPECT_EQ(text.find("deviation"), std::string::npos);
}

TEST(TextShard, ThatIsDamagedIsFoundAndNamed) {
  const TemporaryDirectory directory;
  write_texts(directory, 1, 1000);
  std::vector<std::byte> bytes = read_file(directory / "train.h5");
  const std::vector<std::byte> second = stored(known_text(1, 1000), 1000);
  const auto found = std::search(bytes.begin(), bytes.end(), second.begin(), second.end());
  ASSERT_NE(found, bytes.end());
  *found ^= std::byte{1};
  write_file_atomically(directory / "train.h5", bytes);
  EXPECT_CONTAINS(verify_file(directory / "train.h5").value_or(""), "the hash of its texts and names");
  const Dataset dataset(directory.path(), "data.train");
  std::vector<std::int32_t> memory;
  EXPECT_CONTAINS(message_of<StoreError>([&] { dataset.read_tokens(1, memory); }), "the bytes of its text 1 are not");
  EXPECT_EQ(dataset.read_tokens(0, memory).size(), 1u);
}

TEST(TextShard, ThatIsTruncatedIsCalledAShardWhateverItsWordsAre) {
  const TemporaryDirectory directory;
  std::string words = "optimizer\nparameters\nnormalizes\n";
  for (int i = 0; i < 30'000; ++i) words += fmt::format("word{}\n", i);
  write_texts(directory, 1, 60'000, words);
  std::vector<std::byte> bytes = read_file(directory / "train.h5");
  bytes.resize(bytes.size() - 10);
  write_file_atomically(directory / "train.h5", bytes);
  EXPECT_CONTAINS(message_of<Error>([&] { describe_file(directory / "train.h5"); }), "are not a shard's");
}

TEST(TextShard, TakesNoTextWithoutTokensAndNoHalfToken) {
  const TemporaryDirectory directory;
  ShardWriter writer({directory / "train.h5", 0, 1}, text_info(1000, "a\n"));
  EXPECT_CONTAINS(message_of<Error>([&] { writer.append({}, {.label = 0}, ""); }),
                  "a shard of at most 6 texts cannot take one");
  EXPECT_CONTAINS(message_of<Error>([&] { writer.append(std::vector<std::byte>(3), {.label = 0}, ""); }),
                  "one of 3 bytes");
}

}  // namespace
}  // namespace convoy::io
