/// Checks that an output file may be written at its path.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace convoy {

/// A file that a command will write.
struct OutputFile {
  std::string key;  ///< parameter that names the file: "predict.output"
  std::string path;
  const char* kind;  ///< what the file contains, for messages: "predictions of convoy"
  /// Returns whether the existing file at `path` is an earlier output of the same command, which may be replaced. May
  /// throw Error.
  std::function<bool(const std::string& path)> is_earlier;
};

/// Throws RequestError if the output is one of the files `inputs`, which the command reads, or if a file exists at its
/// path that is not an earlier output. Empty files, and everything except regular files, are accepted. Only one rank
/// calls it.
void check_output(const OutputFile& output, const std::vector<std::string>& inputs);

}  // namespace convoy
