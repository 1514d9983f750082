/// Which of the processor's instructions the CPU arithmetic was compiled for, to be compared with what it has.
#pragma once

#include <array>
#include <string>

namespace convoy::ops::cpu {

/// The extensions that compilers put into ordinary loops: X(as __builtin_cpu_supports spells it, the compiler's macro).
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

/// One flag an extension, in the order of kExtensions.
using InstructionSet = std::array<bool, kExtensions.size()>;

/// What src/ops/cpu was compiled for (CONVOY_ARCH). A constant: reading it runs none of those instructions.
extern const InstructionSet kCompiledFor;

/// What this processor has. Of processors that are not x86, everything is assumed.
InstructionSet processor_extensions();

/// Whether this processor has tiles for products in bf16 (AMX), and the system lets this process use them, which it
/// asks for. They are not among the extensions: no ordinary loop uses them, and who lacks them does without.
bool may_use_tiles();

/// Names of the extensions in `needed` that `available` lacks, "avx512f avx512bw"; empty where there are none.
std::string missing_extensions(const InstructionSet& needed, const InstructionSet& available);

}  // namespace convoy::ops::cpu
