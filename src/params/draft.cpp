/// One key set, from wherever it was given.
#include "params/draft.h"

#include "convoy/base/error.h"

#include "params/key_table.h"

namespace convoy::params {

std::string Draft::source_of(const std::string& key) const {
  const auto found = where.find(key);
  return found == where.end() ? "default" : found->second;
}

void assign(Draft& draft, const Given& given) {
  const Key* key = find_key(given.key);
  if (!key) {
    refuse("{}: {} = {}: there is no such key.{}", given.where, shown(given.key), shown(given.value),
           key_hint(given.key));
  }
  Given with_unit = given;
  with_unit.unit = key->unit;
  key->value.read(with_unit, draft.values);
  draft.where[given.key] = given.where;
}

}  // namespace convoy::params
