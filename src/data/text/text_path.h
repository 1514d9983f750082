/// Makes the features of texts, the inputs of a network: their tokens, cut or padded to the length that the network
/// reads, plain or in the form that BERT reads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convoy/data/make_sample_path.h"
#include "convoy/data/sample_path.h"
#include "convoy/io/sample_store.h"

#include "data/text/masked_pairs.h"

namespace convoy {

struct TextPathSpec {
  std::int64_t length = 0;       ///< T, number of tokens per text that the network reads
  std::int64_t vocabulary = 0;   ///< V, number of tokens of the vocabulary
  std::int64_t batch_micro = 0;  ///< number of texts per micro-batch
  std::uint64_t seed = 0;        ///< seed of the random numbers for BERT's pairs and masked words
};

/// The sample path of texts, which gives their features (convoy/base/features.h). Threads read the features that
/// contain words ahead of the step; the others are computed from the texts' lengths, which are in memory. A text that
/// is longer than the network reads is cut at its end; for BERT's pairs, a random part of it is taken. Past the end of
/// the data, the length of a text is 1.
class TextPath final : public SamplePath {
 public:
  /// `samples` must outlive the path.
  TextPath(const io::SampleStore& samples, const TextPathSpec& spec);

  const std::vector<FeatureSpec>& features() const override { return features_; }
  std::unique_ptr<FeatureReader> open(std::string_view feature, ops::Backend& backend) const override;
  void look_up(std::string_view feature, const BatchSamples& batch, void* to) const override;
  std::string describe(std::int64_t sample) const override;

  /// A function that writes the values of a feature for one sample to the front of `row`, which has been filled with
  /// the feature's padding.
  using WriteRow = std::function<void(std::int64_t epoch, std::int64_t sample, std::span<std::int32_t> row,
                                      MaskedPairs::Memory& memory)>;
  struct Row {
    std::int32_t padding = 0;
    WriteRow write;
  };

 private:
  void add_plain(std::int64_t n);
  void add_marked(std::int64_t n);
  void add_pairs(std::int64_t n);
  void add(const FeatureSpec& feature, Row row);
  std::size_t number_of(std::string_view feature, bool read_ahead) const;

  const io::SampleStore& samples_;
  TextPathSpec spec_;
  MaskedPairs pairs_;
  std::vector<FeatureSpec> features_;
  std::vector<Row> rows_;  ///< one for each of features_
};

/// Makes the sample path of texts. Throws RequestError if the parameters ask for augmentation, which only images allow.
std::unique_ptr<SamplePath> make_text_path(const SamplePathSpec& spec);

}  // namespace convoy
