#include "app/panels/corpus/corpus_view.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "app/session/head_threshold.h"
#include "core/base/number_text.h"
#include "core/base/numbers.h"
#include "core/model/head_address.h"
#include "core/run/number_digits.h"

namespace headroom {
namespace {

constexpr std::size_t kDocumentColors = 8;

}  // namespace

std::optional<CorpusView> corpus_view(const State& state) {
  const CorpusEntry* const corpus = state.corpus();
  if (corpus == nullptr || !corpus->statistics) return {};
  CorpusView view{*corpus, *corpus->file, {}, {}, {}, kNaN, {}, state.view.corpus.bootstrap, nullptr};
  if (const auto head = state.view.selection.head) view.head = place_of(view.file.layers, view.file.heads, *head);
  const auto ref = parse_quantity(state.view.heads.quantity);
  if (!ref) return view;
  view.ref = *ref;
  view.intervals = corpus_intervals(*corpus, view.ref, view.bootstrap);
  view.level = threshold_of(view.ref.info, state.view.heads);
  if (view.ref.info->sink_null) view.null = view.file.sink_null;
  view.values = values_of(*corpus, view.ref);
  return view;
}

bool CorpusView::any_interval() const {
  return std::ranges::any_of(intervals.low, [](double low) { return std::isfinite(low); });
}

double CorpusView::statistic(Statistic which, std::size_t place) const {
  const auto found =
      ref.info == nullptr ? corpus.statistics->quantities.end() : corpus.statistics->quantities.find(ref.info->name);
  if (found == corpus.statistics->quantities.end()) return kNaN;
  const std::size_t heads = file.layers.size() * file.heads.size();
  return found->second[(static_cast<std::size_t>(which) * heads + place) * ref.info->elements() + ref.index];
}

std::string CorpusView::number(double value, double uncertainty) const {
  return ref.info == nullptr ? std::string("–") : number_text(*ref.info, value, decimals_by(*ref.info, uncertainty));
}

std::string CorpusView::half_text(std::size_t place) const {
  const double half = intervals.half(place);
  return std::isfinite(half) ? "± " + number(half, half) : std::string();
}

std::string so_far_text(const CorpusView& view) {
  return corpus_size_text(view.file) + (view.corpus.growing() ? " so far" : "");
}

std::string interval_kind_text(const CorpusView& view) {
  if (view.file.sequences() == 1) return "one sequence: no interval";
  if (view.file.documents() == 1) return "one document: no interval";
  if (!view.any_interval()) {
    if (!view.bootstrap) return "no intervals: the file kept no sequences";
    return view.corpus.growing() ? "no bootstrap intervals before it is done" : "no bootstrap intervals in the file";
  }
  return view.bootstrap ? "95 % bootstrap interval" : "95 % t interval";
}

bool few_documents(const CorpusView& view) { return view.file.documents() == 2 && view.file.sequences() > 1; }

bool documents_have_colors(const CorpusView& view) {
  return view.file.document_names.size() <= kDocumentColors && view.file.document_names.size() > 1;
}

Color document_color(const Theme& theme, const CorpusView& view, std::int64_t document) {
  if (!documents_have_colors(view)) return theme.text2;
  const std::array<Color, kDocumentColors> colors{theme.second, theme.first, theme.ok,    theme.lambda,
                                                  theme.kappa,  theme.err,   theme.text2, theme.warn};
  return colors[static_cast<std::size_t>(document) % kDocumentColors];
}

std::string why_no_values(const CorpusView& view) {
  if (view.values) return "";
  if (view.ref.info == nullptr) return "There is no quantity of this name.";
  if (!view.file.keeps(view.ref.info->name))
    return "The file keeps no numbers of single sequences of this quantity: --keep " + view.ref.info->name;
  return view.corpus.failed.empty() ? "The numbers of its sequences are being read." : view.corpus.failed;
}

std::optional<std::size_t> chosen_sequence(const State& state, const CorpusView& view) {
  return state.view.corpus.sequence ? view.file.find(*state.view.corpus.sequence) : std::nullopt;
}

std::optional<std::size_t> pointed_sequence(const State& state, const CorpusView& view) {
  if (state.hover.sequence) return view.file.find(*state.hover.sequence);
  return chosen_sequence(state, view);
}

}  // namespace headroom
