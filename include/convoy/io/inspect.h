/// What a file of ours holds and whether it is whole, for a person who has only the file.
#pragma once

#include <optional>
#include <string>

namespace convoy::io {

/// Several lines on a shard of a data set (shape, samples, classes, mean and deviation, source) or a checkpoint (step,
/// samples, tensors, parameters, optimizer state, bytes), or a safetensors file. Throws Error where it is none of
/// these, or damaged.
std::string describe_file(const std::string& path);

/// Nothing where every byte is as it was written (a data set's images too: it reads the whole file), else the reason.
/// safetensors files carry no hash: their structure is verified, not their values.
std::optional<std::string> verify_file(const std::string& path);

}  // namespace convoy::io
