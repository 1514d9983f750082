/// What the tests of parameters share: a command line as a person types it, and the complaint that it gets.
#pragma once

#include <string>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/params/parse.h"

#include "unit/messages.h"

namespace convoy::testing {

/// parse_command_line of "convoy" and these.
inline Request request(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "convoy");
  std::vector<const char*> argv;
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  return parse_command_line(static_cast<int>(argv.size()), argv.data());
}

/// What is said against this command line; test::kNothingThrown where nothing is.
inline std::string complaint(const std::vector<std::string>& arguments) {
  return test::message_of<RequestError>([&] { request(arguments); });
}

/// The complaint about a parameter file with this text, called a.cfg.
inline std::string file_complaint(const std::string& text) {
  return test::message_of<RequestError>([&] { parse_parameters(text, "a.cfg"); });
}

}  // namespace convoy::testing
