/// One table of habits, and where in a line they are found.
#include "model/lua_hints.h"

#include <algorithm>

#include <fmt/format.h>

#include "convoy/base/text.h"

namespace convoy {

namespace {

struct Habit {
  std::string_view written, advice;
};

// A sign comes before those that it contains.
constexpr Habit kSyntax[] = {
    {"!=", "Lua writes ~= for !="},
    {"+=", "Lua writes x = x + 1 for x += 1"},
    {"-=", "Lua writes x = x - 1 for x -= 1"},
    {"*=", "Lua writes x = x * 2 for x *= 2"},
    {"++", "Lua writes x = x + 1 for x++"},
    {"**", "Lua writes x ^ 2 for x ** 2"},
    {"&&", "Lua writes and for &&"},
    {"||", "Lua writes or for ||"},
    {"!", "Lua writes not for !"},
    {"//", "In Lua a comment begins with --"},
    {"#", "In Lua a comment begins with --"},
    {"[", "Lua writes a list as {1, 2}"},
    {"elif", "Lua writes elseif for elif"},
    {"def", "Lua writes local function f(x) ... end"},
    {"lambda", "Lua writes function(x) return ... end"},
    {"class", "Lua has no classes: a block of layers is a function"},
    {"import", "Nothing is imported: all functions are there"},
    {"continue", "Lua has no continue: put the rest of the loop into an if"},
    {"pass", "Lua needs no pass"},
    {":\n", "Lua writes then or do in place of the colon, and end after the block"},
};

// Names in small letters, without '_'.
constexpr Habit kNames[] = {
    {"true", "Lua writes true"},
    {"false", "Lua writes false"},
    {"none", "Lua writes nil for None"},
    {"self", "There are no objects: a function gets its values as arguments"},
    {"torch", "Layers are functions without a module: conv(...), relu(x), concat(a, b)"},
    {"nn", "Layers are functions without a module: conv(...), relu(x), concat(a, b)"},
    {"F", "Layers are functions without a module: conv(...), relu(x), concat(a, b)"},
    {"len", "Lua writes #list for len(list)"},
    {"range", "Lua writes for i = 1, n do ... end"},
    {"str", "Nearest: tostring"},
    {"int", "Nearest: math.floor"},
    {"cat", "Nearest: concat"},
    {"avgpool", "Nearest: average_pool"},
    {"flatten", "global_average_pool(x) makes one pixel of an image, which logits can read"},
    {"sequential", "Call the functions one after the other: x = relu(conv(\"conv\", x, 8))"},
    {"swish", "Nearest: silu"},
    {"dense", "Nearest: linear"},
    {"attention", "Nearest: self_attention"},
    {"multiheadattention", "Nearest: self_attention"},
    {"droppath", "Nearest: stochastic_depth"},
};

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_letter(text[at - 1])) && (end == text.size() || !is_letter(text[end]))) return true;
  }
  return false;
}

// The line with this number, from 1, and the one before it: Lua meets an error only at the next word.
std::string_view lines_at(std::string_view text, int number) {
  for (int i = 2; i < number; ++i) text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  const std::size_t end = number == 1 ? text.find('\n') : text.find('\n', text.find('\n') + 1);
  return text.substr(0, end == std::string_view::npos ? end : end + 1);
}

}  // namespace

std::string hint_for_name(const std::string& name, const std::vector<std::string>& names) {
  std::string word = lower_case(name);
  std::erase(word, '_');
  if (word.ends_with("1d") || word.ends_with("2d")) word.resize(word.size() - 2);
  for (const Habit& habit : kNames)
    if (habit.written == word || habit.written == name) return fmt::format(" {}", habit.advice);
  const std::string suggestion = nearest(lower_case(name), names);
  return suggestion.empty() ? "" : " Nearest: " + suggestion;
}

std::string hint_for_syntax(std::string_view message, std::string_view text) {
  constexpr std::string_view kNear = " near ";
  const std::size_t near = message.rfind(kNear), colon = message.find(':');
  if (near == std::string_view::npos || colon == std::string_view::npos) return "";
  const std::string_view word = message.substr(near + kNear.size());  // "'!='", or "<eof>" at the end of the text
  if (word == "<eof>") return has_word(text, "else if") ? ". Lua writes elseif for else if" : "";
  const std::string_view number = message.substr(colon + 1, message.find(':', colon + 1) - colon - 1);
  const std::string_view lines = lines_at(text, parse_number<int>(number).value_or(1));
  for (const auto& [written, advice] : kSyntax) {
    const bool is_sign_at_error = word.size() > 1 && written.find(word[1]) != std::string_view::npos;
    const bool is_met = is_letter(written.front())
                            ? has_word(lines, written)
                            : (is_sign_at_error || written.back() == '\n') && lines.find(written) != std::string_view::npos;
    if (is_met) return fmt::format(". {}", advice);
  }
  return "";
}

}  // namespace convoy
