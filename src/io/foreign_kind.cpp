/// Signatures from the formats' specifications and file(1).
#include "convoy/io/foreign_kind.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/base/wording.h"
#include "convoy/io/array_reader.h"
#include "convoy/io/atomic_file.h"

namespace convoy::io {

namespace {

using namespace std::string_view_literals;

constexpr std::size_t kMaxNamesShown = 10;  // names of arrays in a message

constexpr const char* kConvertPicture =
    "Convert it to PNG (ImageMagick: convert 'FILE[0]' NEW.png converts the first page), and keep the original in "
    "another folder";
constexpr const char* kConvertTiff =
    "Convert it to PNG (ImageMagick: convert 'FILE[0]' NEW.png converts the first page), and keep the original in "
    "another folder. An image has 1 or 3 channels of 8 bits: import.format = arrays keeps the numbers and the channels "
    "of TIFF files (input/arrays.md)";
constexpr const char* kSaveArrays = "Save its arrays with numpy.save, and import them as arrays (input/arrays.md)";
constexpr const char* kImportArrays =
    "Import it as arrays: give the file itself, or a folder that holds such files, as import.source, and its target as "
    "import.target (input/arrays.md)";
constexpr const char* kUnpack = "Unpack it first";

constexpr ForeignKind kTorchFile = {
    "a file of PyTorch's (torch.save)",
    "tools/torch_weights FILE NEW.safetensors converts it to weights that Convoy reads"};
constexpr ForeignKind kSpreadsheet = {"an Excel table, or another Office file", "Save its sheet as CSV in UTF-8"};
constexpr ForeignKind kPickle = {"a Python pickle",
                                 "If it is CIFAR, download its binary version; write other images as PNG files, and "
                                 "weights with torch.save"};

/// Matches a file that has `bytes` at `offset` and, if it is not empty, `also` anywhere in its first bytes.
struct Signature {
  std::size_t offset;
  std::string_view bytes, also;
  ForeignKind kind;
};

// The first match counts, so special kinds come before general ones.
constexpr Signature kSignatures[] = {
    // --- Pictures
    {8, "WEBP"sv, "RIFF"sv, {"a WebP image", kConvertPicture}},
    {0, "GIF8"sv, "", {"a GIF image", kConvertPicture}},
    {0, "II*\0"sv, "", {"a TIFF image", kConvertTiff}},
    {0, "MM\0*"sv, "", {"a TIFF image", kConvertTiff}},
    {0, "II+\0"sv, "", {"a TIFF image", kConvertTiff}},
    {0, "MM\0+"sv, "", {"a TIFF image", kConvertTiff}},
    {4, "ftypavi"sv, "", {"an AVIF image", kConvertPicture}},
    {4, "ftyphei"sv, "", {"a HEIC image", kConvertPicture}},
    {4, "ftyphev"sv, "", {"a HEIC image", kConvertPicture}},
    {4, "ftypmif1"sv, "", {"a HEIF image", kConvertPicture}},
    {4, "ftypmsf1"sv, "", {"a HEIF image", kConvertPicture}},
    {4, "ftyp"sv, "", {"a video (MP4)", "Write its frames as PNG files"}},
    {0, "\xff\x0a"sv, "", {"a JPEG XL image", kConvertPicture}},
    {0, "\0\0\0\x0cJXL "sv, "", {"a JPEG XL image", kConvertPicture}},
    {0, "\0\0\0\x0cjP  "sv, "", {"a JPEG 2000 image", kConvertPicture}},
    {0, "\xff\x4f\xff\x51"sv, "", {"a JPEG 2000 image", kConvertPicture}},
    {0, "8BPS"sv, "", {"a Photoshop image", kConvertPicture}},
    {128, "DICM"sv, "", {"a DICOM file", "Write its images as PNG files of 1 or 3 channels"}},
    {0, "P5\n"sv, "", {"a PGM image", kConvertPicture}},
    {0, "P6\n"sv, "", {"a PPM image", kConvertPicture}},
    {0, "<svg"sv, "", {"an SVG drawing", kConvertPicture}},
    {0, "<?xml"sv, "<svg"sv, {"an SVG drawing", kConvertPicture}},
    {0, "%PDF-"sv, "", {"a PDF document", kConvertPicture}},
    // --- Arrays and tables
    {0, "PK\3\4"sv, "data.pkl"sv, kTorchFile},
    {0, "PK\3\4"sv, ".npy"sv, {"a NumPy archive (.npz)", kImportArrays}},
    {0, "\x93NUMPY"sv, "", {"a NumPy array (.npy)", kImportArrays}},
    {0, "MATLAB 5.0 MAT-file"sv, "", {"a MATLAB file", kSaveArrays}},
    {0, "PAR1"sv, "", {"a Parquet table", "Write it as .csv, or its images as files in a folder for each class"}},
    {0, "PK\3\4"sv, "xl/"sv, kSpreadsheet},
    {0, "PK\3\4"sv, "[Content_Types].xml"sv, kSpreadsheet},
    {0, "PK\3\4"sv, "docProps/"sv, kSpreadsheet},
    {0, "\x80\x02\x8a\x0al\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19"sv, "", kTorchFile},
    {0, "\x80\x02"sv, "", kPickle},
    {0, "\x80\x03"sv, "", kPickle},
    {0, "\x80\x04"sv, "", kPickle},
    // --- Packed
    {0, "PK\3\4"sv, "", {"a zip archive", kUnpack}},
    {0, "\x1f\x8b"sv, "", {"a gzip file", kUnpack}},
    {0, "BZh"sv, "", {"a bzip2 file", kUnpack}},
    {0, "\xfd\x37zXZ"sv, "", {"an xz file", kUnpack}},
    {0, "\x28\xb5\x2f\xfd"sv, "", {"a zstd file", kUnpack}},
    {0, "7z\xbc\xaf\x27\x1c"sv, "", {"a 7z archive", kUnpack}},
    {0, "Rar!"sv, "", {"a RAR archive", kUnpack}},
    {257, "ustar"sv, "", {"a tar archive", kUnpack}},
    // --- Text files in place of the file that was meant
    {0,
     "version https://git-lfs.github.com/spec/"sv,
     "",
     {"a pointer of Git LFS, not the file itself", "Run git lfs pull in its repository"}},
    {0,
     "/annex/objects/"sv,
     "",
     {"a pointer of git-annex, not the file itself", "Run git annex get in its repository"}},
    {0, "\0\5\x16\7"sv, "", {"a macOS file of attributes (AppleDouble)", "Remove it"}},
    {0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"sv, "", {"a Windows file of previews (as Thumbs.db)", "Remove it"}},
    {0, "BM"sv, "\0\0\0\0"sv, {"a BMP image", kConvertPicture}},
};

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool fits(const Signature& signature, std::string_view begin) {
  if (begin.size() < signature.offset) return false;
  return begin.substr(signature.offset).starts_with(signature.bytes) &&
         (signature.also.empty() || begin.find(signature.also) != std::string_view::npos);
}

bool is_web_page(std::string_view begin) {
  const std::string text = lower_case(std::string(begin.substr(0, begin.find_first_of("\n>", 1))));
  return text.starts_with("<!doctype html") || text.starts_with("<html");
}

}  // namespace

std::optional<ForeignKind> find_foreign_kind(std::span<const std::byte> begin) {
  const std::string_view text = as_text(begin.first(std::min(begin.size(), kForeignKindBytes)));
  const auto* const found = std::find_if(std::begin(kSignatures), std::end(kSignatures),
                                         [&](const Signature& signature) { return fits(signature, text); });
  if (found != std::end(kSignatures)) return found->kind;
  if (is_web_page(text)) return ForeignKind{"a web page (HTML)", "Download the file itself"};
  return std::nullopt;
}

std::optional<ForeignKind> find_foreign_kind(const std::string& path) {
  try {
    const FileDescriptor file = open_for_reading(path);
    std::vector<std::byte> begin(std::min<std::uint64_t>(file_size(file, path), kForeignKindBytes));
    read_at(file, 0, begin, path);
    return find_foreign_kind(begin);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::string describe_foreign_hdf5(const std::string& path) {
  std::vector<std::string> names;
  try {
    names = names_in_hdf5(path);
  } catch (const Error&) {
    return "";
  }
  const auto has = [&](const char* name) { return std::ranges::find(names, name) != names.end(); };
  if (names.empty() || (has("class_names") && has("hashes"))) return "";
  return fmt::format(
      "it is an HDF5 file that convoy import has not made; it holds the arrays {}. Import it as arrays (convoy import "
      "--import.source={}, see input/arrays.md). A network of arrays predicts it without an import (convoy predict RUN "
      "--predict.data={})",
      excerpt(first_few(names, kMaxNamesShown)), path, path);
}

}  // namespace convoy::io
