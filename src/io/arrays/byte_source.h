/// Where the bytes of an array come from: a file, or a member of an archive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "convoy/io/array_reader.h"

namespace convoy::io {

/// Bytes that are read in pieces. One thread may use it at a time.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  /// The name of the source in messages: "'x.npy'", "'all.npz', array 'x'".
  virtual std::string name() const = 0;
  virtual std::int64_t size_bytes() const = 0;
  /// Whether pieces may be read in any order without reading what lies between them.
  virtual bool has_random_access() const = 0;
  /// Fills `bytes` from `offset` on, which the caller keeps within size_bytes(). Throws Error naming the source.
  virtual void read(std::int64_t offset, std::span<std::byte> bytes) = 0;
};

/// Makes a reader of the array that a source holds in NumPy's format. Throws RequestError as open_npy() does.
std::unique_ptr<ArrayReader> read_npy_from(std::unique_ptr<ByteSource> source);

}  // namespace convoy::io
