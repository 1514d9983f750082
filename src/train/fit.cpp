/// Names and shapes against each other.
#include "train/fit.h"

#include <algorithm>

#include <fmt/format.h>

namespace convoy {

namespace {

constexpr std::size_t kShown = 3;

std::string shape(const std::vector<std::int64_t>& dims) {
  return fmt::format("{}", fmt::join(dims, "x"));
}

// "2 missing (fc.weight, fc.bias)", "40 missing (a, b, c, ...)"; nothing where there is none.
void append(std::string& text, const std::vector<std::string>& names, const char* kind) {
  if (names.empty()) return;
  const std::vector<std::string> shown(names.begin(), names.begin() + std::min(names.size(), kShown));
  text += fmt::format("{}{} {} ({}{})", text.empty() ? "" : "; ", names.size(), kind, fmt::join(shown, ", "),
                      shown.size() < names.size() ? ", ..." : "");
}

}  // namespace

TensorsByName by_name(const std::vector<io::NamedTensor>& tensors) {
  TensorsByName map;
  for (const io::NamedTensor& tensor : tensors) map[tensor.name] = &tensor;
  return map;
}

std::string Fit::differences() const {
  std::string text;
  append(text, missing, "missing");
  append(text, misshapen, "of another shape");
  append(text, unexpected, "unexpected");
  return text;
}

Fit fit_weights(const Network& network, const std::vector<io::NamedTensor>& tensors) {
  const TensorsByName found = by_name(tensors);
  Fit fit;
  std::set<std::string> expected;
  for (const auto& cell : network) {
    for (const auto& entry : cell->memory().parameters()) {
      const ParameterSpec& spec = entry.spec;
      expected.insert(spec.name);
      const auto tensor = found.find(spec.name);
      if (tensor == found.end()) {
        fit.missing.push_back(spec.name);
      } else if (tensor->second->dims != spec.dims) {
        fit.misshapen.push_back(
            fmt::format("{}: {}, not {}", spec.name, shape(tensor->second->dims), shape(spec.dims)));
      } else {
        fit.fitting.insert(spec.name);
      }
    }
  }
  for (const io::NamedTensor& tensor : tensors)
    if (!expected.contains(tensor.name)) fit.unexpected.push_back(tensor.name);
  return fit;
}

}  // namespace convoy
