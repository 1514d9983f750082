/// Texts, their words, and the tokens of these.
#include <algorithm>

#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/base/special_tokens.h"

#include "data/text/check_text.h"
#include "data/text/subword_model.h"
#include "data/text/subwords.h"
#include "data/text/words.h"
#include "unit/messages.h"

namespace convoy {
namespace {

using test::message_of;
using Tokens = std::vector<std::int32_t>;

// --- Texts -----------------------------------------------------------------------------------------------------------

TEST(CheckText, TakesUtf8WithOrWithoutAByteOrderMark) {
  EXPECT_EQ(check_text("Gut, 好, 👍\r\n"), "Gut, 好, 👍\r\n");
  EXPECT_EQ(check_text("\xef\xbb\xbfGut"), "Gut");
  EXPECT_EQ(check_text(std::string(kMaxTextBytes, 'a')).size(), static_cast<std::size_t>(kMaxTextBytes));
}

TEST(CheckText, SaysWhatIsWrongWithOthers) {
  const auto complaint = [](const std::string& text) { return message_of<Error>([&] { check_text(text); }); };
  EXPECT_EQ(complaint(""), "it is empty");
  EXPECT_EQ(complaint(" \t\r\n"), "it is empty");
  EXPECT_EQ(complaint("\xef\xbb\xbf"), "it is empty");
  EXPECT_EQ(complaint(std::string(kMaxTextBytes + 1, 'a')),
            "it is too long: 1048577 bytes; at most 1048576 are allowed");
  EXPECT_EQ(complaint(std::string("ab\0c", 4)), "it is binary: byte 0x00 at 2");
  EXPECT_EQ(complaint("caf\xe9 noir"), "it is not UTF-8: byte 0xe9 at 3. Convert it to UTF-8");
  EXPECT_EQ(complaint("a\xe2\x82"), "it is not UTF-8: byte 0xe2 at 1. Convert it to UTF-8") << "cut within a character";
  EXPECT_EQ(complaint("\xed\xa0\x80"), "it is not UTF-8: byte 0xed at 0. Convert it to UTF-8")
      << "half of a pair of UTF-16";
  EXPECT_EQ(complaint("\xc0\xaf"), "it is not UTF-8: byte 0xc0 at 0. Convert it to UTF-8") << "longer than need be";
  EXPECT_EQ(complaint(std::string("\xff\xfe"
                                  "a\0",
                                  4)),
            "it is UTF-16. Convert it to UTF-8");
}

// --- Words -----------------------------------------------------------------------------------------------------------

std::string words_of(const std::string& text) {
  WordCounts counts;
  counts.add(text);
  return counts.vocabulary_of(1000).model;
}

TEST(Words, AreWhereUnicodeSaysInLowerCaseWithoutPunctuation) {
  EXPECT_EQ(words_of("Don't STOP -- it's 3.14, e.g. co-op!"), "3.14\nco\ndon't\ne.g\nit's\nop\nstop\n");
  EXPECT_EQ(words_of("ÉTÉ été E\u0301te\u0301"), "été\n") << "one form for what is written in several ways";
  EXPECT_EQ(words_of("Straße STRASSE ﬁne"), "strasse\nfine\n");
  EXPECT_EQ(words_of("<br /><br />?!... \u2014"), "br\n");
  EXPECT_EQ(words_of("?! ... 👍"), "");
}

TEST(Words, OfScriptsWithoutSpacesAreFoundByADictionary) {
  EXPECT_EQ(words_of("我喜欢电影"), "喜欢\n我\n电影\n");
}

TEST(Words, OfTheVocabularyAreTheMostFrequentAndEqualOnesInTheOrderOfTheirBytes) {
  WordCounts counts;
  counts.add("b b b a a c c d");
  const io::Tokenization all = counts.vocabulary_of(1000);
  EXPECT_EQ(all.model, "b\na\nc\nd\n");
  EXPECT_EQ(all.vocabulary, special_tokens::kCount + 4);
  EXPECT_EQ(all.kind, "words");
  const io::Tokenization two = counts.vocabulary_of(special_tokens::kCount + 2);
  EXPECT_EQ(two.model, "b\na\n");
  EXPECT_EQ(two.vocabulary, special_tokens::kCount + 2);
}

TEST(Words, CountedInPartsAreThoseOfTheWhole) {
  const std::vector<std::string> texts = {"the cat sat", "The dog SAT", "a été", "the end of the été"};
  WordCounts whole, first, second;
  for (const std::string& text : texts) whole.add(text);
  for (std::size_t i = 0; i < texts.size(); ++i) (i < 1 ? first : second).add(texts[i]);
  WordCounts sum;
  sum.merge(second.pack());
  sum.merge(first.pack());
  EXPECT_EQ(sum.vocabulary_of(100), whole.vocabulary_of(100));
  sum.merge("");
  EXPECT_EQ(sum.vocabulary_of(7), whole.vocabulary_of(7));
}

TEST(Words, OfMoreThan64LettersAreLeftToTheUnknown) {
  WordCounts counts;
  counts.add(std::string(64, 'a') + " " + std::string(65, 'b'));
  EXPECT_EQ(counts.vocabulary_of(100).model, std::string(64, 'a') + "\n");
}

TEST(WordTokenizer, NumbersKnownWordsFromTheSpecialTokensOnAndOthersAsUnknown) {
  WordTokenizer tokenizer({.kind = "words", .model = "the\nété\nit's\n", .vocabulary = 8});
  Tokens tokens = {99};
  tokenizer.encode("The ÉTÉ, it's the END.", tokens);
  EXPECT_EQ(tokens, (Tokens{5, 6, 7, 5, special_tokens::kUnknown}));
  tokenizer.encode("?!", tokens);
  EXPECT_EQ(tokens, Tokens{});
}

TEST(WordTokenizer, RefusesAVocabularyThatIsNotAsLongAsItSays) {
  EXPECT_CONTAINS(message_of<Error>([] { WordTokenizer({.kind = "words", .model = "a\nb\n", .vocabulary = 8}); }),
                  "a vocabulary of 8 tokens lists 2 words");
  EXPECT_CONTAINS(message_of<Error>([] { WordTokenizer({.kind = "words", .model = "a\na\n", .vocabulary = 7}); }),
                  "lists 1 words");
  EXPECT_CONTAINS(message_of<Error>([] { make_tokenizer({.kind = "letters"}); }), "'letters' is not known");
}

// --- Parts of words --------------------------------------------------------------------------------------------------

std::vector<std::string> small_corpus() {
  std::vector<std::string> texts;
  for (int i = 0; i < 300; ++i)
    texts.push_back(fmt::format("The film number {} was {} watchable, and the actors acted {}.\nWatching it: fun {}!",
                                i, i % 3 == 0 ? "un" : "very", i % 2 == 0 ? "badly" : "brilliantly", i * 7 % 31));
  return texts;
}

TEST(Subwords, AreLearntToTheSameBytesEachTime) {
  const io::Tokenization first = learn_subwords(small_corpus(), 120), again = learn_subwords(small_corpus(), 120);
  EXPECT_EQ(first, again);
  EXPECT_EQ(first.kind, "subwords");
  EXPECT_LE(first.vocabulary, 120);
  EXPECT_GT(first.vocabulary, 60);
}

TEST(Subwords, HaveTheSpecialTokensWhereWordsHaveThemAndNoCase) {
  const io::Tokenization learnt = learn_subwords(small_corpus(), 120);
  const auto tokenizer = make_tokenizer(learnt);
  Tokens lower, upper, unknown;
  tokenizer->encode("the actors acted brilliantly", lower);
  tokenizer->encode("The ACTORS acted BRILLIANTLY", upper);
  EXPECT_EQ(lower, upper);
  EXPECT_GT(lower.size(), 3u);
  for (const std::int32_t token : lower) {
    EXPECT_GE(token, special_tokens::kCount);
    EXPECT_LT(token, learnt.vocabulary);
  }
  tokenizer->encode("好", unknown);
  EXPECT_NE(std::ranges::find(unknown, special_tokens::kUnknown), unknown.end());
  Tokens of_a_name;
  tokenizer->encode("[MASK]", of_a_name);
  EXPECT_EQ(std::ranges::find(of_a_name, special_tokens::kMask), of_a_name.end()) << "no text may hold it";
}

TEST(Subwords, TakesLongLinesInPartsAndFewPartsWhereThereAreNoMore) {
  std::vector<std::string> texts = small_corpus();
  texts.push_back(std::string(10'000, 'x'));
  std::string chinese;
  for (int i = 0; i < 3000; ++i) chinese += "好";
  texts.push_back(chinese);
  EXPECT_NO_THROW(learn_subwords(texts, 150));
  EXPECT_LT(learn_subwords({"a b c a b c ab"}, 5000).vocabulary, 5000);
}

/// Returns a text or a message as protobuf encodes it.
std::string field(int number, const std::string& content) {
  std::string bytes(1, static_cast<char>(number << 3 | 2));
  std::size_t size = content.size();
  for (; size >= 128; size >>= 7) bytes += static_cast<char>((size & 127) | 128);
  return bytes + static_cast<char>(size) + content;
}

/// Returns a model that has only a table of letters: 256 units, of which the first is `unit`, and one text, "a".
std::string model_with_table(std::uint32_t unit, std::int32_t normalizer = 3) {
  const auto little_endian = [](std::uint32_t value) {
    std::string bytes;
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(value >> shift);
    return bytes;
  };
  const std::string trie = little_endian(unit) + std::string(255 * 4, '\0');
  return field(normalizer, field(2, little_endian(256 * 4) + trie + std::string("a\0", 2)));
}

TEST(SubwordModel, WhoseTableOfLettersPointsOutsideItselfIsRefused) {
  constexpr std::uint32_t kEndsText = 1 << 8, kOffset = 1 << 10;
  EXPECT_NO_THROW(check_subword_model(model_with_table(0)));
  EXPECT_NO_THROW(check_subword_model(model_with_table(255 * kOffset | kEndsText)));  // text 0, as unit 255 says
  for (const int normalizer : {3, 5}) {
    EXPECT_CONTAINS(message_of<Error>([&] { check_subword_model(model_with_table(256 * kOffset, normalizer)); }),
                    "points outside itself");
    const std::uint32_t text = kEndsText;  // unit 0, which also is the position: there is no text 256
    EXPECT_CONTAINS(message_of<Error>([&] { check_subword_model(model_with_table(text, normalizer)); }),
                    "points outside itself");
  }
}

TEST(SubwordModel, OfAnotherKindOrCutIsRefused) {
  const std::string of_pairs = field(2, std::string("\x18\x02", 2));  // byte pair encoding
  EXPECT_CONTAINS(message_of<Error>([&] { check_subword_model(of_pairs); }), "is of kind 2, not unigram");
  const io::Tokenization learnt = learn_subwords(small_corpus(), 120);
  EXPECT_NO_THROW(check_subword_model(learnt.model));
  const std::string cut = learnt.model.substr(0, learnt.model.size() - 10);
  EXPECT_CONTAINS(message_of<Error>([&] { check_subword_model(cut); }), "is truncated");
}

TEST(Subwords, RefusesMoreLettersThanParts) {
  EXPECT_CONTAINS(message_of<RequestError>([] { learn_subwords(small_corpus(), 16); }),
                  "import.tokenizer = subwords: SentencePiece cannot learn 16 parts of words from 600 lines");
}

}  // namespace
}  // namespace convoy
