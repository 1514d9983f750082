/// A library that is missing or too old is an error that names it and says what to do.
#include "device/cuda/lazy_library.h"

#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "convoy/base/error.h"

#include "unit/messages.h"

namespace convoy::cuda {
namespace {

// Each test has its own function: the program looks each function up once.
double half(double x) {
  return x / 2;
}
float half_of_float(float x) {
  return x / 2;
}
int half_of_int(int x) {
  return x / 2;
}

TEST(LazyLibrary, CallsTheFunctionOfTheLibrary) {
  LazyLibrary library("libm.so.6", "");
  EXPECT_TRUE(library.is_present());
  EXPECT_EQ(library.call<half>("floor", 2.5),
            2.0);  // called by its name: what the function of the same type here computes does not matter
}

TEST(LazyLibrary, TriesTheFileThatTheProgramWasBuiltWith) {
  LazyLibrary library("libconvoy-has-none.so.1", "libm.so.6");
  EXPECT_TRUE(library.is_present());
}

TEST(LazyLibrary, AMissingLibraryIsNamed) {
  LazyLibrary library("libconvoy-has-none.so.1", "/nowhere/libconvoy-has-none.so.1");
  EXPECT_FALSE(library.is_present());
  const std::string message = test::message_of<Error>([&] { library.call<half_of_float>("floorf", 2.5F); });
  EXPECT_CONTAINS(message, "libconvoy-has-none.so.1 cannot be opened");
  EXPECT_CONTAINS(message, "LD_LIBRARY_PATH");
}

TEST(LazyLibrary, AMissingFunctionIsNamed) {
  LazyLibrary library("libm.so.6", "");
  EXPECT_CONTAINS(test::message_of<Error>([&] { library.call<half_of_int>("convoy_has_no_such_function", 2); }),
                  "libm.so.6 has no function convoy_has_no_such_function");
}

}  // namespace
}  // namespace convoy::cuda
