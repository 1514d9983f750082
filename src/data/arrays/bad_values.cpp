/// Looks at all values of a sample in one pass; only where one is bad, they are looked at one by one.
#include "data/arrays/bad_values.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "convoy/base/text.h"
#include "convoy/base/wording.h"
#include "convoy/comm/packed.h"

#include "data/arrays/element_values.h"

namespace convoy {

namespace {

constexpr std::size_t kMaxPlaces = 3, kMaxChannels = 5;  // named in a message

}  // namespace

BadValues::BadValues(const std::vector<io::ArrayInfo>& inputs) : inputs_(inputs) {
  std::int64_t num_channels = 0;
  for (const io::ArrayInfo& input : inputs) num_channels += input.channels();
  counts_.resize(static_cast<std::size_t>(num_channels));
}

std::string describe_channel(const io::ArrayInfo& input, std::int64_t channel) {
  return fmt::format("input '{}', channel {}", input.name,
                     input.channel_names.empty()
                         ? fmt::format("{}", channel)
                         : fmt::format("'{}'", excerpt(input.channel_names[static_cast<std::size_t>(channel)])));
}

std::string BadValues::look(std::span<const std::byte> record) {
  std::string reason;
  std::size_t first_channel = 0;
  for (const io::ArrayInfo& input : inputs_) {
    const auto values = record.first(static_cast<std::size_t>(input.bytes()));
    for (std::int64_t at = 0; (at = find_not_finite(input.type, values, at)) >= 0; ++at) {
      const std::int64_t channel = at % input.channels();
      ++counts_[first_channel + static_cast<std::size_t>(channel)];
      const bool is_nan = std::isnan(value_at(input.type, values, at));
      if (!reason.empty() || (is_nan && input.fills_missing)) continue;
      reason = fmt::format("its {}, is {}", describe_channel(input, channel), is_nan ? "NaN" : "infinite");
    }
    first_channel += static_cast<std::size_t>(input.channels());
    record = record.subspan(values.size());
  }
  return reason;
}

void BadValues::add_sample(std::int64_t number, const std::string& place, const std::string& reason) {
  ++num_samples_;
  if (places_.size() == kMaxPlaces && places_.back().number < number) return;
  places_.push_back({number, fmt::format("'{}': {}", excerpt(place), reason)});
  keep_first();
}

void BadValues::keep_first() {
  std::ranges::sort(places_, {}, &Place::number);
  if (places_.size() > kMaxPlaces) places_.resize(kMaxPlaces);
}

void BadValues::gather(const mpi::Communicator& group) {
  std::vector<std::int64_t> sums(counts_.size());
  group.start_sum(counts_, sums).wait();
  counts_ = std::move(sums);
  num_samples_ = group.sum(num_samples_);
  mpi::Packer mine;
  for (const Place& place : std::exchange(places_, {})) {
    mine.add(place.number);
    mine.add(place.text);
  }
  const std::vector<std::byte> all = group.broadcast(group.gather(mine.bytes(), 0), 0);
  for (mpi::Unpacker packed(all); !packed.is_empty();) {
    Place& place = places_.emplace_back();
    place.number = packed.number();
    place.text = packed.text();
  }
  keep_first();
}

std::string BadValues::describe_channels() const {
  std::vector<std::string> channels;
  std::size_t next = 0;
  for (const io::ArrayInfo& input : inputs_)
    for (std::int64_t c = 0; c < input.channels(); ++c, ++next)
      if (counts_[next] > 0) channels.push_back(fmt::format("{} of {}", counts_[next], describe_channel(input, c)));
  return channels.empty() ? "" : first_few(channels, kMaxChannels);
}

std::string BadValues::describe() const {
  std::vector<std::string> places;
  for (const Place& place : places_) places.push_back(place.text);
  const std::string channels = describe_channels();
  return fmt::format("{}First: {}", channels.empty() ? "" : fmt::format("NaN or infinite values: {}. ", channels),
                     fmt::join(places, "; "));
}

}  // namespace convoy
