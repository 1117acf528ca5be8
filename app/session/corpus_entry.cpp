#include "app/session/corpus_entry.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <span>
#include <utility>

#include "core/base/number_text.h"
#include "core/base/numbers.h"
#include "core/base/parse_number.h"

namespace headroom {
namespace {

// Lines of cells, as the table of heads has them.
class TableText {
 public:
  explicit TableText(TableFormat format) : format_(format) {}
  void line(const std::vector<std::string>& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) text_ += format_ == TableFormat::Csv ? ',' : '\t';
      std::string cell = cells[i];
      if (format_ == TableFormat::Csv)
        cell = csv_text(cell);
      else
        std::ranges::replace_if(cell, [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
      text_ += cell;
    }
    text_ += '\n';
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  TableFormat format_;
  std::string text_;
};

// What a sequence is sorted by; NaN: it has no such number.
std::vector<double> sort_keys(const CorpusEntry& corpus, const CorpusValues* values, CorpusSort sort,
                              std::optional<std::size_t> head, const std::vector<std::int64_t>& over) {
  const OpenedCorpus& file = *corpus.file;
  std::vector<double> keys(file.number.size(), kNaN);
  for (std::size_t s = 0; s < keys.size(); ++s) {
    switch (sort) {
      case CorpusSort::Sequence: keys[s] = static_cast<double>(s); break;
      case CorpusSort::Document: keys[s] = static_cast<double>(file.document[s]); break;
      case CorpusSort::Loss: keys[s] = corpus.statistics ? corpus.statistics->losses[s] : kNaN; break;
      case CorpusSort::Over: keys[s] = s < over.size() ? static_cast<double>(over[s]) : kNaN; break;
      case CorpusSort::Value: keys[s] = values && head ? static_cast<double>(values->of_head(*head)[s]) : kNaN; break;
      case CorpusSort::Robust: keys[s] = values && head ? values->robust_z(*head, s) : kNaN; break;
      case CorpusSort::Off: keys[s] = values ? values->off[s] : kNaN; break;
    }
  }
  return keys;
}

}  // namespace

std::int64_t shown_step(const OpenedCorpus& corpus, const CorpusState& view) {
  if (corpus.steps.empty()) return -1;
  if (!view.step) return std::ssize(corpus.steps) - 1;
  // The last one that is not later.
  const auto after = std::ranges::upper_bound(corpus.steps, *view.step);
  return std::max<std::int64_t>(0, after - corpus.steps.begin() - 1);
}

CorpusIntervals corpus_intervals(const CorpusEntry& corpus, const QuantityRef& ref, bool bootstrap) {
  CorpusIntervals intervals;
  if (!corpus.file || !corpus.statistics) return intervals;
  const auto column = [&](Statistic which) { return corpus_column(*corpus.file, *corpus.statistics, ref, which); };
  intervals.mean = column(Statistic::Mean);
  intervals.low = column(bootstrap ? Statistic::BootstrapLow : Statistic::CiLow);
  intervals.high = column(bootstrap ? Statistic::BootstrapHigh : Statistic::CiHigh);
  return intervals;
}

IntervalCounts count_intervals(const CorpusIntervals& intervals, double level) {
  IntervalCounts counts;
  for (std::size_t head = 0; head < intervals.mean.size(); ++head) {
    if (!std::isfinite(intervals.low[head]) || !std::isfinite(intervals.high[head]))
      ++counts.none;
    else if (crosses(intervals, head, level))
      ++counts.cross;
    else
      ++(intervals.low[head] > level ? counts.above : counts.below);
  }
  return counts;
}

std::shared_ptr<const RunSnapshot> filled_snapshot(const CorpusEntry& corpus, const CorpusFill& fill) {
  auto run = corpus_snapshot(*corpus.file, *corpus.statistics, fill.statistic);
  const Result<QuantityRef> ref = parse_quantity(fill.share_of);
  if (!ref) return run;
  auto filled = std::make_shared<RunSnapshot>(*run);
  const std::size_t heads = filled->heads.size(), elements = ref->info->elements();
  std::vector<double> shares(filled->data.size() * heads, kNaN);
  if (fill.values) shares = shares_over(*fill.values, fill.level);
  for (std::size_t l = 0; l < filled->data.size(); ++l) {
    auto layer = std::make_shared<LayerSnapshot>(*filled->data[l]);
    std::vector<double>& summary = layer->summary[ref->info->name];
    summary.resize(heads * elements, kNaN);
    for (std::size_t h = 0; h < heads; ++h) summary[h * elements + ref->index] = shares[l * heads + h];
    filled->data[l] = std::move(layer);
  }
  return filled;
}

std::shared_ptr<const CorpusValues> values_of(const CorpusEntry& corpus, const QuantityRef& ref) {
  const bool there = corpus.values && corpus.statistics && corpus.values->step == corpus.statistics->step &&
                     corpus.values->quantity == quantity_text(ref);
  return there ? corpus.values : nullptr;
}

std::shared_ptr<const CorpusRows> rows_of(const CorpusEntry& corpus, std::size_t head) {
  const bool there =
      corpus.rows && corpus.statistics && corpus.rows->step == corpus.statistics->step && corpus.rows->head == head;
  return there ? corpus.rows : nullptr;
}

std::vector<double> shares_over(const CorpusValues& values, double level) {
  const std::size_t heads = values.sequences > 0 ? values.values.size() / values.sequences : 0;
  std::vector<double> shares(heads, kNaN);
  for (std::size_t head = 0; head < heads; ++head) {
    std::int64_t known = 0, over = 0;
    for (const float value : values.of_head(head)) {
      known += std::isfinite(value) ? 1 : 0;
      over += static_cast<double>(value) > level ? 1 : 0;
    }
    if (known > 0) shares[head] = static_cast<double>(over) / static_cast<double>(known);
  }
  return shares;
}

std::vector<std::int64_t> heads_over(const CorpusValues& values, double level) {
  std::vector<std::int64_t> over(values.sequences, 0);
  const std::size_t heads = values.sequences > 0 ? values.values.size() / values.sequences : 0;
  for (std::size_t head = 0; head < heads; ++head) {
    const std::span<const float> own = values.of_head(head);
    for (std::size_t s = 0; s < own.size(); ++s) over[s] += static_cast<double>(own[s]) > level ? 1 : 0;
  }
  return over;
}

std::vector<std::size_t> sorted_sequences(const CorpusEntry& corpus, const CorpusValues* values,
                                          const CorpusState& view, std::optional<std::size_t> head,
                                          const std::vector<std::int64_t>& over) {
  if (!corpus.file) return {};
  std::vector<std::size_t> order(corpus.file->number.size());
  std::iota(order.begin(), order.end(), 0);
  const std::vector<double> keys = sort_keys(corpus, values, view.sort, head, over);
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    if (std::isnan(keys[a]) || std::isnan(keys[b])) return !std::isnan(keys[a]) && std::isnan(keys[b]);
    return view.descending ? keys[a] > keys[b] : keys[a] < keys[b];
  });
  return order;
}

