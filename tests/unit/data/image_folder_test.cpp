/// Folders of images without an import.
#include "data/images/image_folder.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "convoy/base/error.h"

#include "data/class_folders.h"
#include "unit/data/image_files.h"
#include "unit/io/temporary_directory.h"
#include "unit/messages.h"

namespace convoy {
namespace {

using test::message_of;
using test::TemporaryDirectory;

struct File {
  std::string name, label;
  bool operator==(const File&) const = default;
};

std::vector<File> list(const TemporaryDirectory& directory, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const std::filesystem::path path = directory / name;
    std::filesystem::create_directories(path.parent_path());
    test::write_bytes(path.string(), std::vector{std::byte{'x'}});
  }
  const ImageFolder folder(directory.path(), list_any_files(directory.path(), {}, "predict.data"), 3);
  std::vector<File> files;
  for (std::int64_t i = 0; i < folder.info().num_samples; ++i) {
    const std::int32_t label = folder.label(i);
    files.push_back({folder.name(i), label < 0 ? "" : folder.info().class_names[static_cast<std::size_t>(label)]});
  }
  return files;
}

TEST(FilesAsTheyLie, FlatInTheOrderOfTheNamesBytes) {
  const TemporaryDirectory directory;
  const std::vector<File> want = {{"10.jpg", ""}, {"9.jpg", ""}, {"B.png", ""}, {"a.png", ""}};
  EXPECT_EQ(list(directory, {"a.png", "9.jpg", "B.png", ".hidden", ".git/x.png", "10.jpg"}), want);
}

TEST(FilesAsTheyLie, OfClassesWithFoldersOfTheirOwnAndFilesBeside) {
  const TemporaryDirectory directory;
  const std::vector<File> want = {{"bee/1.png", "bee"}, {"cat/old/2.png", "cat"}, {"cat/z.png", "cat"}, {"x.png", ""}};
  EXPECT_EQ(list(directory, {"x.png", "cat/z.png", "cat/old/2.png", "bee/1.png"}), want);
}

TEST(FilesAsTheyLie, OfSplitsOfClasses) {
  const TemporaryDirectory directory;
  const std::vector<File> want = {
      {"test/bee/1.png", "bee"}, {"train/ant/2.png", "ant"}, {"train/stray.png", ""}, {"training/3.png", "training"}};
  // A folder is a split only if it holds folders: "training" is a class.
  EXPECT_EQ(list(directory, {"train/ant/2.png", "test/bee/1.png", "train/stray.png", "training/3.png"}), want);
}

TEST(FilesAsTheyLie, ALinkBackUpIsAFileWhateverItIsCalled) {
  const TemporaryDirectory directory;
  std::filesystem::create_directory_symlink(".", directory / "train");
  const std::vector<File> want = {{"a/1.png", "a"}, {"train", ""}};
  EXPECT_EQ(list(directory, {"a/1.png"}), want);
}

TEST(FilesAsTheyLie, OfSplitsInAnyCase) {
  const TemporaryDirectory directory;
  const std::vector<File> want = {{"Test/bee/1.png", "bee"}, {"VAL/ant/2.png", "ant"}};
  EXPECT_EQ(list(directory, {"VAL/ant/2.png", "Test/bee/1.png"}), want);
}

TEST(FilesAsTheyLie, BehindLinksAsAnImportFindsThem) {
  const TemporaryDirectory directory, elsewhere;
  list(elsewhere, {"ant/1.png"});
  std::filesystem::create_directory_symlink(elsewhere / "ant", directory / "ant");
  std::filesystem::create_symlink("nowhere", directory / "gone.png");
  const std::vector<File> want = {{"ant/1.png", "ant"}, {"bee/2.png", "bee"}, {"bee/up", "bee"}, {"gone.png", ""}};
  std::filesystem::create_directories(directory / "bee");
  std::filesystem::create_directory_symlink("..", directory / "bee/up");
  EXPECT_EQ(list(directory, {"bee/2.png"}), want);
}

TEST(FilesAsTheyLie, ReadsAFileIntoTheCallersMemoryAndSaysWhatIsWrongWithIt) {
  const TemporaryDirectory directory;
  list(directory, {"a", "b"});
  const ImageFolder folder(directory.path(), list_any_files(directory.path(), {}, "predict.data"), 1);
  EXPECT_EQ(folder.info().image, (ImageShape{0, 0, 1}));
  EXPECT_TRUE(folder.info().encoded);
  std::vector<std::byte> memory;
  const auto bytes = folder.read_file(1, memory);
  EXPECT_EQ(bytes.data(), memory.data());
  EXPECT_EQ(memory, std::vector<std::byte>{std::byte{'x'}});
  std::filesystem::remove(directory / "a");
  EXPECT_NE(message_of<Error>([&] { folder.read_file(0, memory); }).find("No such file"), std::string::npos);
}

TEST(FilesAsTheyLie, WithoutAnyFileIsRefusedByKey) {
  const TemporaryDirectory directory;
  std::filesystem::create_directories(directory / "empty/one");
  const std::string message = message_of<RequestError>([&] { list_any_files(directory.path(), {}, "predict.data"); });
  EXPECT_NE(message.find("predict.data = " + directory.path() + ": it holds neither files"), std::string::npos)
      << message;
}

}  // namespace
}  // namespace convoy
