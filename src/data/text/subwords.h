/// Divides words into subwords as tokens, by SentencePiece (Kudo & Richardson 2018). A word is unknown only if it has
/// letters that the model has not learnt.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "convoy/io/tokenization.h"

#include "data/text/tokenizer.h"

namespace convoy {

/// Number of bytes of text from which SentencePiece learns. More text takes longer and hardly changes the subwords.
inline constexpr std::int64_t kSubwordTrainingBytes = std::int64_t{8} << 20;

/// Learns a unigram model (Kudo 2018) of at most `vocabulary` tokens, in lower case, from texts that check_text() has
/// accepted. The same texts in the same order give the same model. Throws RequestError if there are too few texts.
io::Tokenization learn_subwords(const std::vector<std::string>& texts, std::int64_t vocabulary);

class SubwordTokenizer final : public Tokenizer {
 public:
  explicit SubwordTokenizer(const io::Tokenization& tokenization);
  ~SubwordTokenizer() override;

  void encode(std::string_view text, std::vector<std::int32_t>& tokens) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace convoy
