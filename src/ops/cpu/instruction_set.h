/// The instruction set that the CPU operations were compiled for, and the one that the processor has.
#pragma once

#include <array>
#include <string>

namespace convoy::ops::cpu {

/// The extensions of x86 that compilers use in ordinary loops: X(name for __builtin_cpu_supports, the compiler's
/// macro).
#define CONVOY_EXTENSIONS(X)                \
  X("sse4.2", __SSE4_2__)                   \
  X("avx", __AVX__)                         \
  X("avx2", __AVX2__)                       \
  X("fma", __FMA__)                         \
  X("bmi", __BMI__)                         \
  X("bmi2", __BMI2__)                       \
  X("avx512f", __AVX512F__)                 \
  X("avx512bw", __AVX512BW__)               \
  X("avx512cd", __AVX512CD__)               \
  X("avx512dq", __AVX512DQ__)               \
  X("avx512vl", __AVX512VL__)               \
  X("avx512vbmi", __AVX512VBMI__)           \
  X("avx512vbmi2", __AVX512VBMI2__)         \
  X("avx512vnni", __AVX512VNNI__)           \
  X("avx512bitalg", __AVX512BITALG__)       \
  X("avx512vpopcntdq", __AVX512VPOPCNTDQ__) \
  X("avx512bf16", __AVX512BF16__)

#define CONVOY_EXTENSION_NAME(name, macro) name,
inline constexpr std::array kExtensions = {CONVOY_EXTENSIONS(CONVOY_EXTENSION_NAME)};
#undef CONVOY_EXTENSION_NAME

/// A set of extensions: whether it contains each extension, in the order of kExtensions.
using InstructionSet = std::array<bool, kExtensions.size()>;

/// The extensions that src/ops/cpu was compiled for (CONVOY_ARCH). It is a constant, so any processor can read it.
extern const InstructionSet kCompiledFor;

/// Returns the extensions of this processor. A processor that is not x86 is assumed to have all.
InstructionSet processor_extensions();

/// Returns whether this processor has tiles for products in bf16 (AMX) and the system lets this process use them. The
/// call asks the system for permission. Tiles are not among kExtensions: no ordinary loop uses them, and the program
/// works without them.
bool may_use_tiles();

/// Returns the names of the extensions that are in `needed` but not in `available`: "avx512f avx512bw"; empty if there
/// are none.
std::string missing_extensions(const InstructionSet& needed, const InstructionSet& available);

}  // namespace convoy::ops::cpu
