/// CIFAR's binary files and the names of its classes.
#include "data/images/cifar_files.h"
#include "fuzz/fuzz.h"
#include "unit/io/temporary_directory.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace convoy;
  const test::TemporaryDirectory directory;
  fuzz::Input input(data, size);
  const bool has_hundred = input.flag(), has_names = input.flag();
  const std::string names = input.text();
  if (has_names)
    test::write_bytes(directory / (has_hundred ? "fine_label_names.txt" : "batches.meta.txt"), fuzz::bytes_of(names));
  test::write_bytes(directory / (has_hundred ? "train.bin" : "data_batch_1.bin"), input.rest_bytes());
  return fuzz::read_or_refuse([&] {
    const auto source = open_cifar(directory.path());
    const SourceSplit& split = source->listing().splits.front();
    for (std::int64_t i = 0; i < split.size(); ++i) source->read(split, i, {});
  });
}
