#include "core/checkpoint/pickle.h"

#include <algorithm>
#include <array>
#include <bit>
#include <unordered_map>
#include <utility>

#include "core/base/error.h"
#include "core/base/format.h"

namespace headroom {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kMostOpcodes = 4'000'000;
constexpr std::uint64_t kMostTextBytes = std::uint64_t{256} << 20, kLongestName = 4096;

// Modules that a model has no use for: they start programs, open files and connections, evaluate text or read other
// pickles. Of packages everything below them too; somebody's own `code.model` is no `code`.
constexpr std::array kRefusedPackages = {
    "os"sv,           "importlib"sv,  "multiprocessing"sv, "asyncio"sv, "urllib"sv,
    "http"sv,         "pip"sv,        "ctypes"sv,          "venv"sv,    "ensurepip"sv,
    "distutils"sv,    "setuptools"sv, "idlelib"sv,         "lib2to3"sv, "requests"sv,
    "httpx"sv,        "cffi"sv,       "aiohttp"sv,         "dill"sv,    "cloudpickle"sv,
    "pkg_resources"sv};
constexpr std::array kRefusedModules = {"posix"sv,     "nt"sv,         "subprocess"sv, "_posixsubprocess"sv,
                                        "sys"sv,       "pty"sv,        "commands"sv,   "shutil"sv,
                                        "socket"sv,    "_socket"sv,    "ssl"sv,        "runpy"sv,
                                        "imp"sv,       "webbrowser"sv, "_ctypes"sv,    "code"sv,
                                        "codeop"sv,    "bdb"sv,        "pdb"sv,        "pickle"sv,
                                        "_pickle"sv,   "cPickle"sv,    "joblib"sv,     "marshal"sv,
                                        "shelve"sv,    "urllib2"sv,    "httplib"sv,    "smtplib"sv,
                                        "ftplib"sv,    "telnetlib"sv,  "tempfile"sv,   "io"sv,
                                        "_io"sv,       "operator"sv,   "_operator"sv,  "types"sv,
                                        "timeit"sv,    "cProfile"sv,   "profile"sv,    "trace"sv,
                                        "doctest"sv,   "inspect"sv,    "gc"sv,         "signal"sv,
                                        "threading"sv, "_thread"sv,    "zipimport"sv,  "pkgutil"sv,
                                        "site"sv,      "winreg"sv,     "msvcrt"sv};
constexpr std::array kRefusedNames = {"torch.load"sv,
                                      "torch.save"sv,
                                      "torch.jit.load"sv,
                                      "torch.package"sv,
                                      "numpy.load"sv,
                                      "numpy.loads"sv,
                                      "numpy.loadtxt"sv,
                                      "numpy.fromfile"sv,
                                      "numpy.testing._private.utils.runstring"sv,
                                      "numpy.f2py"sv,
                                      "torch.hub"sv,
                                      "torch.utils.cpp_extension"sv,
                                      "torch.utils.collect_env"sv,
                                      "torch.distributed.rpc"sv};
// Of Python's own functions these make values.
constexpr std::array kBuiltins = {
    "set"sv,    "frozenset"sv, "list"sv,  "dict"sv,  "tuple"sv,          "int"sv,     "float"sv,
    "bool"sv,   "str"sv,       "bytes"sv, "slice"sv, "bytearray"sv,      "complex"sv, "range"sv,
    "object"sv, "unicode"sv,   "long"sv,  "type"sv,  "NotImplemented"sv, "Ellipsis"sv};

template <std::size_t N>
bool has(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_refused(std::string_view module, std::string_view name) {
  if (module == "builtins" || module == "__builtin__") return !has(kBuiltins, name);
  if (module == "types" && name == "SimpleNamespace") return false;
  if (has(kRefusedModules, module) || has(kRefusedPackages, module.substr(0, module.find('.')))) return true;
  const std::string whole = std::string(module) + "." + std::string(name);
  return std::ranges::any_of(kRefusedNames, [&](std::string_view refused) {
    return whole == refused || whole.starts_with(std::string(refused) + ".");
  });
}

}  // namespace

double Pickle::real(Index value) const { return std::bit_cast<double>(values_[value].number); }

std::string_view Pickle::text(Index value) const {
  const Value& v = values_[value];
  if (v.kind != Kind::Text && v.kind != Kind::Bytes && v.kind != Kind::Global) return {};
  return std::string_view(texts_).substr(static_cast<std::size_t>(v.number), v.text_size);
}

const Pickle::Index* Pickle::find(Index dict, std::string_view key) const {
  if (kind(dict) != Kind::Dict) return nullptr;
  const std::span<const Index> pairs = items(dict);
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2)
    if (kind(pairs[i]) == Kind::Text && text(pairs[i]) == key) return &pairs[i + 1];
  return nullptr;
}

