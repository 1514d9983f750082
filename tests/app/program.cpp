/// Processes and folders for tests.
#include "app/program.h"

#include <array>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

#include "convoy/base/clock.h"

namespace convoy::test {

namespace {

std::string quoted(const std::string& word) {
  return "'" + word + "'";
}

// Returns the folders of the program's processes: /proc/123.
std::vector<std::filesystem::path> folders_of_ranks() {
  std::vector<std::filesystem::path> folders;
  for (const auto& entry : std::filesystem::directory_iterator("/proc"))
    if (read_text(entry.path() / "comm") == "convoy\n") folders.push_back(entry.path());
  return folders;
}

}  // namespace

ProcessResult run_program(const Start& start) {
  std::string command = fmt::format("timeout --kill-after=5 {} env {} ", start.timeout_seconds, CONVOY_MPI_ENVIRONMENT);
  if (start.ranks > 0) command += fmt::format("{} -n {} ", quoted(CONVOY_MPIRUN), start.ranks);
  for (const std::string& word : start.tool) command += quoted(word) + " ";
  command += quoted(start.program);
  for (const std::string& argument : start.arguments) command += " " + quoted(argument);
  command += " 2>&1 <" + (start.input == "&-" ? start.input : quoted(start.input));

  ProcessResult result;
  const double begin = now_seconds();
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return {.status = -1, .output = "no pipe"};
  std::array<char, 4096> buffer{};
  while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe))
    result.output.append(buffer.data(), count);
  const int status = pclose(pipe);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.timed_out = now_seconds() - begin >= start.timeout_seconds;
  return result;
}

int signal_ranks(const std::string& word, int signal, int max) {
  int count = 0;
  for (const std::filesystem::path& rank : folders_of_ranks()) {
    if (read_text(rank / "cmdline").find(word) == std::string::npos) continue;
    if (count < max && kill(std::stoi(rank.filename().string()), signal) == 0) ++count;
  }
  return count;
}

bool is_open_in_any_rank(const std::string& path) {
  std::error_code gone;  // a rank may end, and close files, while it is examined
  for (const std::filesystem::path& rank : folders_of_ranks()) {
    std::filesystem::directory_iterator file(rank / "fd", gone);
    for (; !gone && file != std::filesystem::directory_iterator(); file.increment(gone))
      if (std::error_code closed; std::filesystem::read_symlink(file->path(), closed) == path) return true;
  }
  return false;
}

WorkingDirectory::WorkingDirectory() {
  std::string pattern = (std::filesystem::temp_directory_path() / "convoy-app-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot create " + pattern);
  path_ = pattern;
}

WorkingDirectory::~WorkingDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string read_text(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

}  // namespace convoy::test
