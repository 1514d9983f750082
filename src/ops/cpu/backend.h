/// The CPU device with its operations.
#pragma once

#include <memory>

#include "convoy/ops/backend.h"

namespace convoy::ops::cpu {

std::unique_ptr<Backend> make_cpu_backend(std::int64_t threads);

}  // namespace convoy::ops::cpu
