/// The path of texts: their tokens, cut or filled to the network's length.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "convoy/data/make_sample_path.h"
#include "convoy/data/sample_path.h"
#include "convoy/io/sample_store.h"

namespace convoy {

/// Gives kTokens, which is read ahead, kLength and kLabel. A text that is longer than the network reads is cut at its
/// end; past the data's end stands one kNoToken, so that every length is within 1..T.
class TextPath final : public SamplePath {
 public:
  /// length: T. samples outlive it.
  TextPath(const io::SampleStore& samples, std::int64_t length, std::int64_t batch_micro);

  const std::vector<FeatureSpec>& features() const override { return features_; }
  std::unique_ptr<FeatureReader> open(std::string_view feature, ops::Backend& backend) const override;
  void look_up(std::string_view feature, const BatchSamples& batch, void* to) const override;
  std::string describe(std::int64_t sample) const override;

 private:
  const io::SampleStore& samples_;
  std::int64_t length_, batch_micro_;
  std::vector<FeatureSpec> features_;
};

/// Throws RequestError where the parameters ask for what is done to images only.
std::unique_ptr<SamplePath> make_text_path(const SamplePathSpec& spec);

}  // namespace convoy
