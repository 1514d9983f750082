/// Arrays in NumPy's format. A sample has the same values when it is read alone and with all others.
#include <algorithm>

#include "convoy/io/array_reader.h"

#include "fuzz/fuzz.h"
#include "unit/io/temporary_directory.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace convoy;
  using namespace convoy::io;
  static const test::TemporaryDirectory kDirectory;
  const std::string path = kDirectory / "x.npy";
  test::write_bytes(path, std::as_bytes(std::span(data, size)));
  return fuzz::read_or_refuse([&] {
    const auto array = open_npy(path);
    const ArrayForm& form = array->form();
    const std::int64_t count = form.num_samples();
    if (!form.type) {
      const std::vector<std::string> texts = array->read_texts(0, count);
      fuzz::require(array->read_texts(count - 1, 1).front() == texts.back(), "a text is what it is from anywhere");
      return;
    }
    const std::int64_t sample_bytes = form.values_of_sample() * size_of(*form.type);
    std::vector<std::byte> all(static_cast<std::size_t>(count * sample_bytes));
    array->read(0, count, all);
    std::vector<std::byte> one(static_cast<std::size_t>(sample_bytes));
    for (std::int64_t i = 0; i < count; ++i) {
      array->read(i, 1, one);
      fuzz::require(
          std::ranges::equal(one, std::span(all).subspan(static_cast<std::size_t>(i) * one.size(), one.size())),
          "a sample is what it is from anywhere");
    }
  });
}
