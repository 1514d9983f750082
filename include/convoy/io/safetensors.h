/// Reads and writes weights as safetensors files, the format that PyTorch's users share. Files are checked strictly
/// when they are read, and are written so that all readers accept them.
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

#include "convoy/io/named_tensor.h"

namespace convoy::io {

/// The content of a state_dict of PyTorch.
struct StateDict {
  std::vector<NamedTensor> tensors;  ///< tensors in the order of their names
  /// Step counters of batch normalisations, 64-bit integers without dimensions, by names such as
  /// "bn1.num_batches_tracked".
  std::map<std::string, std::int64_t> counters;
};

/// Whether the bytes begin like a safetensors file; no other kind of file does.
bool looks_like_safetensors(std::span<const std::byte> bytes);
/// Whether the file begins like a safetensors file. Throws Error if it cannot be read.
bool is_safetensors_file(const std::string& path);

/// Whether the file was made by encode_safetensors(), as its metadata say. Throws Error if it cannot be read.
bool is_own_safetensors_file(const std::string& path);

/// Returns the bytes of a safetensors file. Its header is read and checked against the file's size before the values
/// are read: a file of another size takes neither time nor memory, even if it is large. Throws Error saying what is
/// wrong.
std::vector<std::byte> read_safetensors_file(const std::string& path);

/// Decodes a safetensors file. F32, F16, BF16 and F64 become float32. I64 is read only if the name ends in
/// num_batches_tracked, into StateDict::counters; other types are an error. `where` names the file in messages. Throws
/// Error saying what is wrong. Everything is checked
/// before memory is allocated for it: each name occurs once; the ranges of values are inside the file, without holes or
/// overlaps, and as long as type and shape say.
StateDict decode_safetensors(std::span<const std::byte> bytes, const std::string& where);

/// Returns the bytes of a safetensors file: counters as 64-bit integers, then tensors as float32, both in the order of
/// their names. The metadata are "format": "pt", as PyTorch's loaders ask, and "written_by": "convoy". Throws Error if
/// two counters or tensors have the same name.
std::vector<std::byte> encode_safetensors(const StateDict& dict);

}  // namespace convoy::io
