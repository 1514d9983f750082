/// The functions that a network's file can call to add layers: one table, from which follow the calls in files, the
/// cells that are built from a list, and the page that explains the functions.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convoy/base/target.h"
#include "convoy/model/network_list.h"

#include "model/cell_builder.h"

namespace convoy {

/// What the numbers of a value mean. Most layers read and return plain numbers; the others say so in the table.
enum class ValueKind { kNumbers, kTokens, kLengths, kPositions, kLabels, kTargets, kScores, kLogits, kObjectives };

/// Returns what a value of this kind is, for messages: "lengths of texts".
const char* name_of(ValueKind kind);

/// An argument that a layer function takes by its name.
struct ArgumentSpec {
  enum class Kind { kInteger, kNumber, kFlag, kInitialValues, kNames };

  std::string name;
  Kind kind = Kind::kInteger;
  std::optional<Argument> initial = {};  ///< value if it is not given; empty: see is_required
  bool is_required = false;              ///< false, without `initial`: `about` says what happens if it is not given
  std::string about;
  double min = -std::numeric_limits<double>::infinity(), max = std::numeric_limits<double>::infinity();
};

/// One call of a layer function in a cell that is being built.
class LayerArguments {
 public:
  /// `num_values` has FeatureValue::num_values of each input, and 0 for results of layers. `target` is what the network
  /// has to answer.
  LayerArguments(const LayerCall& call, std::span<const Value> inputs, std::span<const std::int64_t> num_values,
                 const Target& target)
      : call_(&call), inputs_(inputs), num_values_(num_values), target_(&target) {}

  const std::string& name() const { return call_->name; }
  std::span<const Value> inputs() const { return inputs_; }
  const Value& x() const { return inputs_.front(); }
  const Target& target() const { return *target_; }
  /// Throws RequestError if this argument is less than the number of values that the input can have.
  void check_covers(const std::string& argument, std::size_t input) const;
  bool has(const std::string& argument) const { return call_->arguments.contains(argument); }
  std::int64_t integer(const std::string& argument) const { return std::get<std::int64_t>(at(argument)); }
  double number(const std::string& argument) const { return std::get<double>(at(argument)); }
  bool flag(const std::string& argument) const { return std::get<bool>(at(argument)); }
  const std::vector<std::string>& names(const std::string& argument) const {
    return std::get<std::vector<std::string>>(at(argument));
  }
  std::optional<InitialValues> initial(const std::string& argument) const {
    return has(argument) ? std::optional(std::get<InitialValues>(at(argument))) : std::nullopt;
  }

 private:
  const Argument& at(const std::string& argument) const { return call_->arguments.at(argument); }

  const LayerCall* call_;
  std::span<const Value> inputs_;
  std::span<const std::int64_t> num_values_;
  const Target* target_;
};

/// A function of network files that adds a layer to the current cell and returns its output.
struct LayerFunction {
  std::string name;       ///< "conv"
  std::string about;      ///< what it computes, with the shapes: for the page of functions
  bool has_name = false;  ///< whether the first argument is the name of its parameters
  std::int64_t min_inputs = 1, max_inputs = 1;
  std::vector<ArgumentSpec> arguments = {};              ///< the first may also be given without its name
  std::vector<ValueKind> reads = {ValueKind::kNumbers};  ///< kinds of the inputs; the last one is of all that follow
  ValueKind returns = ValueKind::kNumbers;
  bool takes_slices = false;  ///< whether the inputs may be volumes, of several slices
  /// Adds the layer. Throws RequestError if the shapes of the inputs and the arguments do not fit each other.
  Value (*add)(const LayerArguments& call) = nullptr;
};

std::span<const LayerFunction> layer_functions();
/// Returns the function with this name; null if there is none.
const LayerFunction* find_layer_function(std::string_view name);

/// Returns what an argument of this kind must be, for messages: "a whole number".
const char* name_of(ArgumentSpec::Kind kind);

/// Returns the argument with this name. Throws RequestError, with the nearest name, if the function has none.
const ArgumentSpec& find_argument(const LayerFunction& function, const std::string& name);

/// Checks a call and fills in the arguments that are not given. Throws RequestError if an argument is unknown (with the
/// nearest name), has the wrong type or is out of its range, or if one that is required is missing, or if the number of
/// inputs is wrong.
void complete(const LayerFunction& function, LayerCall& call);

/// Removes the arguments that have their default values: what is left stays the same if the function gets an argument
/// more.
void drop_defaults(const LayerFunction& function, LayerCall& call);

/// A feature that a cell reads.
struct FeatureValue {
  Value value;
  ValueKind kind = ValueKind::kNumbers;
  std::int64_t num_values = 0;  ///< integers are at least 0 and less than this; 0 for floating-point numbers
};

struct ListedCellSpec;

/// Adds the feature with this name to the cell that is being built, for the samples and targets of `spec`. Throws
/// RequestError if samples of this kind do not have the feature (with the names of those that they have).
FeatureValue add_feature(CellBuilder& cell, const std::string& name, const ListedCellSpec& spec);

}  // namespace convoy
