/// Parses XML and stores only the names of open elements.
#include "unit/schedule/well_formed.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <vector>

namespace convoy::test {

namespace {

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::string fault() {
    skip_space();
    if (peek() != '<') return "no element";
    do {
      if (!(peek() == '<' ? tag() : character())) return fault_ + " at byte " + std::to_string(at_);
    } while (!open_.empty() && at_ < text_.size());
    skip_space();
    if (!open_.empty()) return "<" + open_.back() + "> has no end";
    return at_ == text_.size() ? "" : "more than one element";
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) { return peek() == c && ++at_ > 0; }
  void skip_space() {
    while (std::isspace(static_cast<unsigned char>(peek()))) ++at_;
  }
  bool wrong(const std::string& fault) {
    fault_ = fault;
    return false;
  }
  std::string name() {
    const std::size_t begin = at_;
    while (std::isalnum(static_cast<unsigned char>(peek())) || peek() == ':' || peek() == '-' || peek() == '_') ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  bool character() {
    if (peek() != '&') return ++at_ > 0;
    constexpr std::array<std::string_view, 5> kKnown = {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"};
    const auto known =
        std::find_if(kKnown.begin(), kKnown.end(), [this](auto one) { return text_.substr(at_).starts_with(one); });
    if (known == kKnown.end()) return wrong("a reference that does not exist");
    at_ += known->size();
    return true;
  }

  bool tag() {
    ++at_;
    if (take('/')) {
      const std::string closed = name();
      if (open_.empty() || open_.back() != closed || !take('>')) return wrong("</" + closed + "> closes nothing");
      open_.pop_back();
      return true;
    }
    const std::string opened = name();
    if (opened.empty()) return wrong("a tag without a name");
    std::set<std::string> attributes;
    for (skip_space(); peek() != '>' && peek() != '/'; skip_space()) {
      const std::string attribute = name();
      if (attribute.empty() || !attributes.insert(attribute).second) return wrong("attribute '" + attribute + "'");
      if (!take('=') || !take('"')) return wrong("an attribute without a value in quotes");
      while (peek() != '"') {
        if (at_ >= text_.size() || peek() == '<' || !character()) return wrong("a value that does not end");
      }
      ++at_;
    }
    if (take('/')) return take('>') || wrong("a '/' in a tag");
    ++at_;
    open_.push_back(opened);
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<std::string> open_;
  std::string fault_;
};

}  // namespace

std::string fault_in_xml(std::string_view text) {
  return Reader(text).fault();
}

}  // namespace convoy::test
