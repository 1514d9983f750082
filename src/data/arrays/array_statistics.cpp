/// Sums whose rounding errors are added up, too (Knuth's two-sum, Dekker's two-product).
#include "data/arrays/array_statistics.h"

#include <algorithm>
#include <cmath>

#include "data/arrays/element_values.h"

namespace convoy {

namespace {

constexpr std::size_t kLanes = 8;        // if there are fewer channels; else 1
constexpr std::size_t kBlock = 1 << 13;  // values that are converted at once, to stay in the cache

// The exact sum of two numbers.
inline DoubleDouble two_sum(double a, double b) {
  const double sum = a + b, part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}

DoubleDouble quick_two_sum(double large, double small) {
  const double sum = large + small;
  return {sum, small - (sum - large)};
}

DoubleDouble two_product(double a, double b) {
  const double product = a * b;
  return {product, std::fma(a, b, -product)};
}

DoubleDouble sum_of(const DoubleDouble& a, const DoubleDouble& b) {
  const DoubleDouble high = two_sum(a.high, b.high), low = two_sum(a.low, b.low);
  const DoubleDouble part = quick_two_sum(high.high, high.low + low.high);
  return quick_two_sum(part.high, part.low + low.low);
}

DoubleDouble product_of(const DoubleDouble& a, const DoubleDouble& b) {
  const DoubleDouble high = two_product(a.high, b.high);
  return quick_two_sum(high.high, high.low + (a.high * b.low + a.low * b.high));
}

// One step of Newton's method on the quotient of the doubles.
DoubleDouble quotient_of(const DoubleDouble& a, double b) {
  const double first = a.high / b;
  const DoubleDouble taken = two_product(first, b);
  const double rest = ((a.high - taken.high) - taken.low) + a.low;
  return quick_two_sum(first, rest / b);
}

DoubleDouble negative(const DoubleDouble& a) {
  return {-a.high, -a.low};
}

}  // namespace

// --- Sums of a channel -----------------------------------------------------------------------------------------------

void ChannelSums::add(const ChannelSums& next) {
  count += next.count;
  sum = sum_of(sum, next.sum);
  squares = sum_of(squares, next.squares);
}

double ChannelSums::mean() const {
  return count == 0 ? 0 : quotient_of(sum, static_cast<double>(count)).high;
}

double ChannelSums::stddev() const {
  if (count == 0) return 0;
  const auto number = static_cast<double>(count);
  const DoubleDouble mean = quotient_of(sum, number);
  const DoubleDouble variance = sum_of(quotient_of(squares, number), negative(product_of(mean, mean)));
  return std::sqrt(std::max(variance.high, 0.0));
}

std::vector<ChannelSums> sums_outside_folds(std::span<const ChannelSums> of_folds, std::size_t num_folds) {
  const std::size_t channels = of_folds.size() / num_folds;
  std::vector<ChannelSums> outside(of_folds.size());  // first those of the folds before each one
  for (std::size_t i = channels; i < outside.size(); ++i) {
    outside[i] = outside[i - channels];
    outside[i].add(of_folds[i - channels]);
  }
  std::vector<ChannelSums> after(channels);
  for (std::size_t i = of_folds.size(); i-- > 0;) {
    ChannelSums& next = after[i % channels];
    outside[i].add(next);
    next.add(of_folds[i]);
  }
  return outside;
}

// --- Sums of an array ------------------------------------------------------------------------------------------------

ChannelMoments::ChannelMoments(ElementType type, std::int64_t channels, std::int64_t num_folds)
    : type_(type),
      channels_(static_cast<std::size_t>(channels)),
      num_lanes_(channels_ < kLanes ? kLanes : 1),
      doubles_(std::max<std::size_t>(kBlock / (channels_ * num_lanes_), 1) * channels_ * num_lanes_),
      counts_(static_cast<std::size_t>(num_folds) * channels_),
      sum_high_(counts_.size() * num_lanes_),
      sum_low_(sum_high_.size()),
      square_high_(sum_high_.size()),
      square_low_(sum_high_.size()) {}

// Adds values, the first of which is of channel 0 and lane 0. kHasExactSquares: a double holds the square of each.
template <bool kHasExactSquares>
void ChannelMoments::add_doubles(std::span<const double> values, std::size_t fold) {
  const std::size_t size = channels_ * num_lanes_, first = fold * size;
  while (!values.empty()) {
    const std::size_t count = std::min(values.size(), size);
    const double* const x = values.data();
    double *const sum_high = sum_high_.data() + first, *const sum_low = sum_low_.data() + first;
    double *const square_high = square_high_.data() + first, *const square_low = square_low_.data() + first;
    for (std::size_t i = 0; i < count; ++i) {
      const DoubleDouble sum = two_sum(sum_high[i], x[i]);
      const DoubleDouble square = kHasExactSquares ? DoubleDouble{x[i] * x[i], 0} : two_product(x[i], x[i]);
      const DoubleDouble squares = two_sum(square_high[i], square.high);
      sum_high[i] = sum.high;
      sum_low[i] += sum.low;
      square_high[i] = squares.high;
      square_low[i] += kHasExactSquares ? squares.low : squares.low + square.low;
    }
    values = values.subspan(count);
  }
}

// A NaN adds nothing, not even to the number of values.
void ChannelMoments::leave_out_missing(std::span<double> values, std::size_t fold) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isnan(values[i])) continue;
    values[i] = 0;
    --counts_[fold * channels_ + i % channels_];
  }
}

void ChannelMoments::add(std::span<const std::byte> sample, std::int64_t fold_number) {
  const auto fold = static_cast<std::size_t>(fold_number);
  const std::size_t value_bytes = static_cast<std::size_t>(size_of(type_));
  for (std::span<const std::byte> rest = sample; !rest.empty();) {
    const auto part = rest.first(std::min(rest.size(), doubles_.size() * value_bytes));
    const std::span doubles = std::span(doubles_).first(part.size() / value_bytes);
    convert_to_doubles(type_, part, doubles);
    if (find_not_finite(type_, part) >= 0) leave_out_missing(doubles, fold);
    if (size_of(type_) <= 2 || type_ == ElementType::kFloat32)
      add_doubles<true>(doubles, fold);
    else
      add_doubles<false>(doubles, fold);
    rest = rest.subspan(part.size());
  }
  const auto pixels = static_cast<std::int64_t>(sample.size() / value_bytes / channels_);
  for (std::size_t c = 0; c < channels_; ++c) counts_[fold * channels_ + c] += pixels;
}

std::vector<ChannelSums> ChannelMoments::sums(std::int64_t fold_number) const {
  const auto fold = static_cast<std::size_t>(fold_number);
  std::vector<ChannelSums> sums(channels_);
  for (std::size_t c = 0; c < channels_; ++c) {
    sums[c].count = counts_[fold * channels_ + c];
    for (std::size_t lane = 0; lane < num_lanes_; ++lane) {
      const std::size_t i = (fold * num_lanes_ + lane) * channels_ + c;
      sums[c].sum = sum_of(sums[c].sum, two_sum(sum_high_[i], sum_low_[i]));
      sums[c].squares = sum_of(sums[c].squares, two_sum(square_high_[i], square_low_[i]));
    }
  }
  return sums;
}

}  // namespace convoy
