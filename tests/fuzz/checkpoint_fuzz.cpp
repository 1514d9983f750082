/// Checkpoints with any content and a correct hash, so that the input reaches HDF5 and the reader.
#include "convoy/io/checkpoint.h"

#include "fuzz/fuzz.h"
#include "fuzz/sealed.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace convoy;
  const std::vector<std::byte> file = fuzz::Input(data, size).rest_bytes();
  fuzz::read_or_refuse([&] { io::decode_state(file, "a.h5"); });  // with the unchanged trailer
  const std::vector<std::byte> sealed = fuzz::seal_checkpoint(file);
  const bool is_whole = sealed.size() > io::kTrailerBytes && !io::ends_with(sealed, io::magic::kPart);
  fuzz::require(is_whole == !io::find_damage(sealed), "a right trailer is taken; alone, or of a part, it is not");
  return fuzz::read_or_refuse([&] {
    const io::Checkpoint checkpoint = io::decode_checkpoint(sealed, "a.h5");
    io::fingerprint(checkpoint.model);
  });
}
