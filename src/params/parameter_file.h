/// Reads parameter files into a ParameterBuilder: parameters so far, with the place where each was given, for later
/// checks.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "params/value.h"

namespace convoy::params {

struct ParameterBuilder {
  Parameters values;
  std::map<std::string, std::string> where;  ///< by key, as in source_of(); keys that were not given are absent
  bool collects = false;                     ///< whether attempt() collects RequestErrors instead of throwing them
  std::vector<std::string> problems = {};    ///< the collected messages, in order
  std::vector<std::string> renamed = {};     ///< a sentence for each key that was given by its former name

  /// The place where a key was given: "a.cfg:12", "command line", "default".
  std::string source_of(const std::string& key) const;
  /// Calls `work`, and returns whether it succeeded. If the builder collects, a RequestError becomes one of the
  /// problems, so that the user can fix all of them at once; otherwise it is thrown.
  bool attempt(const std::function<void()>& work);
};

/// Sets one key. Throws RequestError for unknown keys and for values that the key does not allow.
void assign(ParameterBuilder& builder, const Given& given);

/// Sets all keys of an INI text, each line by attempt(); `where` names the text in messages. A key may be given once.
/// Throws RequestError if the text has a byte 0 or, unless the builder collects errors, at the first wrong line.
void assign_text(ParameterBuilder& builder, const std::string& text, const std::string& where);

/// Sets all keys of a parameter file, as assign_text() does. Throws RequestError if there is no such file, and Error if
/// it cannot be read.
void assign_file(ParameterBuilder& builder, const std::string& path);

}  // namespace convoy::params
