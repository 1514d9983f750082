/// How texts became tokens: kept beside the tokens in shards, and in checkpoints of networks that were trained on them.
#pragma once

#include <cstdint>
#include <string>

namespace convoy::io {

/// Plain data; src/data/text turns texts into tokens by it.
struct Tokenization {
  std::string kind;             ///< "words", "subwords"
  std::string model;            ///< words: one per line, in the order of their tokens; subwords: SentencePiece's model
  std::int64_t vocabulary = 0;  ///< tokens are 0 .. vocabulary - 1

  bool operator==(const Tokenization&) const = default;
};

}  // namespace convoy::io
