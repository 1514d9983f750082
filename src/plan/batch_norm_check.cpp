/// Messages name the batch norm with the fewest values, and count the others.
#include "plan/batch_norm_check.h"

#include <algorithm>
#include <variant>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/base/wording.h"
#include "convoy/model/batch_statistics.h"

namespace convoy {

namespace {

// With fewer values, little more than the signs of their deviations from the mean is left after normalisation.
constexpr std::int64_t kMinGoodValues = 4;

std::string images_of(const NetworkSpec& spec) {
  const auto* const image = std::get_if<ImageShape>(&spec.input);
  return image == nullptr ? "" : fmt::format(" of a network that reads images of {}", to_string(*image));
}

// "layer4.0.bn1 and 4 more batch norms of a network that takes images of 32x32x3 compute mean and variance from 1 value
// per channel (batch.micro x rows x columns = 1 x 1 x 1)"; empty if all have more than `max` values.
std::string describe(const Network& network, const NetworkSpec& spec, std::int64_t max) {
  std::vector<BatchStatistics> few = trained_batch_statistics(network);
  std::erase_if(few, [&](const BatchStatistics& norm) { return norm.num_values() > max; });
  if (few.empty()) return "";
  const BatchStatistics& fewest = *std::ranges::min_element(few, {}, &BatchStatistics::num_values);
  const std::int64_t others = std::ssize(few) - 1;
  const std::string more = others == 0 ? "" : " and " + counted(others, "more batch norm");
  return fmt::format(
      "{}{}{} compute{} mean and variance from {} per channel (batch.micro x rows x columns = {} x {} x {})",
      fewest.layer, more, images_of(spec), others == 0 ? "s" : "", counted(fewest.num_values(), "value"), fewest.x.n,
      fewest.x.h, fewest.x.w);
}

}  // namespace

void check_batch_norms(const Network& network, const NetworkSpec& spec) {
  const std::string found = describe(network, spec, 1);
  if (found.empty()) return;
  refuse(
      "with batch.micro = {}, {}. The output of such a layer is the same for all samples, and the network cannot "
      "learn. Use batch.micro = {} or more, {}or freeze these layers (train.freeze).",
      spec.micro_batch, found, kMinGoodValues,
      std::holds_alternative<ImageShape>(spec.input)
          ? "larger images (augment.size, import.size), a model.name that halves them less often, "
          : "");
}

std::string describe_few_values(const Network& network, const NetworkSpec& spec) {
  const std::string found = describe(network, spec, kMinGoodValues - 1);
  if (found.empty()) return "";
  return fmt::format(
      "with batch.micro = {}, {}: these are mostly noise. A larger batch.micro{}", spec.micro_batch, found,
      std::holds_alternative<ImageShape>(spec.input) ? " or larger images (augment.size, import.size) train better"
                                                     : " trains better");
}

}  // namespace convoy
