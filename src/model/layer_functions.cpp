/// The table of layer functions, and what its parts share.
#include "model/layer_functions.h"

#include <algorithm>

#include <fmt/format.h>

#include "convoy/base/error.h"

#include "model/layer_function_parts.h"

namespace convoy {

ArgumentSpec count(const std::string& name, const std::string& about) {
  return {.name = name, .is_required = true, .about = about, .min = 1, .max = kMaxChannels};
}

ArgumentSpec integer(const std::string& name, std::int64_t initial, const std::string& about, double min, double max) {
  return {.name = name, .initial = initial, .about = about, .min = min, .max = max};
}

ArgumentSpec number(const std::string& name, double initial, const std::string& about, double min, double max) {
  return {
      .name = name, .kind = ArgumentSpec::Kind::kNumber, .initial = initial, .about = about, .min = min, .max = max};
}

ArgumentSpec initial_values(const std::string& name, const std::string& about) {
  return {.name = name, .kind = ArgumentSpec::Kind::kInitialValues, .about = about};
}

std::string sides(const Shape& shape) {
  const std::string slices = shape.d == 1 ? "" : fmt::format("{} x ", shape.d);
  return fmt::format("{}{} x {} x {}", slices, shape.h, shape.w, shape.c);
}

void check_divides(const char* what, std::int64_t divisor, std::int64_t number, const char* of) {
  if (number % divisor != 0) refuse("{} = {} does not divide the {} {}", what, divisor, number, of);
}

namespace {

std::vector<LayerFunction> make_layer_functions() {
  std::vector<LayerFunction> all = convolution_functions();
  for (auto* const part : {channel_functions, elementwise_functions, sequence_functions}) {
    std::vector<LayerFunction> functions = part();
    std::ranges::move(functions, std::back_inserter(all));
  }
  return all;
}

}  // namespace

std::span<const LayerFunction> layer_functions() {
  static const std::vector<LayerFunction> kFunctions = make_layer_functions();
  return kFunctions;
}

const LayerFunction* find_layer_function(std::string_view name) {
  const auto found = std::ranges::find(layer_functions(), name, &LayerFunction::name);
  return found == layer_functions().end() ? nullptr : &*found;
}

}  // namespace convoy
