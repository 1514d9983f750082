/// Lists: how they travel, and what is parted from them.
#include "data/source_listing.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "convoy/base/error.h"
#include "convoy/base/random.h"

namespace convoy {

namespace {

// --- Lists as texts --------------------------------------------------------------------------------------------------

// Texts and numbers, each with a 0 after it, which no name of a file holds.
std::string pack(const SourceListing& listing) {
  std::string packed;
  const auto add = [&](const auto& value) { fmt::format_to(std::back_inserter(packed), "{}{}", value, '\0'); };
  add(listing.class_names.size());
  for (const std::string& name : listing.class_names) add(name);
  add(listing.splits.size());
  for (const SourceSplit& split : listing.splits) {
    add(split.name);
    add(split.size());
    for (std::int64_t i = 0; i < split.size(); ++i) {
      add(split.names[i]);
      add(split.labels[static_cast<std::size_t>(i)]);
      add(split.source_ids[static_cast<std::size_t>(i)]);
    }
  }
  return packed;
}

SourceListing unpack(std::string_view packed) {
  const auto text = [&] {
    const std::string_view value = packed.substr(0, packed.find('\0'));
    packed.remove_prefix(value.size() + 1);
    return value;
  };
  const auto number = [&] { return std::stoll(std::string(text())); };
  SourceListing listing;
  for (std::int64_t n = number(); n > 0; --n) listing.class_names.emplace_back(text());
  for (std::int64_t n = number(); n > 0; --n) {
    SourceSplit& split = listing.splits.emplace_back();
    split.name = text();
    for (std::int64_t i = number(); i > 0; --i) {
      const std::string_view name = text();
      const auto label = static_cast<std::int32_t>(number());
      split.add(name, label, number());
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
}

// --- On all ranks ----------------------------------------------------------------------------------------------------

SourceListing broadcast_listing(const SourceListing& listing, const mpi::Communicator& world) {
  return unpack(world.broadcast(world.rank() == 0 ? pack(listing) : std::string(), 0));
}

// --- A validation split ----------------------------------------------------------------------------------------------

void cut_validation(SourceListing& listing, double fraction, std::uint64_t seed) {
  const SourceSplit& train = listing.splits.front();
  for (const SourceSplit& split : listing.splits) {
    if (split.name == "val")
      refuse("import.val_fraction = {}: the source has a split val already. Allowed: 0", fraction);
  }
  using Drawn = std::pair<std::uint64_t, std::int64_t>;  // a random number, its sample
  std::vector<std::vector<Drawn>> classes(listing.class_names.size());
  for (std::int64_t i = 0; i < train.size(); ++i) {
    const RandomKey key{.seed = seed, .purpose = Purpose::kValidationSplit, .item = hash_name(train.names[i])};
    classes[static_cast<std::size_t>(train.labels[static_cast<std::size_t>(i)])].push_back(
        {random_block(key, 0)[0], i});
  }
  std::vector<bool> moves(static_cast<std::size_t>(train.size()));
  for (std::vector<Drawn>& drawn : classes) {
    if (drawn.size() < 2) continue;
    std::sort(drawn.begin(), drawn.end());
    const auto wanted = std::llround(fraction * static_cast<double>(drawn.size()));
    const auto count = std::clamp<std::int64_t>(wanted, 1, std::ssize(drawn) - 1);
    for (std::int64_t i = 0; i < count; ++i) {
      moves[static_cast<std::size_t>(drawn[static_cast<std::size_t>(i)].second)] = true;
    }
  }
  SourceSplit kept{.name = "train", .names = {}, .labels = {}, .source_ids = {}};
  SourceSplit moved{.name = "val", .names = {}, .labels = {}, .source_ids = {}};
  for (std::int64_t i = 0; i < train.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    (moves[at] ? moved : kept).add(train.names[i], train.labels[at], train.source_ids[at]);
  }
  if (moved.size() == 0)
    refuse("import.val_fraction = {}: no class of train has two samples, which a split needs", fraction);
  listing.splits.front() = std::move(kept);
  listing.splits.insert(listing.splits.begin() + 1, std::move(moved));
}

}  // namespace convoy
