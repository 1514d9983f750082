/// Describes how texts were tokenized and where they came from. Shards store it, and so do checkpoints of networks that
/// were trained on these texts.
#pragma once

#include <cstdint>
#include <string>

namespace convoy::io {

/// The columns of the tables that texts and labels were read from, by their names in a table's first row. Empty if the
/// texts were not read from tables, or if an older Convoy wrote the file.
struct ColumnNames {
  std::string text, label;

  bool operator==(const ColumnNames&) const = default;
};

/// The vocabulary or model that turns texts into tokens (src/data/text). `model` holds its content, not its path.
struct Tokenization {
  std::string kind;  ///< kind of tokens: "words" or "subwords"
  /// For words: the words, one per line, in the order of their tokens; for subwords: the bytes of a model file of
  /// SentencePiece.
  std::string model;
  std::int64_t vocabulary = 0;  ///< number of different tokens, which are 0 .. vocabulary - 1

  bool operator==(const Tokenization&) const = default;
};

}  // namespace convoy::io
