/// Command lines: an argument on each line of the input.
#include <sstream>

#include "convoy/params/parse.h"

#include "fuzz/fuzz.h"

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line.c_str());  // arguments end at a 0
  return lines;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace convoy;
  std::vector<std::string> arguments = lines_of(fuzz::Input(data, size).rest());
  // Files are tested by another target: no input may depend on files of this machine.
  std::erase_if(arguments, [](const std::string& a) { return a.ends_with(".cfg") || a.ends_with(".ini"); });
  std::vector<const char*> argv = {"convoy"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  return fuzz::read_or_refuse([&] {
    const Request request = parse_command_line(static_cast<int>(argv.size()), argv.data());
    warnings_for(request.params);
    describe_unread_keys(request);
    if (request.command == "help") help_text(request.arguments);
  });
}
