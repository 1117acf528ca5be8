#include "core/corpus/paired.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "core/base/format.h"
#include "core/base/many_tests.h"
#include "core/base/student.h"
#include "core/checkpoint/strict_json.h"
#include "core/io/corpus_schema.h"

namespace headroom {
namespace {

// What a file says of its sequences, and which of them the other has too.
struct PairedSide {
  const RunFile& file;
  std::vector<double> numbers, documents;
  std::vector<std::size_t> common;  // places of the sequences that both have, ascending
};

Error unlike(const char* message, const std::string& a, const std::string& b) {
  return Error(ErrorCode::InvalidArgument, message).wanted(a, b);
}

Result<void> check_same_ids(const RunFile& a, const RunFile& b) {
  HEADROOM_TRY(const std::string ids_a, a.root_attribute("ids_sha256"));
  HEADROOM_TRY(const std::string ids_b, b.root_attribute("ids_sha256"));
  if (ids_a == ids_b) return {};
  std::string what_a = "ids_sha256 " + ids_a, what_b = "ids_sha256 " + ids_b;
  for (const char* name : {"length", "sequences", "data", "bos", "order", "seed", "pieces", "stride", "split"}) {
    const auto one = a.root_attribute(name), other = b.root_attribute(name);
    if (!one || !other || *one == *other) continue;
    what_a += std::string(", ") + name + " " + *one, what_b += std::string(", ") + name + " " + *other;
  }
  return unlike("the corpora are of other sequences", what_a, what_b)
      .advise("run both with the same --plan; --rtol and --atol compare any two files");
}

Result<PairedSide> read_side(const RunFile& file) {
  PairedSide side{file, {}, {}, {}};
  HEADROOM_TRY(side.numbers, file.read_axis("sequences/sequence"));
  HEADROOM_TRY(side.documents, file.read("sequences/document"));
  if (side.numbers.size() == side.documents.size() &&
      std::ranges::adjacent_find(side.numbers, std::ranges::greater_equal()) == side.numbers.end())
    return side;
  return Error(ErrorCode::Corrupt, "a corpus does not say which sequences it has").at_tensor("sequences/sequence");
}

std::string text_of(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>()
                           : value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::vector<PairedCorpora::Difference> other_settings(const RunFile& a, const RunFile& b) {
  std::vector<PairedCorpora::Difference> differences;
  const auto said = [](const RunFile& file) {
    const auto text = file.root_attribute("settings");
    auto parsed = text ? parse_json(*text) : Result<nlohmann::json>(nlohmann::json::object());
    return parsed && parsed->is_object() ? std::move(*parsed) : nlohmann::json::object();
  };
  const nlohmann::json one = said(a), other = said(b);
  std::set<std::string> names;
  for (const nlohmann::json* side : {&one, &other})
    for (const auto& [name, value] : side->items()) names.insert(name);
  for (const std::string& name : names) {
    const nlohmann::json va = one.value(name, nlohmann::json()), vb = other.value(name, nlohmann::json());
    if (va != vb) differences.push_back({name, text_of(va), text_of(vb)});
  }
  return differences;
}

class CorpusPairing {
 public:
  CorpusPairing(PairedSide a, PairedSide b, const std::function<bool()>& stop, std::span<const std::string_view> only)
      : a_(std::move(a)), b_(std::move(b)), stop_(stop), only_(only) {}

  Result<PairedCorpora> run() {
    HEADROOM_TRY_VOID(pair());
    found_.settings = other_settings(a_.file, b_.file);
    HEADROOM_TRY(const std::vector<double> layers_a, a_.file.read_axis("layer"));
    HEADROOM_TRY(const std::vector<double> layers_b, b_.file.read_axis("layer"));
    HEADROOM_TRY(const std::vector<double> heads_a, a_.file.read_axis("head"));
    HEADROOM_TRY(const std::vector<double> heads_b, b_.file.read_axis("head"));
    same_heads_ = layers_a == layers_b && heads_a == heads_b;
    if (same_heads_) {
      found_.layers.assign(layers_a.begin(), layers_a.end());
      found_.heads.assign(heads_a.begin(), heads_a.end());
    }
    HEADROOM_TRY_VOID(take("sequences/next_token_loss"));
    HEADROOM_TRY(const std::vector<double> epsilons, a_.file.read_axis("epsilon"));
    HEADROOM_TRY(const std::vector<double> epsilons_b, b_.file.read_axis("epsilon"));
    if (epsilons == epsilons_b) {
      found_.epsilons = epsilons;
      HEADROOM_TRY_VOID(take("sequences/sink_rate"));
    } else {
      leave_out("sequences/sink_rate", "the files have other --epsilon");
    }
    for (const DatasetInfo& info : a_.file.datasets())
      if (info.path.starts_with("sequences/") && info.axes.size() >= 3 && info.axes[1] == "layer" &&
          info.type == ElementType::Float32 && is_wanted(info.path))
        HEADROOM_TRY_VOID(take(info.path));
    for (const DatasetInfo& info : b_.file.datasets())
      if (info.path.starts_with("sequences/") && info.type == ElementType::Float32 &&
          a_.file.find(info.path) == nullptr && is_wanted(info.path))
        leave_out(info.path, "only B keeps it");
    return std::move(found_);
  }

 private:
  [[nodiscard]] bool is_wanted(std::string_view path) const {
    return only_.empty() || std::ranges::find(only_, path.substr(path.find('/') + 1)) != only_.end();
  }

  // The sequences that both have, which must be of the same documents.
  Result<void> pair() {
    std::vector<std::int64_t> documents;
    for (std::size_t i = 0, j = 0; i < a_.numbers.size() && j < b_.numbers.size();) {
      if (a_.numbers[i] != b_.numbers[j]) {
        ++(a_.numbers[i] < b_.numbers[j] ? i : j);
        continue;
      }
      if (a_.documents[i] != b_.documents[j])
        return unlike("the corpora cut the same sequences from other documents",
                      format("sequence %.0f of document %.0f", a_.numbers[i], a_.documents[i]),
                      format("of document %.0f", b_.documents[j]));
      documents.push_back(static_cast<std::int64_t>(a_.documents[i]));
      a_.common.push_back(i++), b_.common.push_back(j++);
    }
    if (documents.empty()) return unlike("the files have no sequence in common", range_of(a_), range_of(b_));
    statistics_.emplace(documents, std::uint64_t{0});
    documents_ = std::move(documents);
    found_.sequences = std::ssize(documents_);
    found_.documents = statistics_->documents();
    found_.sequences_a = std::ssize(a_.numbers), found_.sequences_b = std::ssize(b_.numbers);
    return {};
  }

  static std::string range_of(const PairedSide& side) {
    return side.numbers.empty() ? "none" : format("%.0f to %.0f", side.numbers.front(), side.numbers.back());
  }

  void leave_out(std::string_view path, const char* why) {
    found_.left_out.push_back(std::string(path.substr(path.find('/') + 1)) + ": " + why);
  }

  Result<void> take(const std::string& path) {
    if (stop_ && stop_()) return Error(ErrorCode::Cancelled, "cancelled");
    const DatasetInfo* const in_a = a_.file.find(path);
    const DatasetInfo* const in_b = b_.file.find(path);
    if (in_a == nullptr || in_b == nullptr) {
      leave_out(path, in_a == nullptr ? "only B keeps it" : "only A keeps it");
      return {};
    }
    const bool of_heads = in_a->axes.size() > 1 && in_a->axes[1] == "layer";
    const std::span<const std::int64_t> shape(in_a->shape), other(in_b->shape);
    if ((of_heads && !same_heads_) || in_a->axes != in_b->axes || shape.empty() || other.empty() ||
        !std::ranges::equal(shape.subspan(1), other.subspan(1))) {
      leave_out(path, of_heads && !same_heads_ ? "the files have other layers or heads" : "its axes differ");
      return {};
    }
    if (shape[0] != std::ssize(a_.numbers) || other[0] != std::ssize(b_.numbers))
      return Error(ErrorCode::Corrupt, "a corpus has not a value for each of its sequences").at_tensor(path);
    PairedQuantity quantity;
    quantity.name = path.substr(path.find('/') + 1);
    quantity.axes.assign(in_a->axes.begin() + 1, in_a->axes.end());
    quantity.shape.assign(shape.begin() + 1, shape.end());
    HEADROOM_TRY_VOID(of_heads ? by_layer(path, quantity) : at_once(path, quantity));
    adjust(quantity);
    found_.quantities.push_back(std::move(quantity));
    return {};
  }

  // Values of the common sequences, [sequences, columns].
  static Result<std::vector<double>> values_of(const PairedSide& side, const std::string& path,
                                               std::span<const std::int64_t> start,
                                               std::span<const std::int64_t> count) {
    HEADROOM_TRY(std::vector<double> all, side.file.read_part(path, start, count));
    const std::size_t columns = all.size() / side.numbers.size();
    std::vector<double> common;
    common.reserve(columns * side.common.size());
    for (const std::size_t s : side.common)
      common.insert(common.end(), all.begin() + static_cast<std::ptrdiff_t>(s * columns),
                    all.begin() + static_cast<std::ptrdiff_t>((s + 1) * columns));
    return common;
  }

  struct Values {
    std::vector<double> a, b;
  };
  Result<Values> both(const std::string& path, std::vector<std::int64_t> start, std::vector<std::int64_t> count) const {
    Values values;
    count[0] = std::ssize(a_.numbers);
    HEADROOM_TRY(values.a, values_of(a_, path, start, count));
    count[0] = std::ssize(b_.numbers);
    HEADROOM_TRY(values.b, values_of(b_, path, start, count));
    return values;
  }

  Result<void> at_once(const std::string& path, PairedQuantity& quantity) {
    std::vector<std::int64_t> count = {0};
    count.insert(count.end(), quantity.shape.begin(), quantity.shape.end());
    HEADROOM_TRY(const Values values, both(path, std::vector<std::int64_t>(count.size(), 0), count));
    quantity.changes = changes_of(values);
    return {};
  }

  Result<void> by_layer(const std::string& path, PairedQuantity& quantity) {
    std::size_t places = 1;  // behind layer and head
    for (std::size_t axis = 2; axis < quantity.shape.size(); ++axis)
      places *= static_cast<std::size_t>(quantity.shape[axis]);
    const auto sequences = documents_.size(), heads = static_cast<std::size_t>(quantity.shape[1]);
    // Sums over heads that have the number in both, and how many these are.
    Values sums{std::vector<double>(sequences * places, 0.0), std::vector<double>(sequences * places, 0.0)};
    std::vector<double> with_both(sequences * places, 0.0);
    std::vector<std::int64_t> start(quantity.shape.size() + 1, 0), count = {0, 1};
    count.insert(count.end(), quantity.shape.begin() + 1, quantity.shape.end());
    for (std::int64_t layer = 0; layer < quantity.shape[0]; ++layer) {
      if (stop_ && stop_()) return Error(ErrorCode::Cancelled, "cancelled");
      start[1] = layer;
      HEADROOM_TRY(const Values values, both(path, start, count));
      for (std::size_t s = 0; s < sequences; ++s)
        for (std::size_t h = 0; h < heads; ++h)
          for (std::size_t p = 0; p < places; ++p) {
            const std::size_t from = (s * heads + h) * places + p, to = s * places + p;
            if (std::isnan(values.b[from] - values.a[from])) continue;
            sums.a[to] += values.a[from], sums.b[to] += values.b[from];
            with_both[to] += 1.0;
          }
      const std::vector<PairedChange> some = changes_of(values);
      quantity.changes.insert(quantity.changes.end(), some.begin(), some.end());
    }
    for (std::size_t i = 0; i < with_both.size(); ++i)
      sums.a[i] /= with_both[i], sums.b[i] /= with_both[i];  // NaN for none
    quantity.over_heads = changes_of(sums);
    return {};
  }

  // Of each column, its q aside.
  [[nodiscard]] std::vector<PairedChange> changes_of(const Values& values) const {
    const std::size_t sequences = documents_.size(), columns = values.a.size() / sequences;
    std::vector<double> differences(values.a.size());
    // Equal infinities differ by 0.
    for (std::size_t i = 0; i < differences.size(); ++i)
      differences[i] = values.b[i] == values.a[i] ? 0.0 : values.b[i] - values.a[i];
    const std::vector<StatisticValues> statistics = statistics_->compute(differences, columns);
    std::vector<PairedChange> changes(columns);
    std::set<std::int64_t> with_values;
    for (std::size_t c = 0; c < columns; ++c) {
      PairedChange& change = changes[c];
      change.change = statistics[c];
      with_values.clear();
      double sum_a = 0.0, sum_b = 0.0;
      for (std::size_t s = 0; s < sequences; ++s) {
        if (std::isnan(differences[s * columns + c])) {
          if (!std::isnan(values.a[s * columns + c]) || !std::isnan(values.b[s * columns + c])) ++change.in_one;
          continue;
        }
        with_values.insert(documents_[s]);
        sum_a += values.a[s * columns + c], sum_b += values.b[s * columns + c];
      }
      const double n = of(change.change, Statistic::Count);
      if (n > 0.0) change.mean_a = sum_a / n, change.mean_b = sum_b / n;
      const double error = of(change.change, Statistic::StandardError);
      if (!(error > 0.0) || !std::isfinite(error)) continue;  // equal to the last bit: nothing to test
      const double degrees = static_cast<double>(with_values.size()) - 1.0;
      change.p = student_two_sided(of(change.change, Statistic::Mean) / error, degrees);
      auto [effect, missing] = effects_.try_emplace(with_values.size(), 0.0);
      if (missing) effect->second = student_detectable(degrees, PairedChange::kLevel, PairedChange::kPower);
      change.detectable = effect->second * error;
    }
    return changes;
  }

  // Heads are tested together, at each place of the axes behind them.
  static void adjust(PairedQuantity& quantity) {
    if (!quantity.by_head()) return;
    const auto heads = static_cast<std::size_t>(quantity.shape[0] * quantity.shape[1]);
    const std::size_t places = heads == 0 ? 0 : quantity.changes.size() / heads;
    std::vector<double> p(heads);
    for (std::size_t place = 0; place < places; ++place) {
      for (std::size_t h = 0; h < heads; ++h) p[h] = quantity.changes[h * places + place].p;
      const std::vector<double> q = benjamini_hochberg(p);
      for (std::size_t h = 0; h < heads; ++h) quantity.changes[h * places + place].q = q[h];
    }
  }

  PairedSide a_, b_;
  const std::function<bool()>& stop_;
  const std::span<const std::string_view> only_;
  bool same_heads_ = false;
  std::vector<std::int64_t> documents_;            // of the common sequences
  std::optional<SequenceStatistics> statistics_;   // of these
  mutable std::map<std::size_t, double> effects_;  // in standard errors, by the number of documents
  PairedCorpora found_;
};

}  // namespace

bool PairedCorpora::equal() const {
  return std::ranges::all_of(quantities, [](const PairedQuantity& quantity) {
    return std::ranges::all_of(quantity.changes, [](const PairedChange& change) {
      const double least = of(change.change, Statistic::Least), most = of(change.change, Statistic::Most);
      return change.in_one == 0 && (of(change.change, Statistic::Count) == 0.0 || (least == 0.0 && most == 0.0));
    });
  });
}

Result<PairedCorpora> compare_corpora(const RunFile& a, const RunFile& b, const std::function<bool()>& stop,
                                      std::span<const std::string_view> only) {
  HEADROOM_TRY_VOID(check_same_ids(a, b));
  HEADROOM_TRY(PairedSide side_a, read_side(a));
  HEADROOM_TRY(PairedSide side_b, read_side(b));
  return CorpusPairing(std::move(side_a), std::move(side_b), stop, only).run();
}

}  // namespace headroom
