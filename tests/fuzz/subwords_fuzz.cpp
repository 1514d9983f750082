/// SentencePiece's models, as shards and checkpoints hold them, and texts divided by them.
#include "convoy/io/tokenization.h"

#include "data/text/check_text.h"
#include "data/text/tokenizer.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace convoy;
  fuzz::Input input(data, size);
  io::Tokenization tokenization{.kind = "subwords", .model = "", .vocabulary = input.byte()};
  const std::string text = input.text();
  tokenization.model = input.rest();
  return fuzz::read_or_refuse([&] {
    const std::unique_ptr<Tokenizer> tokenizer = make_tokenizer(tokenization);
    std::vector<std::int32_t> tokens;
    tokenizer->encode(check_text(text), tokens);
    for (const std::int32_t token : tokens)
      fuzz::require(token >= 0 && token < tokenization.vocabulary, "a token is one of the vocabulary");
  });
}
