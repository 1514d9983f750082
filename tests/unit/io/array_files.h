/// Arrays in NumPy's formats, made for tests.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

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

}  // namespace convoy::test
