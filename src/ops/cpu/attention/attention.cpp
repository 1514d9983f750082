/// Attention on the CPU: blocks of queries are multiplied by all keys of their head. A thread takes one head of one
/// sequence at a time, so that no bit depends on the number of threads.
#include "convoy/ops/attention.h"

#include <algorithm>
#include <cstdint>
#include <memory>

#include <omp.h>

#include "convoy/base/shape.h"

#include "ops/cpu/attention/attention_panels.h"
#include "ops/cpu/attention/attention_rows.h"
#include "ops/cpu/instruction_set.h"
#include "ops/cpu/resources.h"

namespace convoy::ops::cpu {

namespace {

/// A thread's scratch memory for one head. Sizes are those of the longest sequence.
template <typename Panels>
struct ForwardScratch {
  using Word = typename Panels::Word;
  static constexpr std::int64_t kDepth = Panels::kDepth;

  Word *keys, *values, *queries;
  float *z, *y;
  std::uint16_t* draws[kRowsAtATime];

  static ForwardScratch take(const AttentionSpec& spec, Pieces& pieces) {
    const std::int64_t keys = round_up(spec.length, Panels::kKeyAlignment), width = spec.head_width;
    ForwardScratch s;
    s.keys = pieces.take<Word>(keys * width / kDepth);
    s.values = pieces.take<Word>(keys * width / kDepth);
    s.queries = pieces.take<Word>(Panels::kQueries * width / kDepth);
    s.z = pieces.take<float>(Panels::kQueries * keys);
    s.y = pieces.take<float>(Panels::kQueries * width);
    for (std::uint16_t*& piece : s.draws) piece = pieces.take<std::uint16_t>(RowDraws::scratch_draws(keys));
    return s;
  }
};

template <typename Panels>
struct BackwardScratch {
  using Word = typename Panels::Word;
  static constexpr std::int64_t kDepth = Panels::kDepth;

  Word *keys_transposed, *values_transposed, *keys;  // of the head
  Word *queries, *dy, *queries_across, *dy_across;   // of a block
  float *z, *dp, *dqueries, *dkeys, *dvalues;
  QuerySums* sums;
  std::uint16_t* draws[2];

  static BackwardScratch take(const AttentionSpec& spec, Pieces& pieces) {
    const std::int64_t keys = round_up(spec.length, Panels::kKeyAlignment), width = spec.head_width;
    BackwardScratch s;
    for (Word** piece : {&s.keys_transposed, &s.values_transposed, &s.keys})
      *piece = pieces.take<Word>(keys * width / kDepth);
    for (Word** piece : {&s.queries, &s.dy, &s.queries_across, &s.dy_across})
      *piece = pieces.take<Word>(Panels::kQueries * width / kDepth);
    for (float** piece : {&s.z, &s.dp}) *piece = pieces.take<float>(Panels::kQueries * keys);
    s.dqueries = pieces.take<float>(Panels::kQueries * width);
    for (float** piece : {&s.dkeys, &s.dvalues}) *piece = pieces.take<float>(keys * width);
    s.sums = pieces.take<QuerySums>(Panels::kQueries);
    for (std::uint16_t*& piece : s.draws) piece = pieces.take<std::uint16_t>(RowDraws::scratch_draws(keys));
    return s;
  }
};

template <typename Panels>
class CpuAttention final : public AttentionOp {
  using T = typename Panels::Stored;
  using Word = typename Panels::Word;
  using Forward = ForwardScratch<Panels>;
  using Backward = BackwardScratch<Panels>;
  static constexpr std::int64_t kDepth = Panels::kDepth;

 public:
  CpuAttention(const AttentionSpec& spec, Workspace& workspace) : spec_(spec), workspace_(workspace) {
    Pieces pieces(nullptr);
    Backward::take(spec_, pieces);  // at least as large as forward's
    scratch_bytes_ = pieces.size_bytes();
    workspace_.reserve(workspace_.threads() * scratch_bytes_);
  }

