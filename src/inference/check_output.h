/// Checks that an output file may be written at its path.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace convoy {

/// A file that a command is about to write.
struct OutputFile {
  std::string key;   ///< key that names the file: predict.output
  std::string path;  ///< path of the file
  const char* kind;  ///< content of the file: "predictions of convoy"
  /// Whether an existing file is an earlier output of the same command, which the new one replaces. May throw Error.
  std::function<bool(const std::string& path)> is_earlier;
};

/// Throws RequestError if the output is one of the files that are read, or if a file exists there that is not an
/// earlier output. Empty files and everything but regular files are left to the writer. One rank.
void check_output(const OutputFile& output, const std::vector<std::string>& inputs);

}  // namespace convoy
