/// The header of NumPy's file format (NEP 1): magic, version, and a Python dictionary with type, order and extents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "convoy/io/array_reader.h"

namespace convoy::io {

/// Number of bytes before the dictionary that tell its length, in the longest version of the format.
inline constexpr std::size_t kNpyPrefixBytes = 12;

/// The position and the length of the dictionary in bytes.
struct NpyPrefix {
  std::size_t offset = 0, length = 0;

  std::size_t end() const { return offset + length; }
};

/// How values lie in the file.
struct NpyHeader {
  ArrayForm form;
  std::int64_t value_bytes = 0;   ///< size of a value or text in bytes
  std::int64_t unit_bytes = 1;    ///< size of the numbers whose bytes are swapped if is_big_endian
  bool is_big_endian = false;     ///< whether a number's most significant byte comes first
  bool is_unicode = false;        ///< whether a text has characters of 4 bytes (UCS-4); false: bytes
  bool is_fortran_order = false;  ///< whether the first index varies fastest

  /// Size of all values in bytes. It does not overflow.
  std::int64_t size_bytes() const { return form.num_samples() * form.values_of_sample() * value_bytes; }
};

/// Reads the prefix from the first bytes of a file: kNpyPrefixBytes, or all if there are less. Throws Error with a
/// reason: "it is ...".
NpyPrefix read_npy_prefix(std::span<const std::byte> begin);

/// Reads the dictionary. Throws Error with a reason.
NpyHeader parse_npy_header(std::string_view dictionary);

}  // namespace convoy::io
