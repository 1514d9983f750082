/// Helpers of the tests of parameters: a command line as a person types it, and the message of its error.
#pragma once

#include <string>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/params/parse.h"

#include "unit/messages.h"

namespace convoy::testing {

/// Parses the command line "convoy" with these arguments.
inline Request request(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "convoy");
  std::vector<const char*> argv;
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  return parse_command_line(static_cast<int>(argv.size()), argv.data());
}

/// The error message for this command line; test::kNothingThrown if it is accepted.
inline std::string complaint(const std::vector<std::string>& arguments) {
  return test::message_of<RequestError>([&] { request(arguments); });
}

/// The error message for a parameter file with this text, called a.cfg.
inline std::string file_complaint(const std::string& text) {
  return test::message_of<RequestError>([&] { parse_parameters(text, "a.cfg"); });
}

}  // namespace convoy::testing
