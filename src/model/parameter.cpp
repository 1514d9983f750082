/// Converts parameters between file and device, and gives their initial values.
#include "convoy/model/parameter.h"

#include <algorithm>
#include <cassert>
#include <functional>
#include <numeric>

#include "convoy/base/fingerprint.h"
#include "convoy/base/random.h"

namespace convoy {

namespace {

// Calls visit(index in file order, index on the device) for every value.
template <typename Visit>
void for_each_value(const ParameterSpec& spec, Visit&& visit) {
  if (spec.file_order == FileOrder::kAsOnDevice) {
    for (std::int64_t i = 0; i < spec.count(); ++i) visit(i, i);
    return;
  }
  const std::int64_t filters = spec.dims[0], channels = spec.dims[1], area = spec.dims[2] * spec.dims[3];
  for (std::int64_t o = 0; o < filters; ++o)
    for (std::int64_t i = 0; i < channels; ++i)
      for (std::int64_t p = 0; p < area; ++p) visit((o * channels + i) * area + p, (o * area + p) * channels + i);
}

}  // namespace

std::int64_t ParameterSpec::count() const {
  return std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
}

void to_file_order(const ParameterSpec& spec, std::span<const float> device, std::span<float> file) {
  assert(std::ssize(device) == spec.count() && std::ssize(file) == spec.count());
  for_each_value(spec, [&](std::int64_t f, std::int64_t d) { file[f] = device[d]; });
}

void to_device_order(const ParameterSpec& spec, std::span<const float> file, std::span<float> device) {
  assert(std::ssize(device) == spec.count() && std::ssize(file) == spec.count());
  for_each_value(spec, [&](std::int64_t f, std::int64_t d) { device[d] = file[f]; });
}

// On the device channels are neighbours; in files their distance is the kernel's area.
std::uint64_t fingerprint_part(const ParameterSpec& spec, std::int64_t first, std::span<const float> device) {
  assert(first >= 0 && first + std::ssize(device) <= spec.count());
  const std::uint64_t name = hash_name(spec.name);
  if (spec.file_order == FileOrder::kAsOnDevice)
    return convoy::fingerprint_part(name, {.values = device, .first = first});
  const std::int64_t channels = spec.dims[1], area = spec.dims[2] * spec.dims[3];
  std::uint64_t sum = 0;
  while (!device.empty()) {
    const std::int64_t pixel = first / channels, channel = first % channels;
    const std::int64_t count = std::min(channels - channel, std::ssize(device));
    const std::int64_t index = (pixel / area * channels + channel) * area + pixel % area;
    sum += convoy::fingerprint_part(name, {.values = device.first(count), .first = index, .stride = area});
    device = device.subspan(count);
    first += count;
  }
  return sum;
}

std::vector<float> initial_values(const ParameterSpec& spec, const InitialSpec& initial) {
  const auto [kind, size] = initial.zero_residual && spec.joins_shortcut ? InitialValues{} : spec.initial;
  const RandomKey key{
      .seed = initial.seed, .purpose = Purpose::kInitialWeight, .epoch = 0, .item = hash_name(spec.name)};
  std::vector<float> values(spec.count(), static_cast<float>(size));
  if (kind == InitialValues::Kind::kUniform)
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>((2.0 * random_uniform(key, i) - 1.0) * size);
  if (kind == InitialValues::Kind::kNormal)
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(random_normal(key, i) * size);
  return values;
}

}  // namespace convoy
