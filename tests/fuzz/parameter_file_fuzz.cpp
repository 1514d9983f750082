/// Parameter files. What is accepted is written, and is the same when it is read back.
#include "convoy/params/parse.h"

#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace convoy;
  return fuzz::read_or_refuse([&] {
    const Parameters params = parse_parameters(fuzz::Input(data, size).rest(), "a.cfg");
    const std::string written = render(params);
    fuzz::require(render(parse_parameters(written, "b.cfg")) == written, "a written parameter file is read as it was");
    fuzz::require(changed_keys(params, params).empty(), "nothing differs from itself");
    warnings_for(params);
  });
}
