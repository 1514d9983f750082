/// Checks whether a text is well-formed XML, for pictures that the program writes.
#pragma once

#include <string>
#include <string_view>

namespace convoy::test {

/// Returns the first fault in the text; empty if there is none. It accepts elements, attributes in double quotes, and
/// text with the five predefined references of XML, but nothing else.
std::string fault_in_xml(std::string_view text);

}  // namespace convoy::test
