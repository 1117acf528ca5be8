#include "core/run/head_filter.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

#include "core/run/head_values.h"

namespace headroom {
namespace {

// What a corpus says of each of its numbers: core/corpus/statistics.h.
constexpr auto kFilterStatistics = std::to_array<std::string_view>(
    {"mean", "std", "standard_error", "ci_low", "ci_high", "bootstrap_low", "bootstrap_high", "min", "max", "count"});

}  // namespace

// Recursive descent; every function leaves the position of its node. Nesting is bounded, so that no text exhausts the
// stack.
class FilterParser {
 public:
  using Op = HeadFilter::Op;
  explicit FilterParser(std::string_view text) : text_(text) {}

  Result<HeadFilter> run() {
    HEADROOM_TRY_VOID(next());
    if (token_.kind == Kind::End) return HeadFilter();
    HEADROOM_TRY(const Part root, either());
    if (token_.kind != Kind::End)
      return fault(token_, "here the expression should end, or go on with and, or, a comparison");
    if (root.type != Type::Truth)
      return fault_at(root.begin, "this is a value, not a condition").advise("compare it, as in sink_score > 0.3");
    return std::move(filter_);
  }

 private:
  enum class Kind { End, Number, Text, Name, Symbol };
  enum class Type { Number, Text, Truth };
  struct Token {
    Kind kind = Kind::End;
    std::size_t begin = 0, end = 0;
    std::string text;
    double number = 0.0;
  };
  struct Part {
    int node = -1;
    Type type = Type::Number;
    std::size_t begin = 0;
  };
  static constexpr int kDeepest = 100;

  Error fault_at(std::size_t at, const std::string& message) const {
    std::size_t column = 1;
    for (std::size_t i = 0; i < at && i < text_.size(); ++i)
      if ((static_cast<unsigned char>(text_[i]) & 0xC0U) != 0x80U) ++column;
    Error error(ErrorCode::InvalidArgument, "column " + std::to_string(column) + ": " + message);
    error.at_offset(at);
    return error;
  }
  Error fault(const Token& token, const std::string& message) const {
    Error error = fault_at(token.begin, message);
    error.found = token.kind == Kind::End ? "the end" : std::string(text_.substr(token.begin, token.end - token.begin));
    return error;
  }

  Result<void> next() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r'))
      ++at_;
    token_ = {};
    token_.begin = token_.end = at_;
    if (at_ >= text_.size()) return {};
    const char c = text_[at_];
    const auto letter = [](char l) { return (l >= 'a' && l <= 'z') || (l >= 'A' && l <= 'Z') || l == '_'; };
    const auto digit = [](char l) { return l >= '0' && l <= '9'; };
    if (digit(c) || (c == '.' && at_ + 1 < text_.size() && digit(text_[at_ + 1]))) {
      const char* first = text_.data() + at_;
      const auto [end, status] = std::from_chars(first, text_.data() + text_.size(), token_.number);
      if (status != std::errc{}) return fault_at(at_, "this number is out of range");
      token_.kind = Kind::Number;
      at_ += static_cast<std::size_t>(end - first);
      if (at_ < text_.size() && letter(text_[at_])) return fault_at(at_, "a letter follows a number");
    } else if (letter(c)) {
      while (at_ < text_.size() && (letter(text_[at_]) || digit(text_[at_]))) ++at_;
      token_.kind = Kind::Name;
      token_.text = text_.substr(token_.begin, at_ - token_.begin);
    } else if (c == '"' || c == '\'') {
      const std::size_t close = text_.find(c, at_ + 1);
      if (close == std::string_view::npos) return fault_at(at_, "this text is not closed");
      token_.kind = Kind::Text;
      token_.text = text_.substr(at_ + 1, close - at_ - 1);
      at_ = close + 1;
    } else {
      HEADROOM_TRY_VOID(symbol());
    }
    token_.end = at_;
    return {};
  }

  Result<void> symbol() {
    static constexpr std::pair<std::string_view, std::string_view> kSymbols[] = {
        {"<=", "<="},     {">=", ">="},     {"==", "=="},     {"!=", "!="},    {"&&", "and"},   {"||", "or"},
        {"\u2264", "<="}, {"\u2265", ">="}, {"\u2260", "!="}, {"\u2212", "-"}, {"\u00B7", "*"}, {"<", "<"},
        {">", ">"},       {"!", "not"},     {"+", "+"},       {"-", "-"},      {"*", "*"},      {"/", "/"},
        {"(", "("},       {")", ")"},       {"[", "["},       {"]", "]"},      {",", ","},      {".", "."}};
    const std::string_view rest = text_.substr(at_);
    for (const auto& [written, meant] : kSymbols)
      if (rest.starts_with(written)) {
        token_.kind = Kind::Symbol;
        token_.text = meant;
        at_ += written.size();
        return {};
      }
    if (rest.front() == '=') return fault_at(at_, "a single = compares nothing").advise("write ==");
    return fault_at(at_, "this character means nothing here");
  }

