/// Whether this processor can run what the build was made for.
#pragma once

#include <string>

#include "ops/cpu/instruction_set.h"

namespace convoy::ops {

/// What this processor has. Of processors that are not x86, everything is assumed.
cpu::InstructionSet processor_extensions();

/// Names of the extensions in `needed` that `available` lacks, "avx512f avx512bw"; empty where there are none.
std::string missing_extensions(const cpu::InstructionSet& needed, const cpu::InstructionSet& available);

}  // namespace convoy::ops
