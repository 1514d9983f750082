/// The table of keys, for reading, checking, --help, parameter files and hints about the nearest name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "params/value.h"

namespace convoy::params {

struct Key {
  std::string name;  ///< "batch.global": section, dot, leaf
  Value value;
  std::string unit;  ///< empty: no unit
  std::string sentence;
  bool changes_result = false;   ///< whether a run that is resumed with another value reports this
  std::string former_name = {};  ///< its name in earlier versions, which is still read; empty: it had no other

  std::string section() const { return name.substr(0, name.find('.')); }
  std::string leaf() const { return name.substr(name.find('.') + 1); }
  bool is_called(std::string_view called) const {
    return called == name || (!former_name.empty() && called == former_name);
  }
  std::string default_text() const { return value.write(Parameters{}); }
};

/// All keys, in the order of --help and parameter files.
const std::vector<Key>& keys();

/// The names of the sections, in the order of keys().
const std::vector<std::string>& sections();

/// The key of that name, or of that former name, in small or capital letters; null if there is none.
const Key* find_key(std::string_view name);

/// The key that was most likely meant; empty if none is near.
std::string nearest_key(const std::string& name);

/// The hint that follows "there is no such key": the nearest key, and the others of its section.
std::string key_hint(const std::string& name);

}  // namespace convoy::params
