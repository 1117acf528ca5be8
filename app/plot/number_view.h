// A borrowed row of numbers of any of the types the run snapshot holds, read as double. Whoever made it keeps the
// numbers alive; safe from any thread that may read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

namespace headroom {

class NumberView {
 public:
  NumberView() = default;
  NumberView(std::span<const double> values) : data_(values.data()), size_(values.size()), kind_(Kind::Double) {}
  NumberView(std::span<const float> values) : data_(values.data()), size_(values.size()), kind_(Kind::Float) {}
  NumberView(std::span<const std::int64_t> values) : data_(values.data()), size_(values.size()), kind_(Kind::Int) {}
  NumberView(const std::vector<double>& values) : NumberView(std::span<const double>(values)) {}
  NumberView(const std::vector<float>& values) : NumberView(std::span<const float>(values)) {}
  NumberView(const std::vector<std::int64_t>& values) : NumberView(std::span<const std::int64_t>(values)) {}

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] double operator[](std::size_t i) const {
    switch (kind_) {
      case Kind::Float: return static_cast<double>(static_cast<const float*>(data_)[i]);
      case Kind::Int: return static_cast<double>(static_cast<const std::int64_t*>(data_)[i]);
      default: return static_cast<const double*>(data_)[i];
    }
  }

 private:
  enum class Kind : std::uint8_t { Double, Float, Int };
  const void* data_ = nullptr;
  std::size_t size_ = 0;
  Kind kind_ = Kind::Double;
};

}  // namespace headroom
