/// Parameter files, and parameters while they are read: the values so far, and where each was given, for later checks.
#pragma once

#include <map>
#include <string>

#include "params/value.h"

namespace convoy::params {

struct ParameterBuilder {
  Parameters values;
  std::map<std::string, std::string> where;  ///< by key; keys that nobody gave are not in it

  /// "a.cfg:12", "command line", "default".
  std::string source_of(const std::string& key) const;
};

/// Sets one key. Throws RequestError for unknown keys and for values that the key does not allow.
void assign(ParameterBuilder& builder, const Given& given);

/// Sets all keys of an INI text; `where` names it in complaints. A key may be given once.
void assign_text(ParameterBuilder& builder, const std::string& text, const std::string& where);

/// The same from a file.
void assign_file(ParameterBuilder& builder, const std::string& path);

}  // namespace convoy::params