  [[nodiscard]] bool is(std::string_view word) const {
    return (token_.kind == Kind::Symbol || token_.kind == Kind::Name) && token_.text == word;
  }

  int add(Op op, int left = -1, int right = -1) {
    HeadFilter::Node node;
    node.op = op;
    node.left = left;
    node.right = right;
    filter_.nodes_.push_back(std::move(node));
    return static_cast<int>(filter_.nodes_.size()) - 1;
  }

  Result<void> must_be(const Part& part, Type type, const std::string& message) const {
    if (part.type != type) return fault_at(part.begin, message);
    return {};
  }

  Result<Part> either() {
    HEADROOM_TRY(Part left, both());
    while (is("or")) {
      HEADROOM_TRY_VOID(next());
      HEADROOM_TRY(const Part right, both());
      HEADROOM_TRY_VOID(must_be(left, Type::Truth, "or joins conditions; this is a value"));
      HEADROOM_TRY_VOID(must_be(right, Type::Truth, "or joins conditions; this is a value"));
      left.node = add(Op::Or, left.node, right.node);
    }
    return left;
  }

  Result<Part> both() {
    HEADROOM_TRY(Part left, negated());
    while (is("and")) {
      HEADROOM_TRY_VOID(next());
      HEADROOM_TRY(const Part right, negated());
      HEADROOM_TRY_VOID(must_be(left, Type::Truth, "and joins conditions; this is a value"));
      HEADROOM_TRY_VOID(must_be(right, Type::Truth, "and joins conditions; this is a value"));
      left.node = add(Op::And, left.node, right.node);
    }
    return left;
  }

  Result<Part> negated() {
    if (!is("not")) return comparison();
    const std::size_t begin = token_.begin;
    if (++depth_ > kDeepest) return fault(token_, "this is nested too deeply");
    HEADROOM_TRY_VOID(next());
    HEADROOM_TRY(const Part part, negated());
    --depth_;
    HEADROOM_TRY_VOID(must_be(part, Type::Truth, "not turns a condition round; this is a value"));
    return Part{add(Op::Not, part.node), Type::Truth, begin};
  }

  [[nodiscard]] std::optional<Op> comparison_op() const {
    if (token_.kind != Kind::Symbol) return {};
    if (token_.text == "<") return Op::Less;
    if (token_.text == "<=") return Op::LessEqual;
    if (token_.text == ">") return Op::Greater;
    if (token_.text == ">=") return Op::GreaterEqual;
    if (token_.text == "==") return Op::Equal;
    if (token_.text == "!=") return Op::NotEqual;
    return {};
  }

  Result<Part> comparison() {
    HEADROOM_TRY(Part left, sum());
    std::optional<Part> chain;
    while (const std::optional<Op> op = comparison_op()) {
      const Token sign = token_;
      HEADROOM_TRY_VOID(next());
      HEADROOM_TRY(const Part right, sum());
      if (left.type == Type::Truth || right.type == Type::Truth) return fault(sign, "conditions cannot be compared");
      if (left.type != right.type) return fault(sign, "a text is compared with a number");
      if (left.type == Type::Text && *op != Op::Equal && *op != Op::NotEqual)
        return fault(sign, "texts are equal or not, neither is larger").wanted("== or !=", sign.text);
      const Part compared{add(*op, left.node, right.node), Type::Truth, left.begin};
      chain = chain ? Part{add(Op::And, chain->node, compared.node), Type::Truth, chain->begin} : compared;
      left = right;
    }
    return chain ? *chain : left;
  }

  Result<Part> sum() {
    HEADROOM_TRY(Part left, product());
    while (is("+") || is("-")) {
      const Op op = is("+") ? Op::Add : Op::Subtract;
      HEADROOM_TRY(left, joined(left, op, &FilterParser::product));
    }
    return left;
  }

  Result<Part> product() {
    HEADROOM_TRY(Part left, signed_value());
    while (is("*") || is("/")) {
      const Op op = is("*") ? Op::Multiply : Op::Divide;
      HEADROOM_TRY(left, joined(left, op, &FilterParser::signed_value));
    }
    return left;
  }