std::string_view Pickle::callable(Index object) const {
  if (kind(object) != Kind::Object || items(object).empty()) return {};
  return text(items(object)[0]);
}

// The stack, the marks and the memo of the machine that a pickle is written for.
class PickleMachine {
 public:
  using Index = Pickle::Index;
  using Kind = Pickle::Kind;

  explicit PickleMachine(ByteReader& reader) : reader_(reader) {}

  Result<Pickle> run() {
    for (std::size_t count = 0; !stopped_; ++count) {
      opcode_offset_ = reader_.position();
      if (count == kMostOpcodes)
        return Error(ErrorCode::OutOfMemory, "The pickle is longer than a checkpoint's")
            .at_offset(opcode_offset_)
            .wanted("at most " + std::to_string(kMostOpcodes) + " opcodes", "more");
      HEADROOM_TRY(const auto opcode, reader_.number<std::uint8_t>("a pickle"));
      if (auto done = execute(opcode); !done) {
        if (!done.error().offset) done.error().at_offset(opcode_offset_);
        return done.error();
      }
    }
    return std::move(pickle_);
  }

 private:
  [[nodiscard]] static Error damaged(const std::string& what) {
    return Error(ErrorCode::Corrupt, "The pickle is damaged: " + what);
  }

  Index add(Kind kind, std::int64_t number = 0) {
    pickle_.values_.push_back({kind, 0, number, {}});
    return static_cast<Index>(pickle_.values_.size() - 1);
  }
  Index add_items(Kind kind, std::vector<Index> items) {
    const Index out = add(kind);
    pickle_.values_[out].items = std::move(items);
    return out;
  }
  Index add_text(Kind kind, std::string_view text) {
    const Index out = add(kind, static_cast<std::int64_t>(pickle_.texts_.size()));
    pickle_.values_[out].text_size = static_cast<std::uint32_t>(text.size());
    pickle_.texts_ += text;
    return out;
  }

  void push(Index value) { stack_.push_back(value); }
  Result<Index> pop() {
    const std::size_t least = marks_.empty() ? 0 : marks_.back();
    if (stack_.size() <= least) return damaged("it takes from an empty stack");
    const Index value = stack_.back();
    stack_.pop_back();
    return value;
  }
  Result<Index> top() {
    const std::size_t least = marks_.empty() ? 0 : marks_.back();
    if (stack_.size() <= least) return damaged("it takes from an empty stack");
    return stack_.back();
  }
  // Everything above the last mark, which goes.
  Result<std::vector<Index>> pop_mark() {
    if (marks_.empty()) return damaged("a mark is missing");
    const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<Index> out(begin, stack_.end());
    stack_.erase(begin, stack_.end());
    marks_.pop_back();
    return out;
  }
  Result<void> push_tuple(std::size_t count) {
    std::vector<Index> items(count);
    for (std::size_t i = count; i-- > 0;) {
      HEADROOM_TRY(items[i], pop());
    }
    push(add_items(Kind::Tuple, std::move(items)));
    return {};
  }

  template <typename Size>
  Result<void> push_text(Kind kind) {
    HEADROOM_TRY(const Size size, reader_.number<Size>("the length of a text"));
    const auto limit = kMostTextBytes - std::min<std::uint64_t>(kMostTextBytes, pickle_.texts_.size());
    HEADROOM_TRY(const std::string text, reader_.text(static_cast<std::uint64_t>(size), limit, "a text of the pickle"));
    push(add_text(kind, text));
    return {};
  }
  template <typename Number>
  Result<void> push_int() {
    HEADROOM_TRY(const Number number, reader_.number<Number>("a number of the pickle"));
    push(add(Kind::Int, static_cast<std::int64_t>(number)));
    return {};
  }
  template <typename Size>
  Result<void> push_long() {
    HEADROOM_TRY(const Size size, reader_.number<Size>("the length of a number"));
    HEADROOM_TRY(const std::string bytes,
                 reader_.text(static_cast<std::uint64_t>(size), kLongestName, "a number of the pickle"));
    if (bytes.size() > sizeof(std::int64_t)) {
      push(add(Kind::Unknown));
      return {};
    }
    // Little-endian, two's complement.
    std::uint64_t value = !bytes.empty() && (static_cast<unsigned char>(bytes.back()) & 0x80) ? ~std::uint64_t{0} : 0;
    for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
    push(add(Kind::Int, static_cast<std::int64_t>(value)));
    return {};
  }

