/// The processor's extensions. Compiled without CONVOY_ARCH: this code must run where the other code of src/ops/cpu
/// cannot.
#include "ops/cpu/instruction_set.h"

namespace convoy::ops::cpu {

InstructionSet processor_extensions() {
#if defined(__x86_64__)
  __builtin_cpu_init();
#define CONVOY_IS_SUPPORTED(name, macro) __builtin_cpu_supports(name) != 0,
  return {CONVOY_EXTENSIONS(CONVOY_IS_SUPPORTED)};
#undef CONVOY_IS_SUPPORTED
#else
  InstructionSet all;
  all.fill(true);
  return all;
#endif
}

std::string missing_extensions(const InstructionSet& needed, const InstructionSet& available) {
  std::string missing;
  for (std::size_t i = 0; i < needed.size(); ++i) {
    if (!needed[i] || available[i]) continue;
    if (!missing.empty()) missing += ' ';
    missing += kExtensions[i];
  }
  return missing;
}

}  // namespace convoy::ops::cpu
