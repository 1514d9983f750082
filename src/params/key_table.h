/// The one table of keys behind reading, checking, --help, parameter files and "nearest".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "params/value.h"

namespace convoy::params {

struct Key {
  std::string name;  ///< "batch.global": section, dot, leaf
  Value value;
  std::string unit;  ///< empty: none
  std::string sentence;
  bool changes_result = false;  ///< a run that is resumed with another value says so

  std::string section() const { return name.substr(0, name.find('.')); }
  std::string leaf() const { return name.substr(name.find('.') + 1); }
  std::string default_text() const { return value.write(Parameters{}); }
};

/// In the order in which --help and parameter files have them.
const std::vector<Key>& keys();

/// In the order of keys().
const std::vector<std::string>& sections();

/// The key of that name, in capitals or not, or none.
const Key* find_key(std::string_view name);

/// The key that was most likely meant; empty where none is near.
std::string nearest_key(const std::string& name);

/// What to say after "there is no such key": the nearest, and what else its section has.
std::string key_hint(const std::string& name);

}  // namespace convoy::params
