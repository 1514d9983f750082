/// Builds cells from calls of layer functions.
#include "model/listed_cell.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/text.h"

#include "model/layer_functions.h"
#include "model/layers/channels.h"

namespace convoy {

namespace {

constexpr std::size_t kMaxName = 200;
// Larger sizes would overflow sums over a network and products with the size of a micro-batch.
constexpr std::int64_t kMaxSide = 1 << 20, kMaxValues = std::int64_t{1} << 36, kMaxWeights = 1'000'000'000'000;

// Names are printed, are words in patterns and commas in lists of keys, and are paths in checkpoints: "a/b" would be a
// group.
void check_name(const std::string& name, const char* what) {
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  };
  if (name.empty() || name.size() > kMaxName || !std::ranges::all_of(name, is_allowed))
    refuse("{} is '{}': a name has 1 to {} letters, digits, '_', '-' and '.'", what, excerpt(name), kMaxName);
}

const LayerFunction& function_of(const LayerCall& call) {
  if (const LayerFunction* const function = find_layer_function(call.function)) return *function;
  std::vector<std::string> names;
  for (const LayerFunction& function : layer_functions()) names.push_back(function.name);
  const std::string suggestion = nearest(call.function, names);
  refuse("there is no layer '{}'.{}", excerpt(call.function), suggestion.empty() ? "" : " Nearest: " + suggestion);
}

}  // namespace

ListedCell::ListedCell(const std::string& name, const std::string& prefix, const CellOutput* x,
                       const ListedCellSpec& spec)
    : spec_(spec),
      list_{.name = name, .prefix = prefix, .has_input = x != nullptr, .layers = {}},
      builder_({.name = name, .parameters = prefix, .type = spec.type}) {
  check_name(name, "the name of the cell");
  if (!prefix.empty()) check_name(prefix, "the prefix");
  if (x == nullptr) return;
  if (x->kind != ValueKind::kNumbers) refuse("no cell can follow one whose output is {}", name_of(x->kind));
  values_.push_back(builder_.input(x->shape));
  kinds_.push_back(x->kind);
  num_values_.push_back(0);
}

std::int64_t ListedCell::add(LayerCall call) try {
  if (call.function == kFeatureCall) {
    const FeatureValue feature = add_feature(builder_, call.name, spec_);
    values_.push_back(feature.value);
    kinds_.push_back(feature.kind);
    num_values_.push_back(feature.num_values);
  } else {
    const LayerFunction& function = function_of(call);
    complete(function, call);
    if (function.has_name) check_name(call.name, "the name of its parameters");
    check_inputs(function, call);
    std::vector<Value> inputs;
    std::vector<std::int64_t> num_values;
    for (const std::int64_t input : call.inputs) {
      inputs.push_back(values_.at(static_cast<std::size_t>(input)));
      num_values.push_back(num_values_.at(static_cast<std::size_t>(input)));
    }
    values_.push_back(function.add({call, inputs, num_values, spec_.target}));
    kinds_.push_back(function.returns);
    num_values_.push_back(0);
    check_size();
    drop_defaults(function, call);
  }
  list_.layers.push_back(std::move(call));
  return num_values() - 1;
} catch (const RequestError& error) {
  refuse("{}: {}", describe(call), error.what());
}

void ListedCell::check_inputs(const LayerFunction& function, const LayerCall& call) const {
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    const ValueKind wanted = function.reads[std::min(i, function.reads.size() - 1)];
    const ValueKind given = kinds_.at(static_cast<std::size_t>(call.inputs[i]));
    if (given != wanted)
      refuse("its input{} must be {}, but is {}{}", call.inputs.size() > 1 ? fmt::format(" {}", i + 1) : "",
             name_of(wanted), name_of(given),
             wanted == ValueKind::kNumbers && given == ValueKind::kTokens ? ". embedding(...) turns them into numbers"
                                                                          : "");
    const Shape& shape = shape_of(call.inputs[i]);
    if (shape.d > 1 && !function.takes_slices)
      refuse(
          "its input has {} slices of {} x {}, and {} reads one. Volumes are not possible yet, except for flatten and "
          "functions of single values: import the slices as channels",
          shape.d, shape.h, shape.w, function.name);
    if (given != ValueKind::kLengths && given != ValueKind::kPositions) continue;
    const std::int64_t words = shape_of(call.inputs.front()).h, length = std::get<TextShape>(spec_.input).length;
    if (words != length) refuse("its first input has {} words, but the texts have up to {}", words, length);
  }
}

