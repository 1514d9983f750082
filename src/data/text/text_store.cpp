/// Every rank learns what all have read.
#include "data/text/text_store.h"

#include <cstring>

#include "convoy/base/error.h"

#include "data/text/check_text.h"
#include "data/text/tokenizer.h"

namespace convoy {

namespace {

void encode(Tokenizer& tokenizer, std::string_view text, std::vector<std::int32_t>& tokens) {
  tokenizer.encode(text, tokens);
  if (tokens.empty()) fail("it has no words");
}

/// What became of texts, one after the other: how many tokens, and these; or, for a bad one, minus the length of what
/// is wrong with it, and that.
class Records {
 public:
  void add_tokens(const std::vector<std::int32_t>& tokens) {
    add_number(std::ssize(tokens));
    add_bytes(std::as_bytes(std::span(tokens)));
  }
  void add_reason(const std::string& reason) {
    add_number(-std::ssize(reason));
    add_bytes(std::as_bytes(std::span(reason)));
  }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  void add_number(std::int64_t number) { add_bytes(std::as_bytes(std::span(&number, 1))); }
  void add_bytes(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }

  std::vector<std::byte> bytes_;
};

template <typename Value>
void take(std::span<const std::byte>& rest, Value* to, std::size_t count) {
  std::memcpy(to, rest.data(), count * sizeof(Value));
  rest = rest.subspan(count * sizeof(Value));
}

}  // namespace

TextStore::TextStore(TextSource& source, const std::string& name, const io::Tokenization& tokenization,
                     const mpi::Communicator& world, std::vector<SkippedSample>& skipped) {
  info_ = {.kind = input_kinds::kText,
           .class_names = source.listing().class_names,
           .text = {.tokenization = tokenization},
           .source = name};
  const auto tokenizer = make_tokenizer(tokenization);
  const SourceSplit& split = source.listing().splits.front();
  Records mine;
  std::vector<std::int32_t> tokens;
  const std::int64_t end = split.size() * (world.rank() + 1) / world.size();
  for (std::int64_t i = split.size() * world.rank() / world.size(); i < end; ++i) {
    try {
      encode(*tokenizer, source.read(split, i), tokens);
      mine.add_tokens(tokens);
    } catch (const Error& error) {
      mine.add_reason(error.what());
    }
  }
  const std::vector<std::byte> all = world.broadcast(world.gather(mine.bytes(), 0), 0);
  std::span<const std::byte> rest = all;
  for (std::int64_t i = 0; i < split.size(); ++i) {
    std::int64_t count = 0;
    take(rest, &count, 1);
    if (count > 0) {
      tokens.resize(static_cast<std::size_t>(count));
      take(rest, tokens.data(), tokens.size());
      add(tokens, split.names[i], split.labels[static_cast<std::size_t>(i)]);
    } else {
      std::string reason(static_cast<std::size_t>(-count), '\0');
      take(rest, reason.data(), reason.size());
      skipped.push_back({.name = std::string(split.names[i]), .reason = std::move(reason)});
    }
  }
}

TextStore::TextStore(std::string_view text, const std::string& name, const io::Tokenization& tokenization) {
  info_ = {.kind = input_kinds::kText, .text = {.tokenization = tokenization}, .source = name};
  std::vector<std::int32_t> tokens;
  encode(*make_tokenizer(tokenization), check_text(text), tokens);
  add(tokens, name, -1);
}

void TextStore::add(std::span<const std::int32_t> tokens, std::string_view name, std::int32_t label) {
  tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
  offsets_.push_back(std::ssize(tokens_));
  labels_.push_back(label);
  names_.add(name);
  ++info_.num_samples;
  info_.text.num_tokens += std::ssize(tokens);
}

std::int64_t TextStore::num_tokens(std::int64_t sample) const {
  const auto at = static_cast<std::size_t>(sample);
  return offsets_[at + 1] - offsets_[at];
}

std::span<const std::int32_t> TextStore::read_tokens(std::int64_t sample, std::vector<std::int32_t>&) const {
  return std::span(tokens_).subspan(static_cast<std::size_t>(offsets_[static_cast<std::size_t>(sample)]),
                                    static_cast<std::size_t>(num_tokens(sample)));
}

}  // namespace convoy
