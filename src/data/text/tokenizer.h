/// From texts to tokens, by a tokenization that an import has made.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "convoy/io/tokenization.h"

namespace convoy {

/// One per thread.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// Of a text that check_text() has accepted; `tokens` loses what it held. There may be none: "?!".
  virtual void encode(std::string_view text, std::vector<std::int32_t>& tokens) = 0;
};

/// Throws Error where the tokenization is not what an import makes.
std::unique_ptr<Tokenizer> make_tokenizer(const io::Tokenization& tokenization);

}  // namespace convoy
