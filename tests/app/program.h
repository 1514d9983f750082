/// Starts the program, under mpirun if ranks are asked for, and returns how it ended.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace convoy::test {

struct ProcessResult {
  int status = 0;
  std::string output;  ///< standard output and standard error
  bool timed_out = false;
};

struct Start {
  std::vector<std::string> arguments;
  int ranks = 0;  ///< 0: without mpirun
  double timeout_seconds = 120;
  std::string program = CONVOY_PROGRAM;
  std::vector<std::string> tool = {};  ///< runs the program: a debugger's command and its options
  std::string input = "/dev/null";     ///< file that is the standard input; "&-": it is closed
};

ProcessResult run_program(const Start& start);

/// Sends a signal (0: none) to at most `max` ranks whose command line holds `word`; returns how many received it.
int signal_ranks(const std::string& word, int signal, int max);

/// Whether a rank has this file open.
bool is_open_in_any_rank(const std::string& path);

/// A test's own folder, which is removed at the end.
class WorkingDirectory {
 public:
  WorkingDirectory();
  ~WorkingDirectory();
  WorkingDirectory(const WorkingDirectory&) = delete;
  WorkingDirectory& operator=(const WorkingDirectory&) = delete;

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

bool contains(const std::string& text, const std::string& part);
std::string read_text(const std::string& path);
void write_text(const std::string& path, const std::string& text);

}  // namespace convoy::test