std::string sequence_name(const OpenedCorpus& corpus, std::size_t sequence) {
  return "S" + std::to_string(corpus.number[sequence]);
}

std::optional<std::int64_t> parse_sequence_name(std::string_view text) {
  if (text.size() < 2 || (text.front() != 'S' && text.front() != 's')) return {};
  return parse_index(text.substr(1));
}

std::string document_title(const OpenedCorpus& corpus, std::size_t document) {
  return std::filesystem::path(corpus.document_names[document]).filename().string();
}

std::string corpus_size_text(const OpenedCorpus& corpus) {
  return grouped_text(corpus.sequences()) + (corpus.sequences() == 1 ? " sequence of " : " sequences of ") +
         grouped_text(corpus.documents()) + (corpus.documents() == 1 ? " document" : " documents");
}

std::string sequence_table_text(const CorpusEntry& corpus, const CorpusValues* values,
                                const std::vector<std::size_t>& order, std::optional<HeadRef> head,
                                const std::vector<std::int64_t>& over, std::optional<double> level,
                                TableFormat format) {
  const OpenedCorpus& file = *corpus.file;
  const auto place = head ? place_of(file.layers, file.heads, *head) : std::nullopt;
  TableText table(format);
  const std::string of = values ? values->quantity : "value";
  table.line({"sequence", "document", "piece", "token_start", "next_token_loss", "heads_over", "threshold",
              head ? of + " " + head_text(*head) : of, "robust_z", "outlier", "heads_off"});
  for (const std::size_t s : order) {
    const bool known = values && place;
    table.line({std::to_string(file.number[s]), file.document_names[static_cast<std::size_t>(file.document[s])],
                std::to_string(file.piece[s]), std::to_string(file.token_start[s]),
                full_text(corpus.statistics ? corpus.statistics->losses[s] : kNaN),
                over.empty() ? "nan" : std::to_string(over[s]), full_text(level.value_or(kNaN)),
                full_text(known ? static_cast<double>(values->of_head(*place)[s]) : kNaN),
                full_text(known ? values->robust_z(*place, s) : kNaN),
                known ? (values->outlier(*place, s) ? "1" : "0") : "nan", full_text(values ? values->off[s] : kNaN)});
  }
  return table.take();
}

std::string statistics_table_text(const CorpusEntry& corpus, const QuantityRef& ref, TableFormat format) {
  const OpenedCorpus& file = *corpus.file;
  TableText table(format);
  std::vector<std::string> names{"layer", "head", "kind"};
  std::vector<std::vector<double>> columns;
  for (std::size_t i = 0; i < kStatistics; ++i) {
    names.push_back(quantity_text(ref) + "." + statistic_names()[i]);
    columns.push_back(corpus_column(file, *corpus.statistics, ref, static_cast<Statistic>(i)));
  }
  table.line(names);
  for (std::size_t place = 0; place < file.layers.size() * file.heads.size(); ++place) {
    const HeadRef head = head_at(file.layers, file.heads, place);
    std::vector<std::string> cells{std::to_string(head.layer), std::to_string(head.head),
                                   file.kinds[place / file.heads.size()]};
    for (const std::vector<double>& column : columns) cells.push_back(full_text(column[place]));
    table.line(cells);
  }
  return table.take();
}

}  // namespace headroom
