/// The processor's extensions. Compiled without CONVOY_ARCH: this code must also run on processors on which the other
/// code of src/ops/cpu cannot.
#include "ops/cpu/instruction_set.h"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

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

bool may_use_tiles() {
#if defined(__x86_64__) && defined(__linux__)
  // Intel's manual, volume 2, CPUID: leaf 7, EDX. Linux: Documentation/arch/x86/xstate.rst.
  constexpr unsigned kBf16Tiles = 1u << 22, kTiles = 1u << 24;
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) return false;
  if ((edx & kBf16Tiles) == 0 || (edx & kTiles) == 0) return false;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
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