  Result<Part> joined(const Part& left, Op op, Result<Part> (FilterParser::*operand)()) {
    const Token sign = token_;
    HEADROOM_TRY_VOID(next());
    HEADROOM_TRY(const Part right, (this->*operand)());
    if (left.type != Type::Number || right.type != Type::Number)
      return fault(sign, "only numbers can be reckoned with");
    return Part{add(op, left.node, right.node), Type::Number, left.begin};
  }

  Result<Part> signed_value() {
    if (!is("-") && !is("+")) return single();
    const bool minus = is("-");
    const Token sign = token_;
    if (++depth_ > kDeepest) return fault(token_, "this is nested too deeply");
    HEADROOM_TRY_VOID(next());
    HEADROOM_TRY(const Part part, signed_value());
    --depth_;
    if (part.type != Type::Number) return fault(sign, "a sign stands before a number");
    return minus ? Part{add(Op::Negate, part.node), Type::Number, sign.begin} : part;
  }

  Result<Part> single() {
    const Token token = token_;
    if (token.kind == Kind::Number || token.kind == Kind::Text) {
      const int node = add(token.kind == Kind::Number ? Op::Number : Op::Text);
      filter_.nodes_.back().number = token.number;
      filter_.nodes_.back().text = token.text;
      HEADROOM_TRY_VOID(next());
      return Part{node, token.kind == Kind::Number ? Type::Number : Type::Text, token.begin};
    }
    if (is("(")) {
      if (++depth_ > kDeepest) return fault(token_, "this is nested too deeply");
      HEADROOM_TRY_VOID(next());
      HEADROOM_TRY(Part inside, either());
      --depth_;
      if (!is(")")) return fault(token_, "a parenthesis is not closed").wanted(")", "");
      HEADROOM_TRY_VOID(next());
      inside.begin = token.begin;
      return inside;
    }
    if (token.kind == Kind::Name && token.text != "and" && token.text != "or") return named(token);
    return fault(token, "a value is missing here").wanted("a quantity, layer, head, kind or a number", "");
  }

  Result<Part> named(const Token& name) {
    HEADROOM_TRY_VOID(next());
    if (name.text == "layer") return Part{add(Op::Layer), Type::Number, name.begin};
    if (name.text == "head") return Part{add(Op::Head), Type::Number, name.begin};
    if (name.text == "kind") return Part{add(Op::Kind), Type::Text, name.begin};
    HEADROOM_TRY(QuantityRef ref, placed(parse_quantity(name.text), name.begin));
    if (is("[")) {
      const std::size_t bracket = token_.begin;
      std::vector<std::string> parts;
      do {
        HEADROOM_TRY_VOID(next());
        std::string part;
        if (token_.kind != Kind::Number && token_.kind != Kind::Name && token_.kind != Kind::Text)
          return fault(token_, "the name of an element is missing");
        part = token_.kind == Kind::Number ? std::string(text_.substr(token_.begin, token_.end - token_.begin))
                                           : token_.text;
        parts.push_back(part);
        HEADROOM_TRY_VOID(next());
      } while (is(","));
      if (!is("]")) return fault(token_, "a bracket is not closed").wanted("]", "");
      HEADROOM_TRY_VOID(next());
      HEADROOM_TRY(ref.index, placed(element_index(*ref.info, parts), bracket));
    }
    std::string statistic;
    if (is(".")) {
      HEADROOM_TRY_VOID(next());
      if (token_.kind != Kind::Name || std::ranges::find(kFilterStatistics, token_.text) == kFilterStatistics.end()) {
        Error error = fault(token_, "this is no statistic over sequences");
        std::string known;
        for (const std::string_view one : kFilterStatistics) known += (known.empty() ? "" : ", ") + std::string(one);
        return error.wanted(known, error.found);
      }
      statistic = token_.text;
      HEADROOM_TRY_VOID(next());
    }
    const int node = add(Op::Quantity);
    filter_.nodes_.back().quantity = ref;
    filter_.nodes_.back().text = statistic;
    if (std::ranges::find(filter_.quantities_, ref) == filter_.quantities_.end()) filter_.quantities_.push_back(ref);
    return Part{node, Type::Number, name.begin};
  }

