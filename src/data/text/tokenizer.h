/// Turns texts into tokens, by a tokenization that an import has made.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "convoy/io/tokenization.h"

namespace convoy {

/// Turns texts into tokens. Each thread has its own.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// Writes the tokens of a text that check_text() has accepted to `tokens`, whose old content is removed. A text like
  /// "?!" has none.
  virtual void encode(std::string_view text, std::vector<std::int32_t>& tokens) = 0;
};

/// Makes the tokenizer. Throws Error if the tokenization is not one that an import makes.
std::unique_ptr<Tokenizer> make_tokenizer(const io::Tokenization& tokenization);

}  // namespace convoy