// Checks the size of the layer that was added last.
void ListedCell::check_size() {
  const Shape& y = values_.back().shape();
  const std::int64_t values_of_sample = y.count() / y.n;
  if (std::max(y.h, y.w) > kMaxSide || values_of_sample > kMaxValues)
    refuse("its result of {} x {} x {} values per sample is too large", y.h, y.w, y.c);
  const auto& parameters = builder_.memory().parameters();
  for (; num_checked_parameters_ < parameters.size(); ++num_checked_parameters_)
    if (parameters[num_checked_parameters_].spec.count() > kMaxWeights)
      refuse("it would have more than {} weights", kMaxWeights);
}

// A value that the output does not depend on would have no gradient.
void ListedCell::check_all_used(std::int64_t output) const {
  const std::int64_t first_layer = list_.has_input ? 1 : 0;
  std::vector<bool> is_used(values_.size());
  is_used.at(static_cast<std::size_t>(output)) = true;
  for (std::int64_t i = num_values() - 1; i >= first_layer; --i) {
    const LayerCall& layer = list_.layers[static_cast<std::size_t>(i - first_layer)];
    if (!is_used[static_cast<std::size_t>(i)]) refuse("the result of {} is not used", describe(layer));
    for (const std::int64_t input : layer.inputs) is_used[static_cast<std::size_t>(input)] = true;
  }
  if (list_.has_input && !is_used.front()) refuse("the input of the cell is not used");
}

void ListedCell::check_output(std::int64_t output) const {
  const ValueKind kind = kinds_.at(static_cast<std::size_t>(output));
  if (kind == ValueKind::kLogits && spec_.num_classes > 0 && shape_of(output).c != spec_.num_classes)
    refuse("logits gives {} {}, and the data have {}: write num_classes", shape_of(output).c,
           outputs_of(spec_.target.kind), spec_.num_classes);
  if (kind != ValueKind::kNumbers && kind != ValueKind::kLogits && kind != ValueKind::kObjectives)
    refuse("its output must not be {}", name_of(kind));
}

CellOutput ListedCell::output() const {
  return {.shape = shape_of(list_.output), .kind = kinds_.at(static_cast<std::size_t>(list_.output))};
}

std::unique_ptr<Cell> ListedCell::finish(std::int64_t output) try {
  check_all_used(output);
  if (list_.layers.empty() || list_.layers.back().function == kFeatureCall) refuse("it has no layer after its inputs");
  check_output(output);
  list_.output = output;
  const Value& y = values_.at(static_cast<std::size_t>(output));
  return builder_.finish(builder_.is_written(y) ? y : copy(y));
} catch (const std::logic_error& error) {
  refuse("{}", error.what());
}

Network build_cells(const NetworkList& list, const ListedCellSpec& spec) {
  Network network;
  CellOutput output;
  for (const CellList& described : list.cells) {
    try {
      if (described.has_input == network.empty()) refuse("only the first cell of a network has no input");
      ListedCell cell(described.name, described.prefix, network.empty() ? nullptr : &output, spec);
      for (const LayerCall& call : described.layers) cell.add(call);
      network.push_back(cell.finish(described.output));
      output = cell.output();
    } catch (const RequestError& error) {
      refuse("cell {}: {}", excerpt(described.name), error.what());
    }
  }
  if (output.kind == ValueKind::kNumbers) refuse("the last cell ends with neither logits nor objectives");
  return network;
}

}  // namespace convoy
