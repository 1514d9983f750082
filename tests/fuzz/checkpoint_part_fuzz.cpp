/// Parts of a checkpoint with any content and a correct hash, so that the input reaches HDF5 and the reader.
#include "convoy/io/atomic_file.h"
#include "convoy/io/checkpoint.h"

#include "fuzz/fuzz.h"
#include "fuzz/sealed.h"
#include "unit/io/temporary_directory.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace convoy;
  static const test::TemporaryDirectory kDirectory;
  static const std::string kPath = kDirectory / "a.h5";
  const std::vector<std::byte> file = fuzz::seal_checkpoint(fuzz::Input(data, size).rest_bytes());
  const io::CheckpointParts parts{.folder = ".", .files = {io::describe_part(file)}, .tensors = {}};
  test::write_bytes(io::part_path(kDirectory.path(), parts.folder, 0), file);
  return fuzz::read_or_refuse([&] {
    const io::PartReader reader(kPath, parts, 0);
    for (const char* const group : {"model", "optimizer/momentum"})
      for (const std::int64_t count : {1, 4})
        fuzz::read_or_refuse([&] {
          fuzz::require(std::ssize(reader.read(group, "fc.bias", count)) == count, "as many values as were asked for");
        });
  });
}
