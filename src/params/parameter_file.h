/// Parameter files, and parameters while they are read: the values so far, and where each was given, for later checks.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "params/value.h"

namespace convoy::params {

struct ParameterBuilder {
  Parameters values;
  std::map<std::string, std::string> where;  ///< by key; keys that nobody gave are not in it
  bool collects = false;                     ///< whether attempt() keeps what is wrong in place of throwing it
  std::vector<std::string> problems = {};    ///< what it has kept, in order

  /// "a.cfg:12", "command line", "default".
  std::string source_of(const std::string& key) const;
  /// Does `work`, and says whether it was done: where the builder collects, a RequestError becomes one of the problems,
  /// so that whoever reads them can mend all of them at once.
  bool attempt(const std::function<void()>& work);
};

/// Sets one key. Throws RequestError for unknown keys and for values that the key does not allow.
void assign(ParameterBuilder& builder, const Given& given);

/// Sets all keys of an INI text, each line by attempt(); `where` names it in complaints. A key may be given once.
void assign_text(ParameterBuilder& builder, const std::string& text, const std::string& where);

/// The same from a file.
void assign_file(ParameterBuilder& builder, const std::string& path);

}  // namespace convoy::params
