/// safetensors files, which come from elsewhere and carry no hash. What is accepted is written, and is the same when it
/// is read back.
#include "convoy/io/safetensors.h"

#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace convoy;
  return fuzz::read_or_refuse([&] {
    const std::vector<std::byte> file = fuzz::Input(data, size).rest_bytes();
    io::looks_like_safetensors(file);
    const io::StateDict dict = io::decode_safetensors(file, "x");
    const std::vector<std::byte> written = io::encode_safetensors(dict);
    const io::StateDict again = io::decode_safetensors(written, "y");
    fuzz::require(io::encode_safetensors(again) == written, "a written file is read as it was");
    fuzz::require(again.tensors.size() == dict.tensors.size(), "no tensor is lost");
  });
}