  void forward(const AttentionForward& args) override {
    for_all_heads<Forward>(args.key, args.lengths, [&](const Head& head, const auto& draws, const Forward& scratch) {
      const HeadRows<T> y = rows(values_at<T>(args.y), head, 1, 0);
      float* log_sum_exp = args.log_sum_exp + head.index * spec_.length;
      forward(head, qkv(args.qkv, head), y, log_sum_exp, draws, scratch);
      store_zeros(y.part(head.length, spec_.length - head.length));
      std::fill_n(log_sum_exp + head.length, spec_.length - head.length, 0.0f);
    });
  }

  void backward(const AttentionBackward& args) override {
    for_all_heads<Backward>(args.key, args.lengths, [&](const Head& head, const auto& draws, const Backward& scratch) {
      backward(args, head, draws, scratch);
    });
  }

 private:
  struct Head {
    std::int64_t index, n, h, length;
  };
  struct Qkv {
    HeadRows<const T> queries, keys, values;
  };

  /// The rows of a head in part `part` of `parts`: qkv (N,T,3,H,D) has three parts, y (N,T,1,H,D) has one.
  template <typename Stored>
  HeadRows<Stored> rows(Stored* data, const Head& head, std::int64_t parts, std::int64_t part) const {
    const std::int64_t stride = parts * spec_.width();
    return {data + head.n * spec_.length * stride + part * spec_.width() + head.h * spec_.head_width, stride,
            spec_.length, spec_.head_width};
  }
  Qkv qkv(const void* data, const Head& head) const {
    const auto there = [&](std::int64_t part) { return rows(values_at<T>(data), head, 3, part).part(0, head.length); };
    return {there(0), there(1), there(2)};
  }

  /// Calls body(head, draws, scratch) for every head, on the next thread that is free.
  template <typename Scratch, typename Body>
  void for_all_heads(const DrawKey* key, const std::int32_t* lengths, const Body& body) {
    const auto run = [&](const auto& draws) {
#pragma omp parallel num_threads(workspace_.threads())
      {
        Pieces pieces(workspace_.scratch() + omp_get_thread_num() * scratch_bytes_);
        const auto scratch = Scratch::take(spec_, pieces);
        [[maybe_unused]] const typename Panels::ThreadState state;
#pragma omp for schedule(dynamic)
        for (std::int64_t i = 0; i < spec_.n * spec_.num_heads; ++i) {
          const std::int64_t n = i / spec_.num_heads;
          const std::int64_t length = lengths == nullptr ? spec_.length : lengths[n];
          body(Head{i, n, i % spec_.num_heads, length}, draws, scratch);
        }
      }
    };
    if (key != nullptr && spec_.dropout > 0) {
      run(RowDraws(spec_, *key));
    } else {
      run(NoDraws());
    }
  }

  float kept_factor(const RowDraws& /*draws*/) const {
    return spec_.dropout_scale();
  }
  static float kept_factor(const NoDraws& /*draws*/) {
    return 1;
  }

  /// The index of the draw for the weight of a query and key 0.
  std::int64_t first_draw(const Head& head, std::int64_t query) const {
    return (head.index * spec_.length + query) * spec_.length;
  }

  template <typename Draws>
  void forward(const Head& head, const Qkv& qkv, const HeadRows<T>& y, float* log_sum_exp, const Draws& draws,
               const Forward& s) const {
    const std::int64_t num_keys = head.length, keys = round_up(num_keys, Panels::kKeyAlignment),
                       width = spec_.head_width;
    const std::int64_t query_words = width / kDepth;
    pack_transposed<Panels>(qkv.keys, keys, s.keys);
    pack_interleaved<Panels>(qkv.values, keys, s.values);
    for (std::int64_t query = 0; query < num_keys; query += Panels::kQueries) {
      const std::int64_t num = std::min(Panels::kQueries, num_keys - query),
                         padded = round_up(num, Panels::kQueryAlignment);
      pack_rows<Panels>(qkv.queries.part(query, num), padded, s.queries);
      Panels::multiply({.a = {s.queries, query_words, 1},
                        .b = s.keys,
                        .b_stride = keys,
                        .c = s.z,
                        .rows = padded,
                        .inner = query_words,
                        .columns = keys});
      float sums[Panels::kQueries], logs[Panels::kQueries];
      for (std::int64_t r = 0; r < padded; r += kRowsAtATime) {
        const std::uint16_t* drawn[kRowsAtATime];
        for (int i = 0; i < kRowsAtATime; ++i)
          drawn[i] = draws.draw(first_draw(head, query + r + i), num_keys, s.draws[i]);
        weigh_rows<Panels>(s.z + r * keys, num_keys, keys, spec_.scale(), draws, drawn, logs + r, sums + r);
      }
      std::copy_n(logs, num, log_sum_exp + query);
      Panels::multiply({.a = {reinterpret_cast<const Word*>(s.z), keys, 1},
                        .b = s.values,
                        .b_stride = width,
                        .c = s.y,
                        .rows = padded,
                        .inner = keys / kDepth,
                        .columns = width});
      for (std::int64_t r = 0; r < num; ++r)
        store_scaled(s.y + r * width, kept_factor(draws) / sums[r], y.part(query + r, 1));
    }
  }