  Result<std::string> line() {
    std::string out;
    for (;;) {
      HEADROOM_TRY(const char c, reader_.number<char>("a name of the pickle"));
      if (c == '\n') return out;
      if (out.size() == kLongestName) return damaged("a name is too long");
      out += c;
    }
  }
  Result<void> push_global(std::string_view module, std::string_view name) {
    if (is_refused(module, name)) {
      return Error(ErrorCode::Corrupt,
                   "The pickle names " + std::string(module) + "." + std::string(name) + ", which no model needs")
          .wanted("tensors, texts and numbers", "a program")
          .advise("nothing of it was run; do not open this file with torch.load");
    }
    push(add_text(Kind::Global, std::string(module) + "." + std::string(name)));
    return {};
  }

  Result<void> set_items(const std::vector<Index>& pairs) {
    if (pairs.size() % 2 != 0) return damaged("a key has no value");
    HEADROOM_TRY(const Index target, top());
    Pickle::Value& value = pickle_.values_[target];
    if (value.kind != Kind::Dict && value.kind != Kind::Object) return damaged("keys are set on what is no dict");
    value.items.insert(value.items.end(), pairs.begin(), pairs.end());
    return {};
  }
  Result<void> append(const std::vector<Index>& items) {
    HEADROOM_TRY(const Index target, top());
    Pickle::Value& value = pickle_.values_[target];
    if (value.kind == Kind::Object) return {};  // a list of a class of its own: what it holds is not looked at
    if (value.kind != Kind::List && value.kind != Kind::Set) return damaged("something is appended to what is no list");
    value.items.insert(value.items.end(), items.begin(), items.end());
    return {};
  }
  // What a call would make: dicts of all kinds are dicts, the rest is kept as what it would be called with.
  Result<void> reduce(bool is_new) {
    HEADROOM_TRY(const Index arguments, pop());
    HEADROOM_TRY(const Index function, pop());
    const std::string_view name = pickle_.text(function);
    if (!is_new && pickle_.kind(arguments) != Kind::Tuple) return damaged("the arguments of a call are no tuple");
    if (name == "collections.OrderedDict" || name == "collections.defaultdict" || name == "builtins.dict" ||
        name == "__builtin__.dict" || name == "collections.Counter") {
      const Index dict = add(Kind::Dict);
      const std::vector<Index> given = pickle_.values_[arguments].items;
      // OrderedDict([[key, value], …]), as Python 2 wrote it.
      if (!given.empty() && (pickle_.kind(given[0]) == Kind::List || pickle_.kind(given[0]) == Kind::Tuple))
        for (const Index pair : pickle_.items(given[0]))
          if (pickle_.items(pair).size() == 2)
            for (const Index item : std::array{pickle_.items(pair)[0], pickle_.items(pair)[1]})
              pickle_.values_[dict].items.push_back(item);
      push(dict);
      return {};
    }
    push(add_items(Kind::Object, {function, arguments}));
    return {};
  }
  Result<void> build() {
    HEADROOM_TRY(const Index state, pop());
    HEADROOM_TRY(const Index target, top());
    Pickle::Value& value = pickle_.values_[target];
    // The state of an object stands under a key of no name; attributes of a dict (`_metadata`) are of no use.
    if (value.kind == Kind::Object) {
      const Index nothing = add(Kind::None);
      pickle_.values_[target].items.insert(pickle_.values_[target].items.end(), {nothing, state});
    }
    return {};
  }
  Result<void> remember(std::uint64_t place) {
    HEADROOM_TRY(const Index value, top());
    memo_[place] = value;
    return {};
  }
  Result<void> recall(std::uint64_t place) {
    const auto found = memo_.find(place);
    if (found == memo_.end()) return damaged("it refers to value " + std::to_string(place) + ", which there is not");
    push(found->second);
    return {};
  }

