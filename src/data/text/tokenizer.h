/// Turns texts into tokens, with the tokenization (vocabulary or model) that an import has made.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "convoy/io/tokenization.h"

namespace convoy {

/// Turns texts into tokens. Each thread needs its own tokenizer.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// Replaces the content of `tokens` by the tokens of the text, which check_text() has accepted. A text like "?!" has
  /// no tokens.
  virtual void encode(std::string_view text, std::vector<std::int32_t>& tokens) = 0;
};

/// Makes the tokenizer. Throws Error if no import can have made the tokenization.
std::unique_ptr<Tokenizer> make_tokenizer(const io::Tokenization& tokenization);

}  // namespace convoy
