/// Does not check for errors: the program's end asks the stream whether all was written.
#include "convoy/base/print.h"

#include <cstdio>
#include <string>

#include "convoy/base/text.h"

namespace convoy {

void print_text(std::string_view text) {
  const std::string shown = printable(text);
  std::fwrite(shown.data(), 1, shown.size(), stdout);
}

}  // namespace convoy
