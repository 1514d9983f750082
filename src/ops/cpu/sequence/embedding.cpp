/// Embeddings on the CPU: rows of a table are copied, and gradients summed into them; bound by memory. Backward sorts
/// the words of the batch by their tokens, and threads take segments of a fixed number of them.
#include "convoy/ops/embedding.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "ops/check_spec.h"
#include "ops/cpu/parallel.h"
#include "ops/cpu/prefetch.h"
#include "ops/cpu/resources.h"
#include "ops/cpu/sequence/refuse_token.h"
#include "ops/cpu/simd.h"
#include "ops/sinusoids.h"

namespace convoy::ops::cpu {

namespace {

constexpr std::int64_t kSegment = 64;    // sorted words that one thread sums at a time
constexpr std::int64_t kWordsAhead = 4;  // the row of the word that far ahead is prefetched: rows are in no order

/// The words of a batch, sorted by their tokens; words of one token stay in order.
struct SortedWords {
  std::int32_t* ends;   ///< (V) end of each row's words in `words`
  std::int32_t* words;  ///< (N * T) the words that have a token

  std::int64_t begin(std::int64_t row) const { return row == 0 ? 0 : ends[row - 1]; }
};

template <typename T>
class CpuEmbedding final : public EmbeddingOp {
 public:
  CpuEmbedding(const EmbeddingSpec& spec, Workspace& workspace) : spec_(spec), workspace_(workspace) {
    workspace_.reserve(heads_offset() + max_segments() * spec.width * kFloatBytes);
    if (!spec.sinusoids) return;
    const std::vector<float> values = sinusoids(spec.length, spec.width);
    positions_ = Buffer(workspace.device(), spec.length * spec.width * kFloatBytes);
    std::copy(values.begin(), values.end(), positions_.floats());
  }

  void forward(const std::int32_t* tokens, const void* table_data, void* y_data) override {
    check_tokens(tokens);
    const T* table = values_at<T>(table_data);
    T* y = values_at<T>(y_data);
#pragma omp parallel num_threads(workspace_.threads())
    {
      const Range words = my_part_of(num_words());
      for (std::int64_t word = words.begin; word < words.end; ++word) {
        const std::int64_t ahead = std::min(word + kWordsAhead, words.end - 1);
        if (const std::int64_t token = token_of(tokens, ahead); token != kNoToken)
          prefetch(table + token * spec_.width, spec_.width);
        write_word(word, token_of(tokens, word), table, y + word * spec_.width);
      }
    }
  }

  void backward_weight(const std::int32_t* tokens, const void* dy_data, float* dtable) override {
    check_tokens(tokens);
    const T* dy = values_at<T>(dy_data);
    const SortedWords sorted = sort(tokens);
    const std::int64_t num_segments = (sorted.ends[spec_.num_rows - 1] + kSegment - 1) / kSegment;
#pragma omp parallel num_threads(workspace_.threads())
    {
      const Range rows = my_part_of(spec_.num_rows), segments = my_part_of(num_segments);
      std::fill_n(dtable + rows.begin * spec_.width, (rows.end - rows.begin) * spec_.width, 0.0f);
#pragma omp barrier
      for (std::int64_t s = segments.begin; s < segments.end; ++s) sum_segment(s, tokens, sorted, dy, dtable);
#pragma omp barrier
      for (std::int64_t s = segments.begin; s < segments.end; ++s) finish_last_row(s, tokens, sorted, dtable);
    }
  }

 private:
  std::int64_t num_words() const {
    return spec_.n * spec_.length;
  }
  std::int64_t max_segments() const {
    return (num_words() + kSegment - 1) / kSegment;
  }
  std::int64_t token_of(const std::int32_t* tokens, std::int64_t word) const {
    return tokens == nullptr ? word % spec_.length : tokens[word];
  }

  /// Throws Error if a token is not allowed. The loop has no branches; the bad token is searched for afterwards.
  void check_tokens(const std::int32_t* tokens) const {
    if (tokens == nullptr) return check_positions(spec_);
    const auto num_rows = static_cast<std::int32_t>(spec_.num_rows);
    bool any = false;
#pragma omp simd reduction(| : any)
    for (std::int64_t i = 0; i < num_words(); ++i) any = any | (tokens[i] < kNoToken) | (tokens[i] >= num_rows);
    if (!any) return;
    const auto* bad = std::find_if(tokens, tokens + num_words(),
                                   [=](std::int32_t token) { return token < kNoToken || token >= num_rows; });
    refuse_token(spec_, tokens, bad - tokens);
  }

