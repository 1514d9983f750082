/// Lists of layers as JSON: written with one layer per line, so that a difference is easy to see.
#include "convoy/model/network_list.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "convoy/base/error.h"
#include "convoy/base/text.h"

#include "model/layer_functions.h"

namespace convoy {

namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxInputs = 1000;
constexpr const char* kKinds[] = {"constant", "uniform", "normal"};  // in the order of InitialValues::Kind

Json to_json(const Argument& argument) {
  if (const auto* const values = std::get_if<InitialValues>(&argument))
    return Json::object({{kKinds[static_cast<std::size_t>(values->kind)], values->size}});
  return std::visit(
      [](const auto& value) -> Json {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, InitialValues>)
          return {};
        else
          return value;
      },
      argument);
}

Json to_json(const LayerCall& call) {
  Json arguments = Json::object();
  for (const auto& [name, value] : call.arguments) arguments[name] = to_json(value);
  return Json::array({call.function, call.name, call.inputs, arguments});
}

[[noreturn]] void refuse_list(const std::string& what) {
  fail("the list of the network's layers is damaged: {}", what);
}

Argument parse_argument(const Json& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number_float()) return json.get<double>();
  if (json.is_array()) return json.get<std::vector<std::string>>();
  if (json.is_object() && json.size() == 1) {
    const auto kind = std::ranges::find(kKinds, json.begin().key());
    if (kind != std::end(kKinds))
      return InitialValues{static_cast<InitialValues::Kind>(kind - std::begin(kKinds)), json.begin()->get<double>()};
  }
  refuse_list("an argument has no value that a layer could take");
}

LayerCall parse_layer(const Json& json, std::int64_t num_values) {
  if (!json.is_array() || json.size() != 4) refuse_list("a layer does not have four parts");
  LayerCall call{.function = json[0].get<std::string>(), .name = json[1].get<std::string>()};
  call.inputs = json[2].get<std::vector<std::int64_t>>();
  if (call.inputs.size() > kMaxInputs) refuse_list("a layer has too many inputs");
  for (const std::int64_t input : call.inputs)
    if (input < 0 || input >= num_values) refuse_list("a layer reads a value that does not exist yet");
  for (const auto& [name, value] : json[3].get<Json::object_t>()) call.arguments[name] = parse_argument(value);
  return call;
}

CellList parse_cell(const Json& json, bool is_first) {
  CellList cell{.name = json.at("cell").get<std::string>(),
                .prefix = json.at("prefix").get<std::string>(),
                .has_input = json.at("has_input").get<bool>()};
  if (cell.has_input == is_first) refuse_list("every cell but the first reads the output of the cell before it");
  const Json& layers = json.at("layers");
  if (!layers.is_array()) refuse_list("a cell has no list of layers");
  std::int64_t num_values = cell.has_input ? 1 : 0;
  for (const Json& layer : layers) cell.layers.push_back(parse_layer(layer, num_values++));
  cell.output = json.at("output").get<std::int64_t>();
  if (cell.output < 0 || cell.output >= num_values) refuse_list("the output of a cell does not exist");
  return cell;
}

std::string value_text(const Argument& argument) {
  return to_json(argument).dump();
}

std::string difference(const LayerCall& now, const LayerCall& before) {
  if (now.function != before.function || now.name != before.name)
    return fmt::format("{}, not {}", describe(now), describe(before));
  if (now.inputs != before.inputs)
    return fmt::format("{} reads the values {}, not {}", describe(now), fmt::join(now.inputs, ", "),
                       fmt::join(before.inputs, ", "));
  for (const auto& [name, value] : now.arguments) {
    const auto other = before.arguments.find(name);
    if (other == before.arguments.end()) return fmt::format("{} has the argument {}", describe(now), name);
    if (other->second != value)
      return fmt::format("{}: {} is {}, not {}", describe(now), name, value_text(value), value_text(other->second));
  }
  for (const auto& [name, value] : before.arguments)
    if (!now.arguments.contains(name)) return fmt::format("{} does not have the argument {}", describe(now), name);
  return "";
}

LayerCall completed(LayerCall call) {
  if (const LayerFunction* const function = find_layer_function(call.function)) complete(*function, call);
  return call;
}

std::string difference(const CellList& now, const CellList& before) {
  if (now.name != before.name) return fmt::format("it is '{}', not '{}'", now.name, before.name);
  if (now.prefix != before.prefix)
    return fmt::format("its parameters' names begin with '{}', not '{}'", now.prefix, before.prefix);
  for (std::size_t i = 0; i < std::min(now.layers.size(), before.layers.size()); ++i)
    if (std::string text = difference(completed(now.layers[i]), completed(before.layers[i])); !text.empty())
      return text;
  if (now.layers.size() != before.layers.size())
    return fmt::format("it has {} layers, not {}", now.layers.size(), before.layers.size());
  return now.output == before.output ? "" : "its output is the result of another layer";
}

}  // namespace

std::string describe(const LayerCall& call) {
  return excerpt(call.function) + (call.name.empty() ? "" : fmt::format(" '{}'", excerpt(call.name)));
}

bool reads_feature(const NetworkList& list, std::string_view name) {
  return std::ranges::any_of(list.cells, [&](const CellList& cell) {
    return std::ranges::any_of(
        cell.layers, [&](const LayerCall& call) { return call.function == kFeatureCall && call.name == name; });
  });
}

std::string to_text(const NetworkList& list) {
  std::string text = "[";
  for (const CellList& cell : list.cells) {
    text += fmt::format("{}\n{{\"cell\":{},\"prefix\":{},\"has_input\":{},\"output\":{},\"layers\":[",
                        text.size() > 1 ? "," : "", Json(cell.name).dump(), Json(cell.prefix).dump(), cell.has_input,
                        cell.output);
    for (std::size_t i = 0; i < cell.layers.size(); ++i)
      text += fmt::format("{}\n  {}", i > 0 ? "," : "", to_json(cell.layers[i]).dump());
    text += "]}";
  }
  return text + "\n]\n";
}

NetworkList parse_network_list(std::string_view text) {
  NetworkList list;
  try {
    const Json json = Json::parse(text);
    if (!json.is_array() || json.empty() || std::ssize(json) > kMaxCells) refuse_list("it is no list of cells");
    std::int64_t num_layers = 0;
    for (const Json& cell : json) {
      list.cells.push_back(parse_cell(cell, list.cells.empty()));
      num_layers += std::ssize(list.cells.back().layers);
      if (num_layers > kMaxLayers) refuse_list("it has too many layers");
    }
  } catch (const Json::exception& error) {
    refuse_list(excerpt(error.what()));
  }
  return list;
}

std::string describe_difference(const NetworkList& now, const NetworkList& before) {
  for (std::size_t i = 0; i < std::min(now.cells.size(), before.cells.size()); ++i)
    if (const std::string text = difference(now.cells[i], before.cells[i]); !text.empty())
      return fmt::format("cell {} ({}): {}", i, now.cells[i].name, text);
  if (now.cells.size() != before.cells.size())
    return fmt::format("{} cells, not {}", now.cells.size(), before.cells.size());
  return "";
}

}  // namespace convoy
