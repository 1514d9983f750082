/// Arrays in NumPy's formats, made for tests.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "convoy/io/array_reader.h"

namespace convoy::test {

/// What numpy.save writes before the values.
struct NpyText {
  std::string descr = "<f4";  ///< type: "'<f4'" in Python
  std::string shape = "(2, 3)";
  bool is_fortran_order = false;
  int version = 1;
};

/// Returns the bytes of an .npy with this dictionary, which may be wrong.
std::string npy_with(const std::string& dictionary, const std::string& values, int version = 1);
/// Returns the bytes of an .npy.
std::string npy(const NpyText& text, const std::string& values);

/// Returns the bytes of the numbers, as they are in memory.
template <typename Number>
std::string bytes_of_numbers(const std::vector<Number>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)};
}

using Members = std::vector<std::pair<std::string, std::string>>;  ///< names and contents
/// Writes a zip archive with these members, deflated or stored.
void write_zip(const std::string& path, const Members& members, bool deflates);

/// Reads the values of some samples.
template <typename Number>
std::vector<Number> read_numbers(io::ArrayReader& array, std::int64_t first, std::int64_t count) {
  std::vector<Number> numbers(static_cast<std::size_t>(count * array.form().values_of_sample()));
  array.read(first, count, std::as_writable_bytes(std::span(numbers)));
  return numbers;
}

}  // namespace convoy::test
