/// The device whose steps are compared with PyTorch's: a program is linked with one of *_library.cpp.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "convoy/ops/backend.h"

namespace convoy::test {

/// "no GPU: ...", and every test is skipped; empty where there is one.
std::string why_no_backend();

std::unique_ptr<ops::Backend> make_backend(PrecisionKind precision);

/// What it computes in beside float32.
std::vector<PrecisionKind> low_precisions();

}  // namespace convoy::test
