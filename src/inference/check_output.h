/// Whether an output may take its name.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace convoy {

/// A file that a command is about to write.
struct OutputFile {
  std::string key;   ///< that names it: predict.output
  std::string path;  ///< where it is written
  const char* kind;  ///< what is written: "predictions of convoy"
  /// Whether an existing file is an earlier output of the same command, which the new one replaces. May throw Error.
  std::function<bool(const std::string& path)> is_earlier;
};

/// Throws RequestError where the output is one of the files that are read, or where another file than an earlier output
/// has its name. Empty files and what is no regular file are left to the writer. One rank.
void check_output(const OutputFile& output, const std::vector<std::string>& inputs);

}  // namespace convoy
