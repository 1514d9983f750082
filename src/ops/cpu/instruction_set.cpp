/// Compiled with the flags of the CPU operations, to say which instructions these use.
#include "ops/cpu/instruction_set.h"

namespace convoy::ops::cpu {

// A macro that the compiler defines expands to 1, any other remains its own name.
#define CONVOY_TEXT(macro) #macro
#define CONVOY_IS_DEFINED(name, macro) CONVOY_TEXT(macro)[0] == '1',

constinit const InstructionSet kCompiledFor = {CONVOY_EXTENSIONS(CONVOY_IS_DEFINED)};

}  // namespace convoy::ops::cpu