  void write_word(std::int64_t word, std::int64_t token, const T* table, T* y) const {
    const float* position = spec_.sinusoids ? positions_.floats() + word % spec_.length * spec_.width : nullptr;
    if (token == kNoToken) {
      for_lanes(0, spec_.width, [=]<typename V>(std::int64_t i, V) {
        write(y + i, position == nullptr ? V{} : read<V>(position + i));
      });
      return;
    }
    const T* row = table + token * spec_.width;
    const float scale = spec_.scale;
    if (position == nullptr) {
      for_lanes(0, spec_.width, [=]<typename V>(std::int64_t i, V) { write(y + i, V(scale * read<V>(row + i))); });
    } else {
      for_lanes(0, spec_.width, [=]<typename V>(std::int64_t i, V) {
        write(y + i, V(scale * read<V>(row + i) + read<V>(position + i)));
      });
    }
  }

  // --- Backward: the scratch memory contains ends, words, heads ---------------------------------------------------

  std::int64_t heads_offset() const {
    return round_up((spec_.num_rows + num_words()) * static_cast<std::int64_t>(sizeof(std::int32_t)), kCacheLineBytes);
  }
  /// The head of a segment, of (segments, C): its part of its first row if that row began in an earlier segment.
  float* head(std::int64_t segment) const {
    return reinterpret_cast<float*>(workspace_.scratch() + heads_offset()) + segment * spec_.width;
  }

  /// A counting sort, on one thread: it moves a hundredth of the bytes that are summed.
  SortedWords sort(const std::int32_t* tokens) const {
    auto* ends = reinterpret_cast<std::int32_t*>(workspace_.scratch());
    std::int32_t* words = ends + spec_.num_rows;
    std::fill_n(ends, spec_.num_rows, 0);
    for (std::int64_t word = 0; word < num_words(); ++word)
      if (const std::int64_t token = token_of(tokens, word); token != kNoToken) ++ends[token];
    std::int32_t begin = 0;
    for (std::int64_t row = 0; row < spec_.num_rows; ++row) begin += std::exchange(ends[row], begin);
    for (std::int64_t word = 0; word < num_words(); ++word)
      if (const std::int64_t token = token_of(tokens, word); token != kNoToken)
        words[ends[token]++] = static_cast<std::int32_t>(word);
    return {ends, words};
  }

  /// Computes to = scale * the sum of dy over the words sorted.words[begin], ..., [end - 1], which have the same token.
  void sum_run(std::int64_t begin, std::int64_t end, const SortedWords& sorted, const T* dy, float* to) const {
    const float scale = spec_.scale;
    for (std::int64_t i = begin; i < end; ++i) {
      const T* row = dy + sorted.words[i] * spec_.width;
      if (i == begin) {
        for_lanes(0, spec_.width, [&]<typename V>(std::int64_t c, V) { write(to + c, V(scale * read<V>(row + c))); });
      } else {
        for_lanes(0, spec_.width,
                  [&]<typename V>(std::int64_t c, V) { write(to + c, V(read<V>(to + c) + scale * read<V>(row + c))); });
      }
    }
  }

  void sum_segment(std::int64_t segment, const std::int32_t* tokens, const SortedWords& sorted, const T* dy,
                   float* dtable) const {
    const std::int64_t num_sorted = sorted.ends[spec_.num_rows - 1];
    const std::int64_t begin = segment * kSegment, end = std::min(begin + kSegment, num_sorted);
    for (std::int64_t i = begin; i < end;) {
      const std::int64_t token = token_of(tokens, sorted.words[i]);
      const std::int64_t run_end = std::min<std::int64_t>(sorted.ends[token], end);
      const bool began_before = sorted.begin(token) < begin;
      sum_run(i, run_end, sorted, dy, began_before ? head(segment) : dtable + token * spec_.width);
      i = run_end;
    }
  }

  /// Adds the heads of later segments to the row that begins in this segment and continues in them.
  void finish_last_row(std::int64_t segment, const std::int32_t* tokens, const SortedWords& sorted,
                       float* dtable) const {
    const std::int64_t begin = segment * kSegment, end = begin + kSegment;
    if (end >= sorted.ends[spec_.num_rows - 1]) return;
    const std::int64_t token = token_of(tokens, sorted.words[end - 1]);
    if (sorted.begin(token) < begin || sorted.ends[token] <= end) return;
    float* to = dtable + token * spec_.width;
    const std::int64_t last = (sorted.ends[token] - 1) / kSegment;
    for (std::int64_t s = segment + 1; s <= last; ++s) {
      const float* part = head(s);
      for_lanes(0, spec_.width,
                [&]<typename V>(std::int64_t i, V) { write(to + i, V(read<V>(to + i) + read<V>(part + i))); });
    }
  }

  EmbeddingSpec spec_;
  Workspace& workspace_;
  Buffer positions_;  ///< (T,C) with sinusoids, else empty
};

}  // namespace

template <>
std::unique_ptr<EmbeddingOp> make_op(const EmbeddingSpec& spec, const Resources& resources) {
  return make_stored<CpuEmbedding, EmbeddingOp>(spec, resources.workspace);
}

}  // namespace convoy::ops::cpu
