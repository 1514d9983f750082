/// Weights in the format that PyTorch's users share: safetensors files, read strictly and written so that all readers
/// take them.
///   [ N, little-endian 64 bit ][ header: JSON, N bytes ][ values of all tensors, one after the other ]
///   header: {"__metadata__": {"format": "pt"}, "conv1.weight": {"dtype": "F32", "shape": [64,3,7,7],
///            "data_offsets": [0,37632]}, ...}; offsets count from the header's end
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "convoy/io/checkpoint.h"

namespace convoy::io {

/// What a state_dict of PyTorch holds.
struct StateDict {
  std::vector<NamedTensor> tensors;              ///< in the order of their names
  std::map<std::string, std::int64_t> counters;  ///< bn1.num_batches_tracked: a 64-bit integer without dimensions
};

/// Whether the file begins like one; another kind of file does not.
bool looks_like_safetensors(std::span<const std::byte> bytes);
/// The same of a file's first bytes. Throws Error where it cannot be read.
bool is_safetensors_file(const std::string& path);

/// Whether encode_safetensors() made it. Throws Error where it cannot be read.
bool is_own_safetensors_file(const std::string& path);

/// The bytes of a file whose header is right. It is read and checked against the file's size before the values are: a
/// file of another size takes neither time nor memory, however large it is. Throws Error saying what is wrong.
std::vector<std::byte> read_safetensors_file(const std::string& path);

/// F32, F16, BF16 and F64 become float32. I64 is read where the name ends in num_batches_tracked. `where` names the
/// file in messages. Throws Error saying what is wrong: everything is checked before memory is taken for it, as the
/// format asks (names once, ranges inside the file, without holes or overlaps, as long as type and shape say).
StateDict decode_safetensors(std::span<const std::byte> bytes, const std::string& where);

/// float32 and 64-bit integers, in the order of the names; metadata "format": "pt", as PyTorch's loaders ask, and
/// "written_by": "convoy".
std::vector<std::byte> encode_safetensors(const StateDict& dict);

}  // namespace convoy::io