  template <typename Draws>
  void backward(const AttentionBackward& args, const Head& head, const Draws& draws, const Backward& s) const {
    const std::int64_t num_keys = head.length, keys = round_up(num_keys, Panels::kKeyAlignment);
    const std::int64_t missing = spec_.length - num_keys;
    const Qkv in = qkv(args.qkv, head);
    const HeadRows<T> dqueries = rows(values_at<T>(args.dqkv), head, 3, 0),
                      dkeys = rows(values_at<T>(args.dqkv), head, 3, 1),
                      dvalues = rows(values_at<T>(args.dqkv), head, 3, 2);
    pack_transposed<Panels>(in.keys, keys, s.keys_transposed);
    pack_transposed<Panels>(in.values, keys, s.values_transposed);
    pack_interleaved<Panels>(in.keys, keys, s.keys);
    for (std::int64_t query = 0; query < num_keys; query += Panels::kQueries) {
      const std::int64_t num = std::min(Panels::kQueries, num_keys - query);
      backward_block(args, head, in.queries.part(query, num), query, draws, s);
      store_scaled(s.dqueries, spec_.scale(), dqueries.part(query, num));
    }
    store_sums_over_queries(s.dkeys, keys, spec_.scale(), dkeys.part(0, num_keys));
    store_sums_over_queries(s.dvalues, keys, kept_factor(draws), dvalues.part(0, num_keys));
    for (const HeadRows<T>& d : {dqueries, dkeys, dvalues}) store_zeros(d.part(num_keys, missing));
  }

  /// Computes, for a block of queries, all of s.dqueries and its part of the sums s.dkeys and s.dvalues.
  template <typename Draws>
  void backward_block(const AttentionBackward& args, const Head& head, const HeadRows<const T>& queries,
                      std::int64_t query, const Draws& draws, const Backward& s) const {
    const std::int64_t num_keys = head.length, keys = round_up(num_keys, Panels::kKeyAlignment);
    const std::int64_t width = spec_.head_width, num = queries.num, padded = round_up(num, Panels::kQueryAlignment);
    const HeadRows<const T> dy = rows(values_at<T>(args.dy), head, 1, 0).part(query, num),
                            y = rows(values_at<T>(args.y), head, 1, 0).part(query, num);
    pack_rows<Panels>(queries, padded, s.queries);
    pack_rows<Panels>(dy, padded, s.dy);
    multiply_by_keys(s.queries, s.keys_transposed, padded, keys, s.z);
    multiply_by_keys(s.dy, s.values_transposed, padded, keys, s.dp);
    const float* log_sum_exp = args.log_sum_exp + head.index * spec_.length + query;
    for (std::int64_t r = 0; r < num; ++r) s.sums[r] = {log_sum_exp[r], dot(dy.row(r), y.row(r))};
    std::fill(s.sums + num, s.sums + padded, QuerySums{0, 0});
    for (std::int64_t r = 0; r < padded; r += kDepth) {
      const std::uint16_t* drawn[kDepth];
      for (std::int64_t i = 0; i < kDepth; ++i) {
        mask_tail(s.z + (r + i) * keys, num_keys, keys);
        drawn[i] = draws.draw(first_draw(head, query + r + i), num_keys, s.draws[i]);
      }
      differentiate_rows<Panels>(s.z + r * keys, s.dp + r * keys, keys, spec_.scale(), kept_factor(draws), s.sums + r,
                                 draws, drawn);
    }
    const auto *p = reinterpret_cast<const Word*>(s.z), *dz = reinterpret_cast<const Word*>(s.dp);
    Panels::multiply({.a = {dz, keys, 1},
                      .b = s.keys,
                      .b_stride = width,
                      .c = s.dqueries,
                      .rows = padded,
                      .inner = keys / kDepth,
                      .columns = width});
    add_sums_over_queries(dy, s.dy_across, p, padded, keys, query > 0, s.dvalues);
    add_sums_over_queries(queries, s.queries_across, kDepth == 1 ? dz : p + keys, padded, keys, query > 0, s.dkeys);
  }

