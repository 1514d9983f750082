/// The types of exceptions on which a catch may rely, and the exit statuses on which job scripts act.
#include "convoy/base/error.h"

#include <string>

#include <gtest/gtest.h>

namespace convoy {
namespace {

TEST(Error, FailThrowsAnErrorThatIsNoRequestError) {
  try {
    fail("shard '{}' holds {} images", "train-003.h5", 7);
    FAIL() << "nothing was thrown";
  } catch (const RequestError&) {
    FAIL() << "a failed run is not a wrong request";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "shard 'train-003.h5' holds 7 images");
  }
}

TEST(Error, RefuseThrowsARequestErrorThatIsAnError) {
  try {
    refuse("{} = {}", "batch.micro", 7);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_NE(dynamic_cast<const RequestError*>(&error), nullptr);
    EXPECT_STREQ(error.what(), "batch.micro = 7");
  }
}

TEST(ExitStatus, ValuesAreThoseThatJobScriptsActOn) {
  EXPECT_EQ(static_cast<int>(ExitStatus::kDone), 0);
  EXPECT_EQ(static_cast<int>(ExitStatus::kFailed), 1);
  EXPECT_EQ(static_cast<int>(ExitStatus::kWrongRequest), 2);
  EXPECT_EQ(static_cast<int>(ExitStatus::kStoppedEarly), 75);  // EX_TEMPFAIL of sysexits.h
}

}  // namespace
}  // namespace convoy
