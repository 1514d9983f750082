/// Reads as much of protobuf's encoding as is needed to find the table of letters, and checks where each of its nodes
/// points.
///   model:  3 normalizer, 5 denormalizer: 2 table of letters; 2 trainer: 3 kind, 1 for unigram
///   table:  bytes of the trie (32 bits, least significant byte first), the trie, the texts that letters become, each
///           with a 0 at its end
///   trie:   a double array of darts-clone: units of 32 bits. From unit p the letter c leads to unit p ^ offset(p) ^ c,
///           and where a text ends there its position is in unit p ^ offset(p)
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "convoy/base/error.h"

#include "data/text/subwords.h"

namespace convoy {

namespace {

// --- Messages of protobuf's ------------------------------------------------------------------------------------------

constexpr std::uint64_t kTrainer = 2, kNormalizer = 3, kDenormalizer = 5;  // fields of a model
constexpr std::uint64_t kKind = 3;                                         // field of a trainer
constexpr std::uint64_t kTable = 2;                                        // field of a normalizer
constexpr std::uint64_t kUnigram = 1;

struct Field {
  std::uint64_t number = 0, value = 0;  ///< value if it is a whole number
  std::string_view bytes;               ///< content if it is a text or a message
};

std::string_view take(std::string_view& rest, std::uint64_t count) {
  if (count > rest.size()) fail("its model of subwords is truncated");
  const std::string_view taken = rest.substr(0, count);
  rest.remove_prefix(count);
  return taken;
}

// Reads a number of seven bits per byte, the least significant first; the last byte has no eighth bit.
std::uint64_t take_number(std::string_view& rest) {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const auto byte = static_cast<unsigned char>(take(rest, 1).front());
    value |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return value;
  }
  fail("its model of subwords has a number of more than 64 bits");
}

void for_each_field(std::string_view message, const std::function<void(const Field&)>& visit) {
  while (!message.empty()) {
    const std::uint64_t key = take_number(message);
    Field field{.number = key >> 3};
    switch (key & 7) {
      case 0:
        field.value = take_number(message);
        break;
      case 1:
        take(message, 8);
        break;
      case 2:
        field.bytes = take(message, take_number(message));
        break;
      case 5:
        take(message, 4);
        break;
      default:
        fail("its model of subwords has a field of an unknown kind");
    }
    visit(field);
  }
}

// --- The table of letters --------------------------------------------------------------------------------------------

constexpr std::size_t kUnitBytes = 4, kLetters = 256;

std::uint32_t unit_at(std::string_view units, std::size_t index) {
  std::uint32_t unit = 0;
  for (std::size_t i = kUnitBytes; i-- > 0;)
    unit = unit << 8 | static_cast<unsigned char>(units[index * kUnitBytes + i]);
  return unit;
}

std::size_t offset_of(std::uint32_t unit) {
  return static_cast<std::size_t>(unit >> 10) << ((unit & 1u << 9) >> 6);
}
bool ends_text(std::uint32_t unit) {
  return (unit & 1u << 8) != 0;
}
// Whether the unit holds the position of a text, so that no letter leads from it to another unit.
bool is_position(std::uint32_t unit) {
  return (unit & 1u << 31) != 0;
}

void check_table(std::string_view table) {
  if (table.empty()) return;
  std::string_view rest = table;
  const std::uint32_t trie_bytes = unit_at(take(rest, kUnitBytes), 0);
  const std::string_view units = take(rest, trie_bytes), texts = rest;
  const std::size_t count = units.size() / kUnitBytes;
  if (count == 0 || !texts.ends_with('\0')) fail("its model of subwords has a truncated table of letters");
  for (std::size_t p = 0; p < count; ++p) {
    const std::uint32_t unit = unit_at(units, p);
    if (p > 0 && is_position(unit)) continue;
    const std::size_t next = p ^ offset_of(unit);
    const bool leads_out = (next | (kLetters - 1)) >= count;
    if (leads_out || (ends_text(unit) && (unit_at(units, next) & ~(1u << 31)) >= texts.size()))
      fail("its model of subwords has a table of letters that points outside itself");
  }
}

}  // namespace

void check_subword_model(std::string_view model) {
  for_each_field(model, [](const Field& part) {
    if (part.number != kTrainer && part.number != kNormalizer && part.number != kDenormalizer) return;
    for_each_field(part.bytes, [&](const Field& field) {
      if (part.number == kTrainer && field.number == kKind && field.value != kUnigram)
        fail("its model of subwords is of kind {}, not unigram", field.value);
      if (part.number != kTrainer && field.number == kTable) check_table(field.bytes);
    });
  });
}

}  // namespace convoy
