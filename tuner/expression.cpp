#include "tuner/expression.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <charconv>
#include <limits>

namespace headtune {

using NodePtr = std::unique_ptr<const Expression::Node>;

namespace {

enum class Operation {
  number,
  name,
  negate,
  negation,
  choice,
  disjunction,
  conjunction,
  equal,
  unequal,
  at_most,
  at_least,
  less,
  greater,
  plus,
  minus,
  times,
  divide,
  remainder
};

}  // namespace

struct Expression::Node {
  Operation op;
  long long number = 0;
  std::string name;
  NodePtr a, b, c;
};

namespace {

// No input can exhaust the stack: bounds on nested parentheses and prefix operators, and on characters.
constexpr int max_depth = 200;
constexpr std::size_t max_length = 4096;

// Binary operators by precedence, loosest first; longer spellings before their prefixes.
struct Spelling {
  const char* text = nullptr;
  Operation op = Operation::number;
};
using Level = std::array<Spelling, 4>;
constexpr std::array<Level, 6> levels = {{
    {{{"||", Operation::disjunction}}},
    {{{"&&", Operation::conjunction}}},
    {{{"==", Operation::equal}, {"!=", Operation::unequal}}},
    {{{"<=", Operation::at_most}, {">=", Operation::at_least}, {"<", Operation::less}, {">", Operation::greater}}},
    {{{"+", Operation::plus}, {"-", Operation::minus}}},
    {{{"*", Operation::times}, {"/", Operation::divide}, {"%", Operation::remainder}}},
}};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {
    if (text.size() > max_length) throw ExpressionError("expression too long");
  }

  NodePtr parse() {
    NodePtr root = conditional();
    if (skip_blanks(); at_ != text_.size()) fail("expected an operator");
    return root;
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw ExpressionError(fmt::format("{} at column {} of `{}`", what, at_ + 1, text_));
  }

  void skip_blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }

  bool accept(std::string_view token) {
    skip_blanks();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }

  void expect(std::string_view token) {
    if (!accept(token)) fail(fmt::format("expected '{}'", token));
  }

  static NodePtr make(Operation op, NodePtr a, NodePtr b = {}, NodePtr c = {}) {
    return NodePtr(new Expression::Node{op, 0, {}, std::move(a), std::move(b), std::move(c)});
  }

  NodePtr conditional() {
    if (++depth_ > max_depth) fail("nested too deeply");
    NodePtr condition = binary(0);
    if (accept("?")) {
      NodePtr yes = conditional();
      expect(":");
      condition = make(Operation::choice, std::move(condition), std::move(yes), conditional());
    }
    --depth_;
    return condition;
  }

  NodePtr binary(std::size_t level) {
    if (level == levels.size()) return unary();
    NodePtr left = binary(level + 1);
    while (const Spelling* found = accept_any(levels[level]))
      left = make(found->op, std::move(left), binary(level + 1));
    return left;
  }

  const Spelling* accept_any(const Level& level) {
    for (const Spelling& one : level)
      if (one.text && accept(one.text)) return &one;
    return nullptr;
  }

  NodePtr unary() {
    if (++depth_ > max_depth) fail("nested too deeply");
    NodePtr node = accept("!")   ? make(Operation::negation, unary())
                   : accept("-") ? make(Operation::negate, unary())
                                 : primary();
    --depth_;
    return node;
  }

  NodePtr primary() {
    if (accept("(")) {
      NodePtr inner = conditional();
      expect(")");
      return inner;
    }
    skip_blanks();
    const char next = at_ < text_.size() ? text_[at_] : '\0';
    if (std::isdigit(static_cast<unsigned char>(next))) return number();
    if (std::isalpha(static_cast<unsigned char>(next)) || next == '_') return name();
    fail("expected a number, a name or '('");
  }

  NodePtr number() {
    long long value = 0;
    const char* end = text_.data() + text_.size();
    const auto [rest, error] = std::from_chars(text_.data() + at_, end, value);
    if (error != std::errc{}) fail("number too large");
    at_ = static_cast<std::size_t>(rest - text_.data());
    return NodePtr(new Expression::Node{Operation::number, value, {}, {}, {}, {}});
  }

  NodePtr name() {
    const std::size_t start = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_')) ++at_;
    return NodePtr(new Expression::Node{Operation::name, 0, std::string(text_.substr(start, at_ - start)), {}, {}, {}});
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

void require_divisible(long long a, long long b) {
  if (b == 0) throw ExpressionError("division by zero");
  if (a == std::numeric_limits<long long>::min() && b == -1) throw ExpressionError("overflow");
}

long long arithmetic(Operation op, long long a, long long b) {
  long long result = 0;
  const bool overflow = op == Operation::plus    ? __builtin_add_overflow(a, b, &result)
                        : op == Operation::minus ? __builtin_sub_overflow(a, b, &result)
                                                 : __builtin_mul_overflow(a, b, &result);
  if (overflow) throw ExpressionError("overflow");
  return result;
}

long long apply(Operation op, long long a, long long b) {
  switch (op) {
    case Operation::equal:
      return a == b;
    case Operation::unequal:
      return a != b;
    case Operation::at_most:
      return a <= b;
    case Operation::at_least:
      return a >= b;
    case Operation::less:
      return a < b;
    case Operation::greater:
      return a > b;
    case Operation::divide:
      return require_divisible(a, b), a / b;
    case Operation::remainder:
      return require_divisible(a, b), a % b;
    default:
      return arithmetic(op, a, b);
  }
}

long long lookup(const Names& names, const std::string& name) {
  const auto found = names.find(name);
  if (found == names.end()) throw ExpressionError(fmt::format("unknown name '{}'", name));
  return found->second;
}

long long value(const Expression::Node& node, const Names& names) {
  if (node.op == Operation::number) return node.number;
  if (node.op == Operation::name) return lookup(names, node.name);
  const long long a = value(*node.a, names);
  switch (node.op) {
    case Operation::negation:
      return !a;
    case Operation::negate:
      return arithmetic(Operation::minus, 0, a);
    case Operation::choice:
      return value(a ? *node.b : *node.c, names);
    case Operation::conjunction:
      return a && value(*node.b, names);
    case Operation::disjunction:
      return a || value(*node.b, names);
    default:
      return apply(node.op, a, value(*node.b, names));
  }
}

}  // namespace

Expression::Expression(std::string_view text) : text_(text), root_(Parser(text_).parse()) {}
Expression::Expression(Expression&&) noexcept = default;
Expression& Expression::operator=(Expression&&) noexcept = default;
Expression::~Expression() = default;

long long Expression::evaluate(const Names& names) const {
  try {
    return value(*root_, names);
  } catch (const ExpressionError& error) {
    throw ExpressionError(fmt::format("{} in `{}`", error.what(), text_));
  }
}

}  // namespace headtune
