/// Bytes are decoded by ICU, character by character.
#include "data/text/check_text.h"

#include <algorithm>

#include <unicode/utf8.h>

#include "convoy/base/error.h"
#include "convoy/base/text.h"

namespace convoy {

namespace {

unsigned byte_at(std::string_view bytes, std::int64_t at) {
  return static_cast<unsigned char>(bytes[static_cast<std::size_t>(at)]);
}

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

bool is_utf16(std::string_view bytes) {
  return bytes.starts_with("\xff\xfe") || bytes.starts_with("\xfe\xff");
}

}  // namespace

std::int64_t find_not_utf8(std::string_view bytes) {
  const char* const text = bytes.data();
  const auto length = static_cast<std::int32_t>(bytes.size());
  for (std::int32_t i = 0; i < length;) {
    const std::int32_t at = i;
    UChar32 character = 0;
    U8_NEXT(text, i, length, character);
    if (character < 0) return at;
  }
  return -1;
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(' ') == std::string_view::npos;
}

void check_class_name(std::string_view name) {
  if (is_blank(name)) fail("it has no class");
  if (std::ssize(name) > kMaxClassBytes)
    fail("its class is too long: {} bytes; at most {} are allowed", name.size(), kMaxClassBytes);
  const auto control = std::ranges::find_if(name, is_control) - name.begin();
  if (control < std::ssize(name))
    fail("its class has a control character: byte {:#04x} at {}", byte_at(name, control), control);
  if (const auto at = find_not_utf8(name); at >= 0)
    fail("its class is not UTF-8: byte {:#04x} at {}. Convert it to UTF-8", byte_at(name, at), at);
  check_is_name(name, "its class");  // the check that is also made when the data set is opened
}

void check_text_size(std::int64_t bytes) {
  if (bytes > kMaxTextBytes) fail("it is too long: {} bytes; at most {} are allowed", bytes, kMaxTextBytes);
}

std::string_view check_text(std::string_view bytes) {
  check_text_size(std::ssize(bytes));
  if (is_utf16(bytes)) fail("it is UTF-16. Convert it to UTF-8");
  if (bytes.starts_with(kByteOrderMark)) bytes.remove_prefix(kByteOrderMark.size());
  if (std::ranges::all_of(bytes, [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); })) fail("it is empty");
  if (const std::size_t zero = bytes.find('\0'); zero != std::string_view::npos)
    fail("it is binary: byte 0x00 at {}", zero);
  if (const auto at = find_not_utf8(bytes); at >= 0)
    fail("it is not UTF-8: byte {:#04x} at {}. Convert it to UTF-8", byte_at(bytes, at), at);
  return bytes;
}

}  // namespace convoy
