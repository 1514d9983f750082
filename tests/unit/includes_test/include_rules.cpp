/// Floors, forbidden headers and words with one home.
#include "unit/includes_test/include_rules.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <optional>
#include <regex>
#include <sstream>
#include <stdexcept>

namespace convoy::test {

namespace {

// --- The rules -----------------------------------------------------------------------------------------------

// A folder includes itself and the folders of lower floors, never its neighbours.
struct Floor {
  std::string_view folder;
  int height;
};
constexpr std::array kFloors = {
    Floor{"base", 0},      Floor{"params", 1},     Floor{"schedule", 2},   Floor{"device", 2},
    Floor{"comm", 3},      Floor{"io", 3},         Floor{"ops", 3},        Floor{"data", 4},
    Floor{"model", 4},     Floor{"update", 5},     Floor{"watch", 5},      Floor{"plan", 6},
    Floor{"step", 7},      Floor{"audit", 8},      Floor{"calibrate", 8},  Floor{"checkpoint", 8},
    Floor{"telemetry", 8}, Floor{"evaluation", 9}, Floor{"run", 10},       Floor{"inference", 11},
    Floor{"sweep", 11},    Floor{"dashboard", 11}, Floor{"preflight", 11}, Floor{"commands", 12}};
// Below this height a folder is known by its headers in include/convoy alone (but the CUDA device is one thing over
// several folders); the rooms of a run share theirs in src/, and have none in include/convoy.
constexpr int kFirstRoom = 5;
constexpr Floor kMain = {"main.cpp", 13};

// The contracts promise nothing about how: no header of a device or file library in include/.
constexpr std::array<std::string_view, 8> kForbiddenInContracts = {"hdf5", "H5",    "oneapi/", "dnnl",
                                                                   "cuda", "cudnn", "cublas",  "nccl"};

// These folders include the sections and choices that they need, so that a new key does not compile them again.
constexpr std::array<std::string_view, 6> kWithoutAllParameters = {"schedule", "device", "comm", "io", "ops", "model"};
constexpr std::array<std::string_view, 2> kAllParameters = {"convoy/params/parameters.h", "convoy/params/parse.h"};

// The CUDA device is these folders: the build takes them or leaves them, and no other file asks which.
constexpr std::array<std::string_view, 4> kCudaHeaders = {"cuda", "cudnn", "cublas", "nccl"};
constexpr std::array<std::string_view, 3> kCudaFolders = {"src/device/cuda/", "src/ops/cuda/", "src/comm/nccl/"};

// Folders that only compute: none of their files includes a header whose path begins so, or uses such a word.
struct Pure {
  std::string_view path;
  std::array<std::string_view, 2> headers;
  std::array<std::string_view, 3> words;
};
constexpr std::array kPure = {
    Pure{"src/plan/", {"convoy/comm/", "convoy/ops/backend.h"}, {"mpi", "Backend", "Transport"}}};

// A word that only files below one path may use.
struct Home {
  std::string_view word;
  std::string_view path;
};
constexpr std::array kHomes = {Home{"MPI_COMM_WORLD", "src/comm/"}};

// --- Reading -------------------------------------------------------------------------------------------------

// The end of the literal that starts at `start`, one past its last character: "..", '..' or R"x(..)x".
std::size_t end_of_literal(std::string_view text, std::size_t start) {
  const char quote = text[start];
  if (quote == '"' && start > 0 && text[start - 1] == 'R') {
    const std::size_t open = text.find('(', start);
    if (open == std::string_view::npos) return text.size();
    std::string close = ")";
    close.append(text.substr(start + 1, open - start - 1)).append("\"");
    const std::size_t end = text.find(close, open);
    return end == std::string_view::npos ? text.size() : end + close.size();
  }
  std::size_t at = start + 1;
  while (at < text.size() && text[at] != quote && text[at] != '\n') at += text[at] == '\\' ? 2 : 1;
  return std::min(at + 1, text.size());
}

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// The same text with spaces instead of comments; lines stay where they are.
std::string without_comments(std::string_view text) {
  std::string code(text);
  const auto blank = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) code[i] = code[i] == '\n' ? '\n' : ' ';
  };
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    if (text.substr(at, 2) == "//") {
      end = std::min(text.find('\n', at), text.size());
      blank(at, end);
    } else if (text.substr(at, 2) == "/*") {
      const std::size_t close = text.find("*/", at + 2);
      end = close == std::string_view::npos ? text.size() : close + 2;
      blank(at, end);
    } else if (text[at] == '"' || (text[at] == '\'' && (at == 0 || !is_word(text[at - 1])))) {  // not 1'000
      end = end_of_literal(text, at);
    }
    at = end;
  }
  return code;
}

bool contains_word(std::string_view line, std::string_view word) {
  for (std::size_t at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_word(line[at - 1])) && (end == line.size() || !is_word(line[end]))) return true;
  }
  return false;
}

// The path that an include line names.
std::optional<std::string> included(const std::string& line) {
  static const std::regex kInclude("^\\s*#\\s*include\\s*[<\"]([^>\"]+)[>\"]");
  std::smatch match;
  if (!std::regex_search(line, match, kInclude)) return std::nullopt;
  return match[1].str();
}

// --- Judging -------------------------------------------------------------------------------------------------

std::optional<Floor> floor_of_folder(std::string_view folder) {
  const auto found = std::ranges::find(kFloors, folder, &Floor::folder);
  return found == kFloors.end() ? std::nullopt : std::optional(*found);
}

