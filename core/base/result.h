// Result<T>: a value or an Error, with the members of std::expected. HEADROOM_TRY passes an error up. Safe from any
// thread as far as T is.
#pragma once

#include <utility>
#include <variant>

#include "core/base/error.h"

namespace headroom {

template <typename T>
class [[nodiscard]] Result {
 public:
  using value_type = T;
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit by design
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT

  [[nodiscard]] bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  Error& error() { return std::get<1>(state_); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;
  Result() = default;
  Result(Error error) : state_(std::move(error)) {}  // NOLINT: implicit by design

  [[nodiscard]] bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }
  Error& error() { return std::get<1>(state_); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<std::monostate, Error> state_;
};

}  // namespace headroom

#define HEADROOM_CONCAT_INNER(a, b) a##b
#define HEADROOM_CONCAT(a, b) HEADROOM_CONCAT_INNER(a, b)
#define HEADROOM_TRY_IMPL(result, declaration, ...)          \
  auto result = (__VA_ARGS__);                               \
  if (!result.has_value()) return std::move(result.error()); \
  declaration = std::move(result).value()

// HEADROOM_TRY(auto x, expression): declares x from the value, or returns the error from this function.
#define HEADROOM_TRY(declaration, ...) \
  HEADROOM_TRY_IMPL(HEADROOM_CONCAT(headroom_result_, __LINE__), declaration, __VA_ARGS__)

// The same for an expression of type Result<void>.
#define HEADROOM_TRY_VOID(...)                                                   \
  do {                                                                           \
    auto headroom_result = (__VA_ARGS__);                                        \
    if (!headroom_result.has_value()) return std::move(headroom_result.error()); \
  } while (false)
