/// Orders the samples so that each beginning of the order has the same share of each class.
#include "convoy/data/training_set.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "convoy/base/error.h"
#include "convoy/base/random.h"
#include "convoy/params/parameters.h"

namespace convoy {

std::int64_t limited_count(const SampleLimit& limit, std::int64_t num_samples) {
  if (limit == SampleLimit{}) return num_samples;
  if (limit.count > num_samples)
    refuse("data.limit = {} is more than the {} samples of data.train. Allowed: up to {}, or a share such as 10 %.",
           limit.count, num_samples, num_samples);
  if (limit.count > 0) return limit.count;
  const std::int64_t count = std::llround(limit.percent / 100 * static_cast<double>(num_samples));
  if (count == 0)
    refuse("data.limit = {} % of the {} samples of data.train is no sample. Give a larger share, or a number.",
           limit.percent, num_samples);
  return count;
}

std::vector<std::int64_t> draw_stratified(const io::SampleStore& samples, std::int64_t count, std::uint64_t seed) {
  using Drawn = std::pair<std::uint64_t, std::int64_t>;  // a random number, its sample
  const bool has_classes = samples.info().target.kind == TargetKind::kClass;
  std::vector<std::vector<Drawn>> classes(has_classes ? samples.info().class_names.size() : 1);
  for (std::int64_t i = 0; i < samples.info().num_samples; ++i) {
    const RandomKey key{.seed = seed, .purpose = Purpose::kSubset, .item = static_cast<std::uint64_t>(i)};
    const std::size_t c = has_classes ? static_cast<std::size_t>(samples.label(i)) : 0;
    classes[c].emplace_back(random_block(key, 0)[0], i);
  }
  // The middle of each sample's part of its class, the class, and the sample.
  std::vector<std::tuple<double, std::size_t, std::int64_t>> order;
  for (std::size_t c = 0; c < classes.size(); ++c) {
    std::ranges::sort(classes[c]);
    for (std::size_t i = 0; i < classes[c].size(); ++i)
      order.emplace_back((static_cast<double>(i) + 0.5) / static_cast<double>(classes[c].size()), c,
                         classes[c][i].second);
  }
  std::ranges::sort(order);
  std::vector<std::int64_t> kept;
  for (std::int64_t i = 0; i < count; ++i) kept.push_back(std::get<2>(order[static_cast<std::size_t>(i)]));
  std::ranges::sort(kept);
  return kept;
}

void keep_fold(io::Dataset& data, std::int64_t fold, FoldPart part, const std::string& path) {
  const std::int64_t num_folds = data.info().num_folds;
  if (num_folds == 0)
    refuse(
        "data.fold = {}, but data.train = {} has no folds. Import it again with import.folds, or leave data.fold out.",
        fold, path);
  if (fold > num_folds)
    refuse("data.fold = {}, but data.train = {} has {} folds. Allowed: 1 to {}, or 0 for no fold.", fold, path,
           num_folds, num_folds);
  std::vector<std::int64_t> kept;
  for (std::int64_t i = 0; i < data.info().num_samples; ++i)
    if ((data.fold(i) == fold) == (part == FoldPart::kInside)) kept.push_back(i);
  if (kept.empty())
    refuse("data.fold = {}: data.train = {} has no sample {} this fold. Give the folder of all its shards.", fold, path,
           part == FoldPart::kInside ? "of" : "outside");
  data.keep(kept, fold);
}

io::Dataset open_training_set(const Parameters& params) {
  io::Dataset train(params.data.train, "data.train", params.data.verify);
  if (params.data.fold > 0) keep_fold(train, params.data.fold, FoldPart::kOutside, params.data.train);
  const std::int64_t count = limited_count(params.data.limit, train.info().num_samples);
  if (count < train.info().num_samples) train.keep(draw_stratified(train, count, params.train.seed));
  return train;
}

}  // namespace convoy
