// Integer expressions over names, as space.json writes constraints: C's operators and precedence,
// + - * / % < <= > >= == != && || ! ?: and parentheses. No library of Debian 12 has integer semantics with short
// circuit.
#pragma once

#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace headtune {

using Names = std::map<std::string, long long, std::less<>>;

/// What is wrong with an expression, with the place: "expected ')' at column 9 of `(A + B`".
struct ExpressionError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Expression {
 public:
  /// Throws ExpressionError.
  explicit Expression(std::string_view text);
  Expression(Expression&&) noexcept;
  Expression& operator=(Expression&&) noexcept;
  ~Expression();

  /// Throws ExpressionError for an unknown name, a division by zero or an overflow in a part that is reached.
  long long evaluate(const Names& names) const;
  const std::string& text() const { return text_; }

  struct Node;

 private:
  std::string text_;
  std::unique_ptr<const Node> root_;
};

}  // namespace headtune
