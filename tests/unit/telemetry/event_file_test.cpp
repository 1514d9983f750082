/// The files that TensorBoard reads, taken apart by a reader that knows nothing of the writer.
#include "telemetry/event_file.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace convoy {

namespace {

// Bit by bit, from the definition, without a table.
std::uint32_t plain_crc32c(const std::string& bytes) {
  std::uint32_t crc = ~0U;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1U) != 0 ? (crc >> 1) ^ 0x82f63b78U : crc >> 1;
  }
  return ~crc;
}

template <typename T>
T take(std::string& bytes) {
  T value;
  if (bytes.size() < sizeof value) throw std::runtime_error("cut short");
  std::memcpy(&value, bytes.data(), sizeof value);
  bytes.erase(0, sizeof value);
  return value;
}

std::string take(std::string& bytes, std::size_t size) {
  if (bytes.size() < size) throw std::runtime_error("cut short");
  std::string part = bytes.substr(0, size);
  bytes.erase(0, size);
  return part;
}

// As TensorFlow unmasks: the mask is taken away, then the bits are turned back.
std::uint32_t unmasked(std::uint32_t masked) {
  const std::uint32_t turned = masked - 0xa282ead8U;
  return (turned >> 17) | (turned << 15);
}

std::vector<std::string> records_in(std::string file) {
  std::vector<std::string> records;
  while (!file.empty()) {
    const std::string length = take(file, 8);
    EXPECT_EQ(unmasked(take<std::uint32_t>(file)), plain_crc32c(length));
    std::uint64_t size = 0;
    std::memcpy(&size, length.data(), sizeof size);
    records.push_back(take(file, size));
    EXPECT_EQ(unmasked(take<std::uint32_t>(file)), plain_crc32c(records.back()));
  }
  return records;
}

// A message's fields by number, each in the order in which it comes.
using Fields = std::multimap<std::uint64_t, std::string>;

std::uint64_t take_varint(std::string& bytes) {
  std::uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = take<unsigned char>(bytes);
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if ((byte & 0x80U) == 0) return value;
  }
}

Fields fields_of(std::string message) {
  Fields fields;
  while (!message.empty()) {
    const std::uint64_t key = take_varint(message);
    switch (key & 7U) {
      case 0: {
        const std::uint64_t value = take_varint(message);
        fields.emplace(key >> 3, std::string(reinterpret_cast<const char*>(&value), sizeof value));
        break;
      }
      case 1:
        fields.emplace(key >> 3, take(message, 8));
        break;
      case 2:
        fields.emplace(key >> 3, take(message, take_varint(message)));
        break;
      case 5:
        fields.emplace(key >> 3, take(message, 4));
        break;
      default:
        throw std::runtime_error("an unknown wire type");
    }
  }
  return fields;
}

template <typename T>
T value_of(const Fields& fields, std::uint64_t number) {
  std::string bytes = fields.find(number)->second;
  return take<T>(bytes);
}

class EventFileTest : public testing::Test {
 protected:
  EventFileTest() : directory_(std::filesystem::temp_directory_path() / fmt::format("convoy-events-{}", getpid())) {
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  static std::vector<std::string> records(const EventFile& events) {
    std::ifstream file(events.path(), std::ios::binary);
    return records_in({std::istreambuf_iterator<char>(file), {}});
  }

  std::filesystem::path directory_;
};

}  // namespace

TEST(Crc32c, HasTheKnownAnswersOfRfc3720) {
  EXPECT_EQ(crc32c("123456789"), 0xe3069283U);  // the catalogue's check value
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aaU);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43U);
  std::string rising, falling;
  for (int i = 0; i < 32; ++i) {
    rising += static_cast<char>(i);
    falling += static_cast<char>(31 - i);
  }
  EXPECT_EQ(crc32c(rising), 0x46dd794eU);
  EXPECT_EQ(crc32c(falling), 0x113fdb5cU);
}

TEST_F(EventFileTest, BeginsWithItsVersionAndWithTheStepFromWhichOlderFilesDoNotCount) {
  const EventFile events(directory_.string(), 300, 1.5);
  const std::vector<std::string> all = records(events);
  ASSERT_EQ(all.size(), 2U);
  const Fields version = fields_of(all[0]), start = fields_of(all[1]);
  EXPECT_EQ(version.find(3)->second, "brain.Event:2");
  EXPECT_EQ(value_of<double>(version, 1), 1.5);
  EXPECT_EQ(value_of<std::int64_t>(start, 2), 301);
  EXPECT_EQ(value_of<std::int64_t>(fields_of(start.find(7)->second), 1), 1) << "SessionLog.START";
}

TEST_F(EventFileTest, HoldsScalarsWithTheirTagStepAndTime) {
  EventFile events(directory_.string(), 0, 1);
  events.add(123456789012, 2.25, {{"loss/train", 0.5}, {"top1/train", 0.25}}, 0);
  events.flush();
  const std::vector<std::string> all = records(events);
  ASSERT_EQ(all.size(), 3U);
  const Fields event = fields_of(all[2]);
  EXPECT_EQ(value_of<double>(event, 1), 2.25);
  EXPECT_EQ(value_of<std::int64_t>(event, 2), 123456789012);
  const Fields summary = fields_of(event.find(5)->second);
  ASSERT_EQ(summary.count(1), 2U);
  const Fields loss = fields_of(summary.find(1)->second);
  EXPECT_EQ(loss.find(1)->second, "loss/train");
  EXPECT_EQ(value_of<float>(loss, 2), 0.5F);
}

TEST_F(EventFileTest, IsCurrentOnceScalarsHaveWaited) {
  EventFile events(directory_.string(), 0, 1);
  events.add(1, 2, {{"a", 1}}, 100);
  EXPECT_EQ(records(events).size(), 2U);
  events.add(2, 2, {{"a", 1}}, 100 + EventFile::kMaxWaitSeconds);
  EXPECT_EQ(records(events).size(), 4U);
}

}  // namespace convoy
