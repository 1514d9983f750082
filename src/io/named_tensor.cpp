/// The number of values of a tensor, the fingerprint of tensors, and the names of counters.
#include "convoy/io/named_tensor.h"

#include <functional>
#include <numeric>
#include <string_view>

#include "convoy/base/fingerprint.h"
#include "convoy/base/random.h"

namespace convoy::io {

std::int64_t NamedTensor::count() const {
  return std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
}

std::uint64_t fingerprint(const std::vector<NamedTensor>& tensors) {
  std::uint64_t sum = 0;
  for (const NamedTensor& tensor : tensors) sum += fingerprint_part(hash_name(tensor.name), {.values = tensor.values});
  return sum;
}

std::string counter_name(const std::string& tensor_name) {
  constexpr std::string_view kMean = "running_mean";
  if (!tensor_name.ends_with(kMean)) return "";
  return tensor_name.substr(0, tensor_name.size() - kMean.size()) + "num_batches_tracked";
}

}  // namespace convoy::io
