/// Tensors with their names, as files of weights hold them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace convoy::io {

struct NamedTensor {
  std::string name;                ///< name of the tensor: "layer1.0.conv1.weight"
  std::vector<std::int64_t> dims;  ///< dimensions: (O,I,H,W), (O,I) or (C)
  std::vector<float> values;       ///< values in row-major order

  std::int64_t count() const;  ///< number of values of this shape
};

/// Returns the fingerprint (convoy/base/fingerprint.h) of all values of these tensors, a 64-bit number that does not
/// depend on the layout.
std::uint64_t fingerprint(const std::vector<NamedTensor>& tensors);

/// The name of a batch normalisation's step counter, from the name of its running mean: "bn1.num_batches_tracked" for
/// "bn1.running_mean". Empty for the names of other tensors.
std::string counter_name(const std::string& tensor_name);

}  // namespace convoy::io
