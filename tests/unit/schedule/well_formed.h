/// Whether a text is well-formed XML, for pictures that the program writes.
#pragma once

#include <string>
#include <string_view>

namespace convoy::test {

/// What is wrong with it, first; empty where nothing is. Elements, attributes in double quotes, text with the five
/// references that XML knows by itself; nothing else is expected.
std::string fault_in_xml(std::string_view text);

}  // namespace convoy::test
