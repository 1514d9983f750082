/// Writes headers by NumPy's rules: the dictionary is filled up with blanks and ends with a line end, so that values
/// begin at a multiple of 64.
#include "unit/io/array_files.h"

#include <filesystem>
#include <stdexcept>

#include <zip.h>

namespace convoy::test {

std::string npy_with(const std::string& dictionary, const std::string& values, int version) {
  const std::size_t prefix = version == 1 ? 10 : 12;
  std::string text = dictionary;
  text.resize((prefix + text.size() + 64) / 64 * 64 - prefix - 1, ' ');
  text += '\n';
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  for (std::size_t i = 0; i < prefix - 8; ++i) bytes += static_cast<char>(text.size() >> 8 * i);
  return bytes + text + values;
}

std::string npy(const NpyText& text, const std::string& values) {
  return npy_with("{'descr': '" + text.descr + "', 'fortran_order': " + (text.is_fortran_order ? "True" : "False") +
                      ", 'shape': " + text.shape + ", }",
                  values, text.version);
}

void write_zip(const std::string& path, const Members& members, bool deflates) {
  std::filesystem::remove(path);
  int error = 0;
  zip_t* const archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_EXCL, &error);
  if (archive == nullptr) throw std::runtime_error("cannot create " + path);
  for (const auto& [name, content] : members) {
    zip_source_t* const source = zip_source_buffer(archive, content.data(), content.size(), 0);
    const zip_int64_t index = zip_file_add(archive, name.c_str(), source, ZIP_FL_OVERWRITE);
    if (index < 0) throw std::runtime_error("cannot add " + name);
    zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), deflates ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0);
  }
  if (zip_close(archive) != 0) throw std::runtime_error("cannot write " + path);
}

}  // namespace convoy::test
