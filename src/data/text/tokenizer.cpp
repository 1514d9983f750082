/// Has one line for each kind of tokenizer.
#include "data/text/tokenizer.h"

#include "convoy/base/error.h"
#include "convoy/params/choices.h"

#include "data/text/subwords.h"
#include "data/text/words.h"

namespace convoy {

std::unique_ptr<Tokenizer> make_tokenizer(const io::Tokenization& tokenization) {
  if (tokenization.kind == name_of(TokenizerKind::kWords)) return make_word_tokenizer(tokenization);
  if (tokenization.kind == name_of(TokenizerKind::kSubwords)) return make_subword_tokenizer(tokenization);
  fail("the tokenizer '{}' is not known", tokenization.kind);
}

}  // namespace convoy
