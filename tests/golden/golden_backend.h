/// The device whose steps are compared with PyTorch's: a program is linked with one of *_backend.cpp.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "convoy/ops/backend.h"

namespace convoy::test {

/// Returns "no GPU: ..." if there is none, and every test is skipped; otherwise an empty text.
std::string why_no_backend();

std::unique_ptr<ops::Backend> make_backend(PrecisionKind precision);

/// Returns the precisions in which the device computes apart from float32.
std::vector<PrecisionKind> low_precisions();

}  // namespace convoy::test
