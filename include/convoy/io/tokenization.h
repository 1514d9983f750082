/// The source and the tokenization of texts: stored with the tokens in shards, and in checkpoints of networks that were
/// trained on them.
#pragma once

#include <cstdint>
#include <string>

namespace convoy::io {

/// The columns of the tables that texts and classes were read from, by the names in a table's first row. Empty if the
/// texts were not read from tables, or an older Convoy wrote the file.
struct ColumnNames {
  std::string text, label;

  bool operator==(const ColumnNames&) const = default;
};

/// The data by which src/data/text turns texts into tokens.
struct Tokenization {
  std::string kind;             ///< "words", "subwords"
  std::string model;            ///< words: one per line, in the order of their tokens; subwords: SentencePiece's model
  std::int64_t vocabulary = 0;  ///< tokens are 0 .. vocabulary - 1

  bool operator==(const Tokenization&) const = default;
};

}  // namespace convoy::io
