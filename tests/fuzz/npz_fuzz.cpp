/// Arrays in zip archives. Reading one takes no more memory than its samples, and the last sample has the same values
/// when it is read alone.
#include "convoy/io/array_reader.h"

#include "fuzz/fuzz.h"
#include "unit/io/temporary_directory.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace convoy;
  using namespace convoy::io;
  static const test::TemporaryDirectory kDirectory;
  const std::string path = kDirectory / "all.npz";
  test::write_bytes(path, std::as_bytes(std::span(data, size)));
  return fuzz::read_or_refuse([&] {
    for (const std::string& name : names_in_npz(path)) {
      const auto array = open_npz(path, name);
      const ArrayForm& form = array->form();
      if (!form.type) continue;
      const std::int64_t last = form.num_samples() - 1;
      std::vector<std::byte> one(static_cast<std::size_t>(form.values_of_sample() * size_of(*form.type))), again = one;
      for (std::int64_t i = 0; i <= last; ++i) array->read(i, 1, one);
      open_npz(path, name)->read(last, 1, again);
      fuzz::require(one == again, "a sample is what it is from anywhere");
    }
  });
}
