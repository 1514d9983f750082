/// Creates the backend of the CPU, which has all its operations.
#pragma once

#include <memory>

#include "convoy/ops/backend.h"

namespace convoy::ops::cpu {

std::unique_ptr<Backend> make_cpu_backend(std::int64_t threads);

}  // namespace convoy::ops::cpu
