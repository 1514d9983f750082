/// Each picture is a file of its own, which is read when its sample is.
#include "data/arrays/picture_part.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/progress.h"
#include "convoy/base/text.h"

#include "data/arrays/number_table.h"
#include "data/arrays/picture_file.h"
#include "data/class_folders.h"
#include "data/folder_walk.h"
#include "data/images/image_folder.h"

namespace convoy {

namespace {

namespace fs = std::filesystem;

/// What the parts of pictures have in common: there is a row for each name.
class OfNames : public SamplePart {
 public:
  const std::vector<std::int64_t>& dims() const override { return dims_; }
  const std::vector<std::string>& columns() const override { return no_columns_; }
  std::optional<ElementType> type() const override { return std::nullopt; }
  std::span<const std::byte> values(std::int64_t row) override { fail("'{}' is a name, and no number", text(row, 0)); }

 protected:
  std::vector<std::int64_t> dims_;

 private:
  std::vector<std::string> no_columns_;
};

class PictureList final : public OfNames {
 public:
  explicit PictureList(std::vector<std::string> names) : names_(std::move(names)) {}

  bool has(std::int64_t row) override { return row >= 0 && row < std::ssize(names_); }
  std::int64_t num_samples() override { return std::ssize(names_); }
  std::string_view text(std::int64_t row, std::int64_t) override { return names_[static_cast<std::size_t>(row)]; }
  std::string place(std::int64_t row) override { return names_[static_cast<std::size_t>(row)]; }

 private:
  std::vector<std::string> names_;
};

class WithNames : public OfNames {
 public:
  explicit WithNames(SamplePart& names) : names_(names) {}

  bool has(std::int64_t row) override { return names_.has(row); }
  std::int64_t num_samples() override { return names_.num_samples(); }
  std::string_view text(std::int64_t row, std::int64_t) override { return names_.text(row, 0); }
  std::string place(std::int64_t row) override { return names_.place(row); }

 private:
  SamplePart& names_;
};

class PictureClasses final : public WithNames {
 public:
  using WithNames::WithNames;

  std::string_view text(std::int64_t row, std::int64_t value) override {
    const std::string_view name = WithNames::text(row, value);
    return name.substr(0, std::min(name.find('/'), name.size()));
  }
};

class Pictures final : public WithNames {
 public:
  Pictures(SamplePart& names, std::string folder) : WithNames(names), folder_(std::move(folder)) {
    if (!has(0)) refuse("'{}': there are no pictures", folder_);
    try {
      first_ = std::string(text(0, 0));
      form_ = read(first_)->form();
    } catch (const Error& error) {
      refuse("{}", error.what());
    }
    dims_ = {form_.h, form_.w, form_.channels};
  }

  std::optional<ElementType> type() const override { return form_.type; }
  std::span<const std::byte> values(std::int64_t row) override {
    const std::string name(text(row, 0));
    const auto reading = read(name);
    if (reading->form() != form_)
      fail("'{}' is {}, but '{}' is {}. All pictures need one size, type and number of channels", name,
           to_string(reading->form()), first_, to_string(form_));
    numbers_.resize(static_cast<std::size_t>(form_.bytes()));
    explain(name, [&] { reading->read(numbers_); });
    note_progress();
    return numbers_;
  }

 private:
  // Adds the name of the picture to errors.
  template <typename Work>
  static void explain(const std::string& name, const Work& work) {
    try {
      work();
    } catch (const Error& error) {
      fail("'{}': {}", excerpt(name), error.what());
    }
  }

  std::unique_ptr<PictureReading> read(const std::string& name) {
    std::unique_ptr<PictureReading> reading;
    explain(name, [&] {
      read_image_file((fs::path(folder_) / name).string(), kMaxImageFileBytes, file_);
      reading = begin_picture(file_);
    });
    return reading;
  }

  std::string folder_, first_;
  PictureForm form_;
  std::vector<std::byte> file_, numbers_;
};

}  // namespace

bool holds_pictures(const std::string& folder, const std::string& key) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) return false;
  // A folder of arrays may hold pictures of curves, too.
  std::vector<fs::path> folders = folders_in(folder, key);
  folders.emplace_back(folder);
  for (const fs::path& one : folders)
    for (const fs::path& path : files_in(one, key))
      if (const auto kind = find_array_file_kind(path.string()); kind && *kind != ArrayFileKind::kTable) return false;
  return std::ranges::any_of(files_below(folder, folder, key),
                             [&](const std::string& name) { return is_picture((fs::path(folder) / name).string()); });
}

SourceListing list_pictures(const std::string& path, const std::string& key) {
  std::error_code error;
  if (fs::is_regular_file(path, error)) return is_picture(path) ? list_one_file(path) : SourceListing();
  if (!holds_pictures(path, key)) return {};
  SourceListing listed = list_any_files(path, {.samples = "pictures"}, key);
  SourceSplit pictures;
  for (std::int64_t i = 0; i < listed.splits.front().size(); ++i)
    if (const std::string name(listed.splits.front().names[i]); is_picture((fs::path(path) / name).string()))
      pictures.add(name, listed.splits.front().label(i), 0);
  listed.splits.front() = std::move(pictures);
  return listed;
}

PartLocation find_picture_names(const PartLocation& part, const std::string& folder, std::vector<std::string>& notes) {
  const std::string table = part.files.paths.front();
  if (part.files.kind == ArrayFileKind::kTable) {
    NumberTable rows(table);
    const bool has_row = rows.next();
    for (std::size_t c = 0; has_row && c < rows.names().size(); ++c) {
      std::error_code error;
      const std::string name(rows.text(c));
      if (name.empty() || !fs::is_regular_file(fs::path(folder) / name, error)) continue;
      notes.push_back(fmt::format("'{0}': its column '{1}' names the pictures (import.id = {0}:{1})", table,
                                  excerpt(rows.names()[c])));
      return {.files = part.files, .columns = {rows.names()[c]}};
    }
  }
  refuse(
      "import.id is needed: '{}' has no column whose first field is the name of a picture below '{}'. Give the column "
      "or the array with their names, as in import.id = {}:file",
      table, folder, fs::path(table).filename().string());
}

std::unique_ptr<SamplePart> open_picture_names(const PartLocation& location, OpenTables& tables,
                                               std::int64_t block_bytes) {
  if (location.files.kind == ArrayFileKind::kPictures) return std::make_unique<PictureList>(location.files.paths);
  auto names = open_part(location, tables, block_bytes);
  if (names->num_values() == 1) return names;
  refuse("import.id: it has {} values for each sample, and not the name of its picture", names->num_values());
}

std::unique_ptr<SamplePart> open_picture_classes(SamplePart& names) {
  return std::make_unique<PictureClasses>(names);
}

std::unique_ptr<SamplePart> open_pictures_called(SamplePart& names, const std::string& folder) {
  return std::make_unique<Pictures>(names, folder);
}

}  // namespace convoy
