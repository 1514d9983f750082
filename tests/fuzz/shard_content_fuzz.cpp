/// Shards that are valid HDF5 files with contradictory numbers: they test the reader alone, not HDF5.
#include <algorithm>
#include <bit>
#include <limits>

#include "convoy/base/features.h"

#include "fuzz/fuzz.h"
#include "fuzz/shard_reading.h"
#include "io/shard.h"

namespace {

using convoy::fuzz::Input;

/// Returns a number: mostly a small one, at times any number.
std::int64_t some_number(Input& input) {
  const std::uint8_t first = input.byte();
  return first < 250 ? first % 8 : static_cast<std::int64_t>(input.number());
}

template <typename Value>
std::vector<Value> some_list(Input& input) {
  std::vector<Value> list(input.below(8));
  for (Value& value : list) value = static_cast<Value>(some_number(input));
  return list;
}

/// Returns a list like some_list(), but from 0 to `end` in most cases: offsets that divide a body.
std::vector<std::int64_t> some_offsets(Input& input) {
  std::vector<std::int64_t> offsets = {0};
  for (std::size_t count = 1 + input.below(6); count > 0; --count)
    offsets.push_back(offsets.back() + 1 + static_cast<std::int64_t>(input.below(4)));
  if (input.below(8) == 0) offsets[input.below(offsets.size())] = some_number(input);
  // The last offset is the length of the body, which is written out.
  offsets.back() = std::clamp<std::int64_t>(offsets.back(), 0, 1000);
  return offsets;
}

std::vector<double> some_doubles(Input& input, std::size_t count) {
  if (input.below(8) == 0) count = input.below(8);
  return std::vector<double>(count, input.below(8) == 0 ? std::numeric_limits<double>::quiet_NaN() : 0.5);
}

convoy::io::ArrayInfo some_array(Input& input) {
  convoy::io::ArrayInfo array{.name = input.below(4) == 0 ? input.text() : std::string(1, 'a' + input.below(26)),
                              .type = static_cast<convoy::ElementType>(input.below(11)),
                              .dims = std::vector<std::int64_t>(1 + input.below(4))};
  for (std::int64_t& dim : array.dims) dim = 1 + static_cast<std::int64_t>(input.below(3));
  if (input.below(8) == 0) array.dims.resize(input.below(8), 1);
  const std::size_t channels = array.dims.empty() ? 0 : static_cast<std::size_t>(array.dims.back()) % 16;
  array.mean = some_doubles(input, channels), array.stddev = some_doubles(input, channels);
  if (input.flag()) array.channel_names.resize(input.below(4) == 0 ? input.below(8) : channels, input.text());
  return array;
}

// Makes the targets a member of the records.
void add_field(convoy::io::ShardHead& head, Input& input) {
  convoy::Target& target = head.info.target;
  target.dims = some_array(input).dims;
  if (target.dims.empty()) return;
  if (input.below(4) != 0) target.dims.back() = std::max<std::int64_t>(1, std::ssize(head.info.class_names));
  target.shape = convoy::Shape::vectors(1, 1);
  for (const std::int64_t dim : target.dims) target.shape.c *= dim;
  target.channel_axis = static_cast<convoy::ChannelAxis>(input.below(3));
  head.hashes.resize(head.hashes.size() + static_cast<std::size_t>(head.info.num_samples));
}

void add_arrays(convoy::io::ShardHead& head, Input& input) {
  head.info.kind = convoy::input_kinds::kArrays;
  for (std::size_t count = 1 + input.below(4); count > 0; --count) head.info.arrays.push_back(some_array(input));
  head.info.target.kind = static_cast<convoy::TargetKind>(input.below(3));
  const std::size_t outputs = head.info.class_names.size();
  const auto samples = static_cast<std::size_t>(head.info.num_samples);
  head.info.target.mean = some_doubles(input, outputs), head.info.target.stddev = some_doubles(input, outputs);
  head.targets.resize(input.below(8) == 0 ? input.below(16) : samples * outputs);
  for (float& target : head.targets) target = std::bit_cast<float>(static_cast<std::uint32_t>(input.number()));
  head.hashes.resize(input.below(8) == 0 ? input.below(16) : samples * head.info.arrays.size());
  if (input.flag()) head.info.class_counts.resize(outputs), head.labels.resize(samples);
  if (input.below(4) == 1) add_field(head, input);
}

convoy::io::ShardHead some_head(Input& input) {
  namespace kinds = convoy::input_kinds;
  convoy::io::ShardHead head;
  const std::uint8_t first = input.byte();
  const bool is_text = (first & 1) != 0;
  head.info.kind = is_text ? kinds::kText : kinds::kImages;
  head.info.encoded = !is_text && input.flag();
  head.info.oriented = input.flag();
  const auto side = [&] { return static_cast<std::int64_t>(input.below(4)); };
  head.info.image = {side(), side(), side()};
  head.info.num_samples = side();
  head.index = some_number(input), head.num_shards = some_number(input);
  for (std::size_t count = input.below(6); count > 0; --count) head.info.class_names.push_back(input.text());
  head.info.class_counts = some_list<std::int64_t>(input);
  head.info.channel_mean.resize(input.below(5)), head.info.channel_stddev.resize(input.below(5));
  head.labels = some_list<std::int32_t>(input);
  head.hashes = some_list<std::uint64_t>(input);
  head.offsets = some_offsets(input);
  head.name_bytes = side();
  head.info.text.num_tokens = some_number(input);
  head.info.text.tokenization = {.kind = input.text(), .model = input.text(), .vocabulary = some_number(input)};
  head.info.source = input.text();
  if (first % 4 == 2) add_arrays(head, input);
  return head;
}

std::vector<std::byte> encode(const convoy::io::ShardHead& head, Input& input) {
  using namespace convoy::io;
  std::vector<std::byte> file = encode_shard_head(head);
  ShardTrailer trailer;
  trailer.body_offset = file.size();
  trailer.body_bytes = static_cast<std::uint64_t>(head.payload_bytes() + head.info.num_samples * head.name_bytes);
  if (input.below(8) == 0) trailer.body_bytes = input.byte();
  const std::vector<std::byte> end = encode_shard_trailer(trailer, file);
  file.resize(trailer.body_offset + trailer.body_bytes, std::byte{65});
  file.insert(file.end(), end.begin(), end.end());
  return file;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  return convoy::fuzz::read_or_refuse([&] {
    const convoy::io::ShardHead head = some_head(input);
    convoy::fuzz::read_shard(encode(head, input));
  });
}