// The first folder of "src/params/a.cpp" below "src/".
std::optional<Floor> floor_below(std::string_view prefix, std::string_view path) {
  if (!path.starts_with(prefix)) return std::nullopt;
  path.remove_prefix(prefix.size());
  return floor_of_folder(path.substr(0, path.find('/')));
}

std::optional<Floor> floor_of_file(std::string_view path) {
  if (path == "src/main.cpp") return kMain;
  const auto contract = floor_below("include/convoy/", path);
  return contract ? contract : floor_below("src/", path);
}

// What is wrong with a file on floor `from` including `header`; empty where nothing is.
std::string judge_include(const Floor& from, bool is_contract, std::string_view header) {
  const auto starts_header = [&](std::string_view name) { return header.starts_with(name); };
  const std::string name(header);
  if (is_contract && std::ranges::any_of(kForbiddenInContracts, starts_header)) {
    return "a contract includes " + name + ", which only implementations in src/ may";
  }
  if (header.find("..") != std::string_view::npos) return "includes " + name + " by a relative path";
  const auto to = header.starts_with("convoy/") ? floor_below("convoy/", header) : floor_below("", header);
  if (!to) return header.starts_with("convoy/") ? "includes " + name + ", which is on no floor" : "";
  if (to->folder == from.folder) return "";
  if (to->height < from.height) {
    const bool is_private =
        !header.starts_with("convoy/") && to->height < kFirstRoom && !header.starts_with("device/cuda/");
    return is_private ? "includes " + name + ", which is private to " + std::string(to->folder) : "";
  }
  const char* relation = to->height == from.height ? " is a neighbour of " : " is on a floor above ";
  return "includes " + name + ", but " + std::string(to->folder) + relation + std::string(from.folder);
}

std::string judge_parameters(const Floor& from, std::string_view header) {
  if (std::ranges::find(kWithoutAllParameters, from.folder) == kWithoutAllParameters.end()) return "";
  if (std::ranges::find(kAllParameters, header) == kAllParameters.end()) return "";
  return "includes " + std::string(header) + " with all parameters, but " + std::string(from.folder) +
         " needs only sections or choices";
}

std::string judge_cuda(std::string_view path, std::string_view header) {
  const auto starts_header = [&](std::string_view name) { return header.starts_with(name); };
  const auto starts_path = [&](std::string_view folder) { return path.starts_with(folder); };
  if (!std::ranges::any_of(kCudaHeaders, starts_header) || std::ranges::any_of(kCudaFolders, starts_path)) return "";
  return "includes " + std::string(header) + ", which only the folders of the CUDA device may";
}

std::string judge_pure_include(std::string_view path, std::string_view header) {
  const auto starts_header = [&](std::string_view name) { return header.starts_with(name); };
  for (const Pure& pure : kPure)
    if (path.starts_with(pure.path) && std::ranges::any_of(pure.headers, starts_header))
      return "includes " + std::string(header) + ", but " + std::string(pure.path) + " only computes";
  return "";
}

std::string judge_words(std::string_view path, std::string_view line) {
  for (const Pure& pure : kPure) {
    const auto has_word = [&](std::string_view word) { return contains_word(line, word); };
    const auto found = std::ranges::find_if(pure.words, has_word);
    if (path.starts_with(pure.path) && found != pure.words.end())
      return "uses " + std::string(*found) + ", but " + std::string(pure.path) + " only computes";
  }
  for (const Home& home : kHomes) {
    if (contains_word(line, home.word) && !path.starts_with(home.path)) {
      return std::string(home.word) + " stands only in " + std::string(home.path);
    }
  }
  return "";
}

// What is wrong with the location of a file on this floor; empty if nothing is.
std::string judge_location(const Floor& floor, std::string_view path) {
  if (!path.starts_with("include/") || floor.height < kFirstRoom) return "";
  return "is in include/, but " + std::string(floor.folder) + " has its headers in src/";
}

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

std::vector<std::string> find_violations(std::string_view path, std::string_view text) {
  const std::string file(path);
  const std::optional<Floor> floor = floor_of_file(path);
  if (!floor) return {file + ":1: is in a folder that is on no floor"};
  std::vector<std::string> found;
  const std::string misplaced = judge_location(*floor, path);
  if (!misplaced.empty()) found.push_back(file + ":1: " + misplaced);
  std::istringstream lines(without_comments(text));
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::string where = file + ":" + std::to_string(++number) + ": ";
    if (const auto header = included(line)) {
      const std::string wrong = judge_include(*floor, path.starts_with("include/"), *header);
      if (!wrong.empty()) found.push_back(where + wrong);
      for (const std::string& foreign :
           {judge_cuda(path, *header), judge_pure_include(path, *header), judge_parameters(*floor, *header)})
        if (wrong.empty() && !foreign.empty()) found.push_back(where + foreign);
    }
    const std::string wrong = judge_words(path, line);
    if (!wrong.empty()) found.push_back(where + wrong);
  }
  return found;
}

std::vector<std::string> source_files(const std::filesystem::path& root) {
  static constexpr std::array<std::string_view, 5> kExtensions = {".h", ".cpp", ".cu", ".cuh", ".inc"};
  std::vector<std::string> files;
  for (const char* folder : {"src", "include"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      if (std::ranges::find(kExtensions, entry.path().extension().string()) == kExtensions.end()) continue;
      files.push_back(entry.path().lexically_relative(root).generic_string());
    }
  }
  std::ranges::sort(files);
  return files;
}

std::vector<std::string> find_violations_in_tree(const std::filesystem::path& root) {
  std::vector<std::string> found;
  for (const std::string& file : source_files(root)) {
    std::ranges::move(find_violations(file, read(root / file)), std::back_inserter(found));
  }
  return found;
}

}  // namespace convoy::test
