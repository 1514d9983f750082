/// The version that people quote when they ask for help.
#include "convoy/base/version.h"

#include <regex>
#include <string>

#include <gtest/gtest.h>

namespace convoy {
namespace {

TEST(Version, IsTheProjectsNumberAndTheRevisionWhereThereIsGit) {
  EXPECT_TRUE(version().starts_with(CONVOY_NUMBER)) << version();
  const std::regex form(R"(\d+\.\d+\.\d+( \(git [0-9a-f]{10,40}(, modified)?\))?)");
  EXPECT_TRUE(std::regex_match(std::string(version()), form)) << version();
}

}  // namespace
}  // namespace convoy
