/// Pairs of IDX files, plain or in gzip streams with correct checksums.
#include "data/images/idx_files.h"
#include "fuzz/fuzz.h"
#include "unit/data/idx_files.h"
#include "unit/io/temporary_directory.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace convoy;
  static const test::TemporaryDirectory kDirectory;
  fuzz::Input input(data, size);
  const bool zips = input.flag();
  const std::string labels = input.text(), images = input.rest();
  const auto write = [&](const char* name, const std::string& content) {
    test::write_bytes(kDirectory / name, fuzz::bytes_of(zips ? test::gzipped(content) : content));
  };
  write("images", images);
  write("labels", labels);
  return fuzz::read_or_refuse([&] {
    const IdxSplit split = read_idx(kDirectory / "images", kDirectory / "labels");
    fuzz::require(std::ssize(split.images) == std::ssize(split.labels) * split.image.count(), "no pixel is missing");
  });
}
