/// Makes the features of texts: their tokens, cut or padded to the network's length, plain or in the form that BERT
/// reads.
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
  std::int64_t length = 0;  ///< T
  std::int64_t vocabulary = 0;
  std::int64_t batch_micro = 0;
  std::uint64_t seed = 0;  ///< seed of pairs and of masking
};

/// Gives the features of texts (convoy/base/features.h). Features that hold words are read ahead; the others follow
/// from the texts' lengths, which are in memory. A text that is longer than the network reads is cut at its end; for
/// pairs, a part of it is drawn. Past the data's end every length is 1.
class TextPath final : public SamplePath {
 public:
  /// `samples` outlives the path.
  TextPath(const io::SampleStore& samples, const TextPathSpec& spec);

  const std::vector<FeatureSpec>& features() const override { return features_; }
  std::unique_ptr<FeatureReader> open(std::string_view feature, ops::Backend& backend) const override;
  void look_up(std::string_view feature, const BatchSamples& batch, void* to) const override;
  std::string describe(std::int64_t sample) const override;

  /// Writes the values of one sample of a feature to the front of `row`, which holds the feature's padding.
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
  std::vector<Row> rows_;  ///< one per feature
};

/// Makes the path. Throws RequestError if the parameters ask for changes that only images allow.
std::unique_ptr<SamplePath> make_text_path(const SamplePathSpec& spec);

}  // namespace convoy
