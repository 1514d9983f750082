/// HDF5 files in memory that we own, made and opened without a file system: an HDF5 file driver of our own.
///
/// The core driver of HDF5 would copy whole images in and out, and needs memory for every byte between the first and
/// the last. This one keeps what is written, so that a shard's images can be a hole; and it writes into the vector that
/// goes to the disk later, and reads from the bytes whose hash was verified.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "io/hdf5.h"

namespace convoy::io::hdf5 {

/// A new file. Once it is closed `bytes` holds it up to the last byte written. `bytes` must outlive it.
File create_in_memory(std::vector<std::byte>& bytes);

/// A file of `size_bytes` for reading: first `bytes`, then zeros. `bytes` must outlive it.
File open_in_memory(std::span<const std::byte> bytes, std::uint64_t size_bytes);

/// Bytes that a file has when all that was asked for is written.
std::uint64_t flushed_size(const File& file);

}  // namespace convoy::io::hdf5
