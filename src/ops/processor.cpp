/// The processor's extensions. Compiled without CONVOY_ARCH: this code must run where that of src/ops/cpu cannot.
#include "ops/processor.h"

namespace convoy::ops {

cpu::InstructionSet processor_extensions() {
#if defined(__x86_64__)
  __builtin_cpu_init();
#define CONVOY_IS_SUPPORTED(name, macro) __builtin_cpu_supports(name) != 0,
  return {CONVOY_EXTENSIONS(CONVOY_IS_SUPPORTED)};
#undef CONVOY_IS_SUPPORTED
#else
  cpu::InstructionSet all;
  all.fill(true);
  return all;
#endif
}

std::string missing_extensions(const cpu::InstructionSet& needed, const cpu::InstructionSet& available) {
  std::string missing;
  for (std::size_t i = 0; i < needed.size(); ++i) {
    if (!needed[i] || available[i]) continue;
    if (!missing.empty()) missing += ' ';
    missing += cpu::kExtensions[i];
  }
  return missing;
}

}  // namespace convoy::ops
