/// The list of parts in a checkpoint's file:
///   /parts/folder           text
///   /parts/sizes, hashes    by part: bytes, XXH3-128 in hexadecimal
///   /parts/names, shapes    by tensor: "conv1.weight", "64x3x7x7"
///   /parts/pixels_first     by tensor: 1 if (O,I,H,W) is cut in the order (O,H,W,I), else 0
///   /parts/groups, members  texts; (group, tensor) for each tensor that a group has
///   /parts/pieces           (tensor, part, first value, number of values), tensor after tensor
#include "io/parts_list.h"

#include <charconv>
#include <limits>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "convoy/base/error.h"

namespace convoy::io {

namespace {

constexpr std::string_view kOptimizer = "optimizer/";
constexpr std::int64_t kMaxDims = 8, kMaxDim = std::int64_t{1} << 40;
constexpr std::size_t kHashDigits = 32;

std::vector<NamedTensor>& make_group(Checkpoint& checkpoint, const std::string& group) {
  if (group == groups::kModel) return checkpoint.model;
  if (group == groups::kEma) return checkpoint.ema;
  if (!group.starts_with(kOptimizer)) fail("it lists values of '{}', which this program does not know", group);
  return checkpoint.optimizer[group.substr(kOptimizer.size())];
}

std::vector<std::int64_t> read_numbers(hid_t group, const std::string& name, std::uint64_t limit_bytes,
                                       std::size_t a_row) {
  std::vector<std::int64_t> numbers =
      hdf5::read_values<std::int64_t>(hdf5::open_array(group, name, H5T_STD_I64LE, limit_bytes));
  if (numbers.size() % a_row != 0) fail("its list of {} is damaged", name);
  return numbers;
}

std::int64_t index_below(std::int64_t index, std::size_t size, const char* what) {
  if (index < 0 || static_cast<std::size_t>(index) >= size)
    fail("its list refers to {} {}, but there are only {} (counted from 0)", what, index, size);
  return index;
}

// Parses a shape such as "64x3x7x7".
std::vector<std::int64_t> parse_shape(std::string_view text) {
  const std::string_view whole = text;
  std::vector<std::int64_t> dims;
  while (true) {
    std::int64_t dim = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), dim);
    if (error != std::errc() || dim < 1 || dim > kMaxDim || std::ssize(dims) == kMaxDims)
      fail("its list has a tensor of shape '{}', which is not valid", whole);
    dims.push_back(dim);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty()) return dims;
    if (text.front() != 'x') fail("its list has a tensor of shape '{}', which is not valid", whole);
    text.remove_prefix(1);
  }
}

// Makes sure that the folder is next to the checkpoint, whatever the file says.
void check_folder(const std::string& folder) {
  if (folder.find('/') != std::string::npos || !folder.starts_with("step-") || !folder.ends_with(".parts"))
    fail("its parts are said to be in '{}', which is not a directory of parts", folder);
}

void check_pieces(const std::string& name, const PieceList& list, std::int64_t count) {
  std::int64_t end = 0;
  for (const Piece& piece : list.pieces) {
    if (piece.first != end || piece.count < 1 || piece.count > count - end)
      fail("its list does not tell where value {} of tensor '{}' is", end + 1, name);
    end += piece.count;
  }
  if (end != count) fail("its list does not tell where value {} of tensor '{}' is", end + 1, name);
}

// The number of values of a tensor. A hostile file may claim any size, but there cannot be more values than bytes in
// the parts.
std::int64_t count_of(const std::vector<std::int64_t>& dims, std::int64_t limit) {
  std::int64_t count = 1;
  for (const std::int64_t dim : dims) {
    if (count > limit / dim) fail("its list has a tensor that is larger than all its parts");
    count *= dim;
  }
  return count;
}

std::vector<PartFile> read_files(hid_t group, std::uint64_t limit_bytes) {
  const std::vector<std::int64_t> sizes = read_numbers(group, "sizes", limit_bytes, 1);
  const std::vector<std::string> hashes = hdf5::read_texts(group, "hashes", limit_bytes);
  if (hashes.size() != sizes.size()) fail("it lists {} sizes and {} hashes of parts", sizes.size(), hashes.size());
  std::vector<PartFile> files;
  std::int64_t left = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0 || sizes[i] > left || hashes[i].size() != kHashDigits) fail("its list of parts is damaged");
    left -= sizes[i];
    files.push_back({.size_bytes = sizes[i], .hash = hashes[i]});
  }
  return files;
}

}  // namespace

std::string groups::of_optimizer(const std::string& state) {
  return std::string(kOptimizer) + state;
}

