/// Normalises runs of values, which the compiler writes in vectors.
#include "data/arrays/convert_values.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "convoy/base/deviation.h"

#include "data/arrays/element_values.h"

namespace convoy {

namespace {

constexpr std::size_t kRun = 256;  // values at a time; the means of fewer channels are repeated

}  // namespace

ValueConverter::ValueConverter(ElementType type, std::span<const double> mean, std::span<const double> stddev,
                               std::span<const double> fill)
    : type_(type) {
  do {
    mean_.insert(mean_.end(), mean.begin(), mean.end());
    std::ranges::transform(stddev, std::back_inserter(stddev_), divisor_of);
    if (mean.empty())
      mean_.resize(mean_.size() + std::max<std::size_t>(1, fill.size())), stddev_.resize(mean_.size(), 1);
    fill_.insert(fill_.end(), fill.begin(), fill.end());
  } while (mean_.size() < kRun);
}

void ValueConverter::convert(std::span<const std::byte> from, std::span<float> to) const {
  const auto size = static_cast<std::size_t>(size_of(type_));
  double values[kRun];
  for (std::size_t first = 0; first < to.size();) {
    const std::size_t place = first % mean_.size();
    const std::size_t count = std::min({kRun, mean_.size() - place, to.size() - first});
    const double *const mean = mean_.data() + place, *const stddev = stddev_.data() + place;
    convert_to_doubles(type_, from.subspan(first * size, count * size), std::span(values).first(count));
    if (!fill_.empty())
      for (std::size_t i = 0; i < count; ++i) values[i] = std::isnan(values[i]) ? fill_[place + i] : values[i];
    for (std::size_t i = 0; i < count; ++i) to[first + i] = static_cast<float>((values[i] - mean[i]) / stddev[i]);
    first += count;
  }
}

}  // namespace convoy
