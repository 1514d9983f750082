/// Never replaces a table that is read, or a file of another program.
#include "inference/check_output.h"

#include <filesystem>
#include <system_error>

#include "convoy/base/error.h"

namespace convoy {

namespace {

namespace fs = std::filesystem;

// Whether the file is an earlier output; one that cannot be read is not.
bool is_earlier(const OutputFile& output) {
  try {
    return output.is_earlier(output.path);
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

void check_output(const OutputFile& output, const std::vector<std::string>& inputs) {
  std::error_code unknown;
  if (!fs::is_regular_file(output.path, unknown)) return;
  for (const std::string& input : inputs)
    if (fs::equivalent(output.path, input, unknown))
      refuse("{}: '{}' is read by this command, and would be overwritten. Give another name", output.key, output.path);
  if (fs::file_size(output.path, unknown) == 0 || is_earlier(output)) return;
  refuse("{}: '{}' exists and does not hold {}. Give another name, or remove the file", output.key, output.path,
         output.kind);
}

}  // namespace convoy
