// Python pickles as plain values. A pickle is a program for a small machine that may name any function of Python and
// have it called; this machine has no functions. What a program would call is kept as what it would be called with, and
// a pickle that names what starts programs, opens files or evaluates text is refused (docs.python.org/3/library/pickle,
// pickletools; protocols 2 to 5).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/checkpoint/byte_reader.h"

namespace headroom {

// All values of a pickle. Values refer to each other by index: a pickle may hold the same value in many places, and a
// list may hold itself. Immutable after reading; safe from any thread.
class Pickle {
 public:
  enum class Kind : std::uint8_t {
    None,
    Bool,
    Int,
    Float,
    Text,
    Bytes,
    Tuple,
    List,
    Set,
    Dict,        // items: key, value, key, value …
    Global,      // text: "module.name"
    Persistent,  // items: what the pickler put in place of an object (PyTorch: a storage)
    Object,      // items: callable, arguments, then what it was given later: its state, or keys and values
    Unknown,     // an integer of more than 64 bits
  };
  using Index = std::uint32_t;

  // One pickle, from PROTO to STOP, at the reader's position. Corrupt, with the place of the opcode, for what is cut
  // off, does not hold together or names what a model does not need; OutOfMemory above 4,000,000 opcodes, 256 MiB of
  // texts.
  [[nodiscard]] static Result<Pickle> read(ByteReader& reader);

  [[nodiscard]] Index root() const { return root_; }
  [[nodiscard]] Kind kind(Index value) const { return values_[value].kind; }
  [[nodiscard]] std::int64_t integer(Index value) const { return values_[value].number; }  // Bool, Int
  [[nodiscard]] double real(Index value) const;                                            // Float
  [[nodiscard]] std::string_view text(Index value) const;  // Text, Bytes, Global; else empty
  [[nodiscard]] std::span<const Index> items(Index value) const { return values_[value].items; }

  [[nodiscard]] Index size() const { return static_cast<Index>(values_.size()); }  // every value there is
  // The value of a text key of a dict; null where there is none.
  [[nodiscard]] const Index* find(Index dict, std::string_view key) const;
  // "torch._utils._rebuild_tensor_v2" for an object that this would be called for; else empty.
  [[nodiscard]] std::string_view callable(Index object) const;

 private:
  struct Value {
    Kind kind = Kind::None;
    std::uint32_t text_size = 0;
    std::int64_t number = 0;  // or the place of the text, or the bits of a float
    std::vector<Index> items;
  };
  friend class PickleMachine;

  std::vector<Value> values_;
  std::string texts_;
  Index root_ = 0;
};

}  // namespace headroom
