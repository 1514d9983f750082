/// Tensors with their names, as files of weights hold them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace convoy::io {

struct NamedTensor {
  std::string name;                ///< layer1.0.conv1.weight
  std::vector<std::int64_t> dims;  ///< (O,I,H,W), (O,I) or (C)
  std::vector<float> values;       ///< row-major

  std::int64_t count() const;  ///< values of this shape
};

/// The fingerprint of all values of these tensors (convoy/base/fingerprint.h).
std::uint64_t fingerprint(const std::vector<NamedTensor>& tensors);

/// The name of the counter of a batch norm: "bn1.num_batches_tracked" for "bn1.running_mean"; empty for other names.
std::string counter_name(const std::string& tensor_name);

}  // namespace convoy::io