  Result<void> execute(std::uint8_t opcode) {
    switch (opcode) {
      case 0x80: {
        HEADROOM_TRY(const auto protocol, reader_.number<std::uint8_t>("the protocol"));
        if (protocol < 2 || protocol > 5)
          return Error(ErrorCode::Unsupported, "The pickle has an unknown protocol")
              .wanted("2 to 5", std::to_string(protocol));
        return {};
      }
      case 0x95: {  // FRAME
        HEADROOM_TRY(const auto size, reader_.number<std::uint64_t>("the size of a frame"));
        if (size > reader_.remaining())
          return damaged("a frame of " + std::to_string(size) + " bytes where " + std::to_string(reader_.remaining()) +
                         " are left");
        return {};
      }
      case '.': {
        HEADROOM_TRY(pickle_.root_, pop());
        stopped_ = true;
        return {};
      }
      case '(': marks_.push_back(stack_.size()); return {};
      case '0': {
        if (!marks_.empty() && stack_.size() == marks_.back()) {
          marks_.pop_back();
          return {};
        }
        return drop(pop());
      }
      case '1': return drop(pop_mark());
      case '2': {
        HEADROOM_TRY(const Index value, top());
        push(value);
        return {};
      }
      case 'N': push(add(Kind::None)); return {};
      case 0x88: push(add(Kind::Bool, 1)); return {};
      case 0x89: push(add(Kind::Bool, 0)); return {};
      case 'J': return push_int<std::int32_t>();
      case 'K': return push_int<std::uint8_t>();
      case 'M': return push_int<std::uint16_t>();
      case 0x8A: return push_long<std::uint8_t>();
      case 0x8B: return push_long<std::uint32_t>();
      case 'G': {  // the only number of a pickle with the highest byte first
        HEADROOM_TRY(const auto bits, reader_.number<std::uint64_t>("a number of the pickle"));
        push(add(Kind::Float, static_cast<std::int64_t>(__builtin_bswap64(bits))));
        return {};
      }
      case 'X': return push_text<std::uint32_t>(Kind::Text);
      case 0x8C: return push_text<std::uint8_t>(Kind::Text);
      case 0x8D: return push_text<std::uint64_t>(Kind::Text);
      case 'T': return push_text<std::uint32_t>(Kind::Text);
      case 'U': return push_text<std::uint8_t>(Kind::Text);
      case 'B': return push_text<std::uint32_t>(Kind::Bytes);
      case 'C': return push_text<std::uint8_t>(Kind::Bytes);
      case 0x8E:
      case 0x96: return push_text<std::uint64_t>(Kind::Bytes);
      case ')': return push_tuple(0);
      case 0x85: return push_tuple(1);
      case 0x86: return push_tuple(2);
      case 0x87: return push_tuple(3);
      case 't': return push_collection(Kind::Tuple);
      case 'l': return push_collection(Kind::List);
      case 0x91: return push_collection(Kind::Set);
      case ']': push(add(Kind::List)); return {};
      case 0x8F: push(add(Kind::Set)); return {};
      case '}': push(add(Kind::Dict)); return {};
      case 'd': {
        HEADROOM_TRY(const std::vector<Index> pairs, pop_mark());
        push(add(Kind::Dict));
        return set_items(pairs);
      }
      case 'a': {
        HEADROOM_TRY(const Index item, pop());
        return append({item});
      }
      case 'e':
      case 0x90: {
        HEADROOM_TRY(const std::vector<Index> items, pop_mark());
        return append(items);
      }
      case 's': {
        HEADROOM_TRY(const Index value, pop());
        HEADROOM_TRY(const Index key, pop());
        return set_items({key, value});
      }
      case 'u': {
        HEADROOM_TRY(const std::vector<Index> pairs, pop_mark());
        return set_items(pairs);
      }
      case 'c': {
        HEADROOM_TRY(const std::string module, line());
        HEADROOM_TRY(const std::string name, line());
        return push_global(module, name);
      }
      case 0x93: {
        HEADROOM_TRY(const Index name, pop());
        HEADROOM_TRY(const Index module, pop());
        if (pickle_.kind(name) != Kind::Text || pickle_.kind(module) != Kind::Text)
          return damaged("the name of a function is no text");
        return push_global(std::string(pickle_.text(module)), std::string(pickle_.text(name)));
      }
      case 'R': return reduce(false);
      case 0x81: return reduce(true);
      case 0x92: {  // NEWOBJ_EX: class, arguments, keywords
        HEADROOM_TRY_VOID(drop(pop()));
        return reduce(true);
      }
      case 'b': return build();
      case 'Q': {
        HEADROOM_TRY(const Index id, pop());
        push(add_items(Kind::Persistent, {id}));
        return {};
      }
      case 'q': {
        HEADROOM_TRY(const auto place, reader_.number<std::uint8_t>("a place of the memo"));
        return remember(place);
      }
      case 'r': {
        HEADROOM_TRY(const auto place, reader_.number<std::uint32_t>("a place of the memo"));
        return remember(place);
      }
      case 0x94: return remember(memo_.size());
      case 'h': {
        HEADROOM_TRY(const auto place, reader_.number<std::uint8_t>("a place of the memo"));
        return recall(place);
      }
      case 'j': {
        HEADROOM_TRY(const auto place, reader_.number<std::uint32_t>("a place of the memo"));
        return recall(place);
      }
      default: break;
    }
    return damaged(format("opcode 0x%02X is not one of protocol 2 to 5", opcode));
  }

  template <typename Value>
  static Result<void> drop(Result<Value> value) {
    if (!value) return value.error();
    return {};
  }
  Result<void> push_collection(Kind kind) {
    HEADROOM_TRY(std::vector<Index> items, pop_mark());
    push(add_items(kind, std::move(items)));
    return {};
  }

  ByteReader& reader_;
  Pickle pickle_;
  std::vector<Index> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::uint64_t, Index> memo_;
  std::uint64_t opcode_offset_ = 0;
  bool stopped_ = false;
};

Result<Pickle> Pickle::read(ByteReader& reader) { return PickleMachine(reader).run(); }

}  // namespace headroom
