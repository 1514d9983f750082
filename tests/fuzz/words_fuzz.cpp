/// Vocabularies of words, as shards and checkpoints hold them, and texts divided by them.
#include "convoy/io/tokenization.h"

#include "data/text/check_text.h"
#include "data/text/tokenizer.h"
#include "data/text/words.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace convoy;
  fuzz::Input input(data, size);
  io::Tokenization tokenization{.kind = "words", .model = "", .vocabulary = input.byte()};
  tokenization.model = input.text();
  const std::string all = input.rest();
  // 1. A text whose words an import counts
  fuzz::read_or_refuse([&] {
    const std::string_view text = check_text(all);
    WordCounts counts, merged;
    counts.add(text);
    merged.merge(counts.pack());
    const io::Tokenization own = counts.vocabulary_of(1000);
    fuzz::require(merged.vocabulary_of(1000) == own, "counts that were sent are counted as they were");
    std::vector<std::int32_t> tokens;
    make_tokenizer(own)->encode(text, tokens);
  });
  // 2. A vocabulary from a file
  return fuzz::read_or_refuse([&] {
    const std::unique_ptr<Tokenizer> tokenizer = make_tokenizer(tokenization);
    std::vector<std::int32_t> tokens;
    tokenizer->encode(check_text(all), tokens);
    for (const std::int32_t token : tokens)
      fuzz::require(token >= 0 && token < tokenization.vocabulary, "a token is one of the vocabulary");
  });
}
