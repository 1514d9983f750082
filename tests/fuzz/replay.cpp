/// The main program of a target in a build without libFuzzer: gives it each file of the named folders, once. So
/// findings stay fixed with every compiler.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

#include "fuzz/fuzz.h"

namespace {

namespace fs = std::filesystem;

constexpr unsigned kTimeoutSeconds = 60;                           // tools/fuzz uses 10, on a machine of its own
constexpr std::int64_t kMaxMemoryBytes = (std::int64_t{1} << 30);  // as in tools/fuzz

std::int64_t peak_memory_bytes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;
}

std::vector<fs::path> files_below(const fs::path& path) {
  if (!fs::is_directory(path)) return {path};
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Runs one input; returns false if it took too much memory. A crash or a hang ends the program, whose last line names
/// the input.
bool replay(const fs::path& path) {
  const std::string content = read_file(path);
  std::printf("%s, %zu bytes\n", path.c_str(), content.size());
  std::fflush(stdout);
  const std::int64_t before = peak_memory_bytes();
  alarm(kTimeoutSeconds);
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(content.data()), content.size());
  alarm(0);
  const std::int64_t grown = peak_memory_bytes() - before;
  if (grown <= kMaxMemoryBytes) return true;
  std::fprintf(stderr, "%s took %lld bytes of memory\n", path.c_str(), static_cast<long long>(grown));
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t num_files = 0;
  bool ok = true;
  for (int i = 1; i < argc; ++i) {
    if (!fs::exists(argv[i])) continue;  // a target without findings has no folder for them
    for (const fs::path& path : files_below(argv[i])) {
      ok = replay(path) && ok;
      ++num_files;
    }
  }
  std::printf("%zu inputs\n", num_files);
  if (num_files == 0) std::fprintf(stderr, "there are no inputs: a test of nothing\n");
  return ok && num_files > 0 ? 0 : 1;
}
