/// Exchanges the texts, so that every rank has those that all have read.
#include "data/text/text_store.h"

#include <algorithm>
#include <cstring>

#include "convoy/base/error.h"
#include "convoy/base/special_tokens.h"
#include "convoy/base/text.h"
#include "convoy/comm/packed.h"

#include "data/text/check_text.h"
#include "data/text/tokenizer.h"

namespace convoy {

namespace {

constexpr const char* kUnknownLetter = "\xf4\x8f\xbf\xbd";  // U+10FFFD, for private use

void encode(Tokenizer& tokenizer, std::string_view text, std::vector<std::int32_t>& tokens) {
  tokenizer.encode(text, tokens);
  if (tokens.empty()) fail("it has no words");
}

std::string_view bytes_of(const std::vector<std::int32_t>& tokens) {
  return {reinterpret_cast<const char*>(tokens.data()), tokens.size() * sizeof(std::int32_t)};
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
  mpi::Packer mine;  // for each text: 1 and its tokens, or 0 and what is wrong with it
  std::vector<std::int32_t> tokens;
  const std::int64_t end = split.size() * (world.rank() + 1) / world.size();
  for (std::int64_t i = split.size() * world.rank() / world.size(); i < end; ++i) {
    try {
      encode(*tokenizer, source.read(split, i), tokens);
      mine.add(1);
      mine.add(bytes_of(tokens));
    } catch (const Error& error) {
      mine.add(0);
      mine.add(std::string_view(error.what()));
    }
  }
  const std::vector<std::byte> all = world.broadcast(world.gather(mine.bytes(), 0), 0);
  mpi::Unpacker packed(all);
  for (std::int64_t i = 0; i < split.size(); ++i) {
    const bool is_good = packed.number() == 1;
    const std::string_view content = packed.text();
    if (is_good) {
      tokens.resize(content.size() / sizeof(std::int32_t));
      std::memcpy(tokens.data(), content.data(), content.size());
      add(tokens, split.names[i], split.labels[static_cast<std::size_t>(i)]);
    } else {
      skipped.push_back({.name = std::string(split.names[i]), .reason = std::string(content)});
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

std::string TextStore::describe_unknown() const {
  // Subwords have a token for a space alone, also before an unknown letter.
  std::vector<std::int32_t> of_unknown_letter, none;
  make_tokenizer(info_.text.tokenization)->encode(kUnknownLetter, of_unknown_letter);
  std::int64_t num_unknown = 0, first = 0;
  for (std::int64_t i = info_.num_samples - 1; i >= 0; --i) {
    const auto is_unknown = [&](std::int32_t token) {
      return token == special_tokens::kUnknown ||
             std::ranges::find(of_unknown_letter, token) != of_unknown_letter.end();
    };
    if (!std::ranges::all_of(read_tokens(i, none), is_unknown)) continue;
    ++num_unknown;
    first = i;
  }
  if (num_unknown == 0) return "";
  const char* const what = "no word that the network knows";
  if (info_.num_samples == 1) return fmt::format("the text has {}: its predicted class has no meaning", what);
  return fmt::format("{} of {} texts {} {}: '{}'{}. The predicted classes of such texts have no meaning", num_unknown,
                     info_.num_samples, num_unknown == 1 ? "has" : "have", what, excerpt(name(first)),
                     num_unknown == 1 ? "" : " and others");
}

std::span<const std::int32_t> TextStore::read_tokens(std::int64_t sample, std::vector<std::int32_t>&) const {
  return std::span(tokens_).subspan(static_cast<std::size_t>(offsets_[static_cast<std::size_t>(sample)]),
                                    static_cast<std::size_t>(num_tokens(sample)));
}

}  // namespace convoy
