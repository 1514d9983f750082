/// Reads the numbers of rows that a user gives to a split.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace convoy {

/// Reads the numbers of rows (from 0) in a file: whole numbers of an .npy, or a number in each line of a text. Returns
/// them in ascending order. Throws RequestError, naming the parameter `key`, if the file cannot be read or has none, or
/// if a number is none of 0 to num_rows - 1 or comes twice.
std::vector<std::int64_t> read_row_list(const std::string& path, const std::string& key, std::int64_t num_rows);

}  // namespace convoy
