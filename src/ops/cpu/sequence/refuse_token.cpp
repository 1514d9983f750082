/// Makes the messages about tokens and positions. They are apart from the loops, which are compiled for one processor.
#include "ops/cpu/sequence/refuse_token.h"

#include "convoy/base/error.h"

namespace convoy::ops::cpu {

void refuse_token(const EmbeddingSpec& spec, const std::int32_t* tokens, std::int64_t word) {
  fail(
      "token {} at word {} of sequence {} of a batch is not in the table, which has {} rows (0 to {}); import the data "
      "again",
      tokens[word], word % spec.length, word / spec.length, spec.num_rows, spec.num_rows - 1);
}

void refuse_position(const GatherSpec& spec, const std::int32_t* positions, std::int64_t taken) {
  fail("position {} is taken out of sequence {} of a batch, which has {} words (0 to {})", positions[taken],
       taken / spec.num_taken, spec.length, spec.length - 1);
}

}  // namespace convoy::ops::cpu