  /// Computes products (padded,keys) = rows (padded,D) transposed (D,keys).
  void multiply_by_keys(const Word* rows, const Word* transposed, std::int64_t padded, std::int64_t keys,
                        float* products) const {
    const std::int64_t row_words = spec_.head_width / kDepth;
    Panels::multiply({.a = {rows, row_words, 1},
                      .b = transposed,
                      .b_stride = keys,
                      .c = products,
                      .rows = padded,
                      .inner = row_words,
                      .columns = keys});
  }

  /// Computes sums[k,d] [+]= sum over queries of weights[q,k] rows[q,d]. weights are p or dz in the layout that
  /// differentiate_rows() writes.
  void add_sums_over_queries(const HeadRows<const T>& rows, Word* packed, const Word* weights, std::int64_t padded,
                             std::int64_t keys, bool add, float* sums) const {
    const std::int64_t width = spec_.head_width, inner = padded / kDepth, weight_stride = kDepth * keys;
    if constexpr (Panels::kSumsOverQueriesLieAcross) {
      pack_across<Panels>(rows, padded, packed);
      Panels::multiply({.a = {packed, inner, 1},
                        .b = weights,
                        .b_stride = weight_stride,
                        .c = sums,
                        .rows = width,
                        .inner = inner,
                        .columns = keys,
                        .c_values = add ? Earlier::kContinued : Earlier::kOverwritten});
    } else {
      pack_interleaved<Panels>(rows, padded, packed);
      Panels::multiply({.a = {weights, 1, weight_stride},
                        .b = packed,
                        .b_stride = width,
                        .c = sums,
                        .rows = keys,
                        .inner = inner,
                        .columns = width,
                        .c_values = add ? Earlier::kContinued : Earlier::kOverwritten});
    }
  }
  static void store_sums_over_queries(const float* sums, std::int64_t keys, float factor, const HeadRows<T>& to) {
    if constexpr (Panels::kSumsOverQueriesLieAcross) {
      store_scaled_across(sums, keys, factor, to);
    } else {
      store_scaled(sums, factor, to);
    }
  }

  float dot(const T* a, const T* b) const {
    Vec sum{};
    for (std::int64_t d = 0; d < spec_.head_width; d += kLanes) sum += read<Vec>(a + d) * read<Vec>(b + d);
    return sum_of_lanes(sum);
  }

  AttentionSpec spec_;
  Workspace& workspace_;
  std::int64_t scratch_bytes_ = 0;
};

}  // namespace

template <>
std::unique_ptr<AttentionOp> make_op(const AttentionSpec& spec, const Resources& resources) {
  if (spec.type == DataType::kFloat32)
    return std::make_unique<CpuAttention<FloatPanels<float>>>(spec, resources.workspace);
#ifdef CONVOY_HAS_TILES
  if (spec.head_width % (Bf16Panels::kDepth * kLanes) == 0 && may_use_tiles())
    return std::make_unique<CpuAttention<TilePanels>>(spec, resources.workspace);
#endif
#ifdef CONVOY_HAS_BF16_PRODUCTS
  if (spec.head_width % (Bf16Panels::kDepth * kLanes) == 0)
    return std::make_unique<CpuAttention<Bf16Panels>>(spec, resources.workspace);
#endif
  return std::make_unique<CpuAttention<FloatPanels<Bf16>>>(spec, resources.workspace);
}

}  // namespace convoy::ops::cpu
