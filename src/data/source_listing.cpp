/// Sends lists to all ranks, and cuts a validation split from them.
#include "data/source_listing.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/progress.h"
#include "convoy/base/random.h"
#include "convoy/base/text.h"
#include "convoy/comm/on_root.h"
#include "convoy/comm/packed.h"

namespace convoy {

namespace {

// --- Lists as bytes --------------------------------------------------------------------------------------------------

std::vector<std::byte> pack(const SourceListing& listing) {
  mpi::Packer packed;
  packed.add(std::ssize(listing.class_names));
  for (const std::string& name : listing.class_names) packed.add(name);
  packed.add(std::ssize(listing.splits));
  for (const SourceSplit& split : listing.splits) {
    packed.add(split.name);
    packed.add(split.size());
    for (std::int64_t i = 0; i < split.size(); ++i) {
      packed.add(split.names[i]);
      packed.add(split.labels[static_cast<std::size_t>(i)]);
      packed.add(split.source_ids[static_cast<std::size_t>(i)]);
    }
  }
  return packed.bytes();
}

SourceListing unpack(std::span<const std::byte> bytes) {
  mpi::Unpacker packed(bytes);
  SourceListing listing;
  for (std::int64_t n = packed.number(); n > 0; --n) listing.class_names.emplace_back(packed.text());
  for (std::int64_t n = packed.number(); n > 0; --n) {
    SourceSplit& split = listing.splits.emplace_back();
    split.name = packed.text();
    for (std::int64_t i = packed.number(); i > 0; --i) {
      const std::string_view name = packed.text();
      const auto label = static_cast<std::int32_t>(packed.number());
      split.add(name, label, packed.number());
    }
  }
  return listing;
}

}  // namespace

// --- NameList, SourceSplit -------------------------------------------------------------------------------------------

void NameList::add(std::string_view name) {
  begins_.push_back(std::ssize(text_));
  text_ += name;
}

std::string_view NameList::operator[](std::int64_t i) const {
  const auto at = static_cast<std::size_t>(i);
  const std::int64_t end = at + 1 < begins_.size() ? begins_[at + 1] : std::ssize(text_);
  return std::string_view(text_).substr(static_cast<std::size_t>(begins_[at]),
                                        static_cast<std::size_t>(end - begins_[at]));
}

void SourceSplit::add(std::string_view sample_name, std::int32_t label, std::int64_t source_id) {
  names.add(sample_name);
  labels.push_back(label);
  source_ids.push_back(source_id);
  ++num_samples;
  note_progress();
}

// --- On all ranks ----------------------------------------------------------------------------------------------------

SourceListing list_on_root(const mpi::Communicator& world, const std::function<SourceListing()>& list) {
  std::vector<std::byte> listed;
  mpi::on_root(world, [&] { listed = pack(list()); });
  return unpack(world.broadcast(listed, 0));
}

// --- Names of classes ------------------------------------------------------------------------------------------------

std::string examples(const std::vector<std::string>& names) {
  constexpr std::ptrdiff_t kMaxExamples = 3;
  const auto end = names.begin() + std::min(kMaxExamples, std::ssize(names));
  const std::string all = fmt::format("'{}'", fmt::join(names.begin(), end, "', '"));
  return excerpt(all) + (std::ssize(names) > kMaxExamples ? ", ..." : "");
}

std::vector<std::string> in_order_of_classes(std::vector<std::string> names) {
  std::ranges::sort(names);
  const auto value_of = [](const std::string& name) { return parse_number<std::int64_t>(name); };
  if (std::ranges::all_of(names, [&](const std::string& name) { return value_of(name).has_value(); }))
    std::ranges::stable_sort(names, {}, value_of);
  return names;
}

std::string describe_spellings(const std::vector<std::string>& class_names) {
  const auto key_of = [](const std::string& name) {
    std::string key = lower_case(name);
    std::erase_if(key, [](char c) { return c == ' ' || c == '\t'; });
    return key;
  };
  std::unordered_map<std::string, std::vector<std::string>> spelled;
  for (const std::string& name : class_names) spelled[key_of(name)].push_back(name);
  for (const std::string& name : class_names)
    if (const std::vector<std::string>& same = spelled[key_of(name)]; same.size() > 1)
      return fmt::format("{} differ only in capitals or spaces, and are imported as {} separate names", examples(same),
                         same.size());
  return "";
}

// --- A validation split ----------------------------------------------------------------------------------------------

SplitCut cut_validation(SourceListing& listing, double fraction, std::uint64_t seed) {
  const SourceSplit& train = listing.splits.front();
  for (const SourceSplit& split : listing.splits) {
    if (split.name == "val")
      refuse("import.val_fraction = {}: the source has a split val already. Allowed: 0", fraction);
  }
  using Drawn = std::pair<std::uint64_t, std::int64_t>;  // a random number, its sample
  std::vector<std::vector<Drawn>> classes(listing.class_names.size());
  SplitCut cut;
  for (std::int64_t i = 0; i < train.size(); ++i) {
    const std::int32_t label = train.labels[static_cast<std::size_t>(i)];
    if (label < 0) continue;
    const RandomKey key{.seed = seed, .purpose = Purpose::kValidationSplit, .item = hash_name(train.names[i])};
    classes[static_cast<std::size_t>(label)].push_back({random_block(key, 0)[0], i});
  }
  std::vector<bool> moves(static_cast<std::size_t>(train.size()));
  for (std::vector<Drawn>& drawn : classes) {
    if (drawn.empty()) continue;
    std::sort(drawn.begin(), drawn.end());
    const std::int64_t count = cut.take(fraction, std::ssize(drawn), std::ssize(drawn));
    for (std::int64_t i = 0; i < count; ++i) {
      moves[static_cast<std::size_t>(drawn[static_cast<std::size_t>(i)].second)] = true;
    }
  }
  SourceSplit kept{.name = "train", .names = {}, .labels = {}, .source_ids = {}, .num_samples = 0};
  SourceSplit moved{.name = "val", .names = {}, .labels = {}, .source_ids = {}, .num_samples = 0};
  for (std::int64_t i = 0; i < train.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    (moves[at] ? moved : kept).add(train.names[i], train.labels[at], train.source_ids[at]);
  }
  if (moved.size() == 0)
    refuse("import.val_fraction = {}: no class of train has two samples, which a split needs", fraction);
  listing.splits.front() = std::move(kept);
  listing.splits.insert(listing.splits.begin() + 1, std::move(moved));
  return cut;
}

}  // namespace convoy