  template <typename T>
  Result<T> placed(Result<T> result, std::size_t at) const {
    if (result) return result;
    Error error = fault_at(at, result.error().message);
    error.expected = result.error().expected;
    error.found = result.error().found;
    error.hint = result.error().hint;
    return error;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Token token_;
  int depth_ = 0;
  HeadFilter filter_;
};

Result<HeadFilter> HeadFilter::parse(std::string_view text) { return FilterParser(text).run(); }

std::vector<std::uint8_t> HeadFilter::evaluate(const RunSnapshot& run) const {
  const std::size_t count = run.layers.size() * run.heads.size();
  if (nodes_.empty()) return std::vector<std::uint8_t>(count, 1);
  const std::vector<double> result = values(run, static_cast<int>(nodes_.size()) - 1);
  std::vector<std::uint8_t> flags(count);
  std::ranges::transform(result, flags.begin(), [](double v) { return static_cast<std::uint8_t>(v != 0.0 ? 1 : 0); });
  return flags;
}

// Conditions are 0 or 1. Texts are only compared, below, and have no values of their own.
std::vector<double> HeadFilter::values(const RunSnapshot& run, int position) const {
  const Node& node = nodes_[static_cast<std::size_t>(position)];
  const std::size_t heads = run.heads.size(), count = run.layers.size() * heads;
  if (node.op == Op::Quantity)
    return node.text.empty() ? head_values(run, node.quantity) : head_statistics(run, node.quantity, node.text);
  std::vector<double> out(count, node.number);
  if (node.op == Op::Number) return out;
  if (node.op == Op::Layer || node.op == Op::Head) {
    for (std::size_t i = 0; i < count; ++i)
      out[i] = static_cast<double>(node.op == Op::Layer ? run.layers[i / heads] : run.heads[i % heads]);
    return out;
  }
  if (node.op == Op::Text || node.op == Op::Kind) return out;

  const Node& first = nodes_[static_cast<std::size_t>(node.left)];
  if (first.op == Op::Text || first.op == Op::Kind) {
    const Node& second = nodes_[static_cast<std::size_t>(node.right)];
    for (std::size_t i = 0; i < count; ++i) {
      const LayerSnapshot* layer = i / heads < run.data.size() ? run.data[i / heads].get() : nullptr;
      const std::string_view kind = layer != nullptr ? std::string_view(layer->kind) : std::string_view();
      const std::string_view a = first.op == Op::Kind ? kind : std::string_view(first.text);
      const std::string_view b = second.op == Op::Kind ? kind : std::string_view(second.text);
      out[i] = layer != nullptr && (a == b) == (node.op == Op::Equal) ? 1.0 : 0.0;
    }
    return out;
  }
  const std::vector<double> a = values(run, node.left);
  const std::vector<double> b = node.right >= 0 ? values(run, node.right) : std::vector<double>();
  const auto each = [&](auto&& compute) {
    for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<double>(compute(a[i], b.empty() ? 0.0 : b[i]));
  };
  switch (node.op) {
    case Op::Negate: each([](double x, double) { return -x; }); break;
    case Op::Add: each([](double x, double y) { return x + y; }); break;
    case Op::Subtract: each([](double x, double y) { return x - y; }); break;
    case Op::Multiply: each([](double x, double y) { return x * y; }); break;
    case Op::Divide: each([](double x, double y) { return x / y; }); break;
    case Op::Less: each([](double x, double y) { return x < y; }); break;
    case Op::LessEqual: each([](double x, double y) { return x <= y; }); break;
    case Op::Greater: each([](double x, double y) { return x > y; }); break;
    case Op::GreaterEqual: each([](double x, double y) { return x >= y; }); break;
    case Op::Equal: each([](double x, double y) { return x == y; }); break;
    case Op::NotEqual: each([](double x, double y) { return x < y || x > y; }); break;
    case Op::Not: each([](double x, double) { return x == 0.0; }); break;
    case Op::And: each([](double x, double y) { return x != 0.0 && y != 0.0; }); break;
    default: each([](double x, double y) { return x != 0.0 || y != 0.0; }); break;
  }
  return out;
}

std::vector<double> HeadFilter::bounds(const QuantityRef& ref) const {
  std::vector<double> result;
  const auto number = [&](int position) -> std::optional<double> {
    const Node& node = nodes_[static_cast<std::size_t>(position)];
    if (node.op == Op::Number) return node.number;
    if (node.op == Op::Negate && nodes_[static_cast<std::size_t>(node.left)].op == Op::Number)
      return -nodes_[static_cast<std::size_t>(node.left)].number;
    return {};
  };
  for (const Node& node : nodes_) {
    if (node.op < Op::Less || node.op > Op::NotEqual) continue;
    for (const auto& [quantity, other] : {std::pair{node.left, node.right}, std::pair{node.right, node.left}}) {
      const Node& candidate = nodes_[static_cast<std::size_t>(quantity)];
      if (candidate.op != Op::Quantity || !(candidate.quantity == ref)) continue;
      if (const std::optional<double> value = number(other)) result.push_back(*value);
    }
  }
  return result;
}

}  // namespace headroom
