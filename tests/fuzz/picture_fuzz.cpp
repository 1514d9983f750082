/// PNG and TIFF files, read with their own numbers.
#include "data/arrays/picture_file.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace convoy;
  return fuzz::read_or_refuse([&] {
    const auto picture = begin_picture(std::as_bytes(std::span(data, size)));
    const PictureForm form = picture->form();
    fuzz::require(form.h > 0 && form.w > 0 && form.channels > 0, "a picture has pixels");
    if (form.bytes() > 1 << 24) return;  // honest, but slow to read a thousand times
    std::vector<std::byte> numbers(static_cast<std::size_t>(form.bytes()));
    picture->read(numbers);
    std::byte all{};
    for (const std::byte number : numbers) all |= number;  // a sanitizer sees each
    static_cast<void>(all);
  });
}