void write_parts_list(hid_t file, const Checkpoint& checkpoint) {
  const CheckpointParts& parts = *checkpoint.parts;
  std::vector<std::string> hashes, names, shapes, group_names;
  std::vector<std::int64_t> sizes, pixels_first, members, pieces;
  for (const PartFile& part : parts.files) {
    sizes.push_back(part.size_bytes);
    hashes.push_back(part.hash);
  }
  std::map<std::string, std::int64_t> numbers;
  std::map<std::string, const NamedTensor*> sorted;
  for (const NamedTensor& tensor : checkpoint.model) sorted[tensor.name] = &tensor;
  for (const auto& [name, tensor] : sorted) {
    const PieceList& list = parts.tensors.at(name);
    const std::int64_t number = numbers[name] = std::ssize(names);
    names.push_back(name);
    shapes.push_back(fmt::format("{}", fmt::join(tensor->dims, "x")));
    pixels_first.push_back(list.cuts_pixels_first ? 1 : 0);
    for (const Piece& piece : list.pieces) pieces.insert(pieces.end(), {number, piece.part, piece.first, piece.count});
  }
  for_each_group(checkpoint, [&](const std::string& group, const std::vector<NamedTensor>& tensors) {
    for (const NamedTensor& tensor : tensors)
      members.insert(members.end(), {std::ssize(group_names), numbers.at(tensor.name)});
    group_names.push_back(group);
  });
  const hdf5::Group group = hdf5::create_group(file, "parts");
  hdf5::write_texts(group, "folder", {&parts.folder, 1});
  hdf5::write_list(group, "sizes", sizes);
  hdf5::write_texts(group, "hashes", hashes);
  hdf5::write_texts(group, "names", names);
  hdf5::write_texts(group, "shapes", shapes);
  hdf5::write_list(group, "pixels_first", pixels_first);
  hdf5::write_texts(group, "groups", group_names);
  hdf5::write_list(group, "members", members);
  hdf5::write_list(group, "pieces", pieces);
}

void read_parts_list(hid_t file, std::uint64_t limit_bytes, Checkpoint& checkpoint) {
  const hdf5::Group group = hdf5::open_group(file, "parts");
  CheckpointParts& parts = checkpoint.parts.emplace();
  parts.folder = hdf5::read_text(group, "folder", limit_bytes);
  check_folder(parts.folder);
  parts.files = read_files(group, limit_bytes);
  // 1. The tensors, and where their values are
  const std::vector<std::string> names = hdf5::read_texts(group, "names", limit_bytes);
  const std::vector<std::string> shapes = hdf5::read_texts(group, "shapes", limit_bytes);
  const std::vector<std::int64_t> pixels_first = read_numbers(group, "pixels_first", limit_bytes, 1);
  if (shapes.size() != names.size() || pixels_first.size() != names.size())
    fail("it lists {} names, {} shapes and {} orders of tensors: these numbers must be equal", names.size(),
         shapes.size(), pixels_first.size());
  const std::vector<std::int64_t> pieces = read_numbers(group, "pieces", limit_bytes, 4);
  for (std::size_t i = 0; i < pieces.size(); i += 4) {
    const std::string& name = names[index_below(pieces[i], names.size(), "tensor")];
    parts.tensors[name].pieces.push_back({.part = index_below(pieces[i + 1], parts.files.size(), "part"),
                                          .first = pieces[i + 2],
                                          .count = pieces[i + 3]});
  }
  std::vector<NamedTensor> tensors;
  for (std::size_t t = 0; t < names.size(); ++t) {
    tensors.push_back({.name = names[t], .dims = parse_shape(shapes[t]), .values = {}});
    PieceList& list = parts.tensors[names[t]];
    list.cuts_pixels_first = pixels_first[t] != 0;
    if (list.cuts_pixels_first && tensors.back().dims.size() != 4)
      fail("its list stores the pixels of tensor '{}' first, but the shape {} does not have 4 dimensions", names[t],
           shapes[t]);
    check_pieces(names[t], list, count_of(tensors.back().dims, parts.size_bytes()));
  }
  if (parts.tensors.size() != names.size()) fail("it lists a tensor twice");
  // 2. The groups that have values of them
  const std::vector<std::string> group_names = hdf5::read_texts(group, "groups", limit_bytes);
  for (const std::string& name : group_names) make_group(checkpoint, name);
  const std::vector<std::int64_t> members = read_numbers(group, "members", limit_bytes, 2);
  for (std::size_t i = 0; i < members.size(); i += 2)
    make_group(checkpoint, group_names[index_below(members[i], group_names.size(), "group")])
        .push_back(tensors[index_below(members[i + 1], tensors.size(), "tensor")]);
}

}  // namespace convoy::io
