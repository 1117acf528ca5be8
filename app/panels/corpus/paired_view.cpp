#include "app/panels/corpus/paired_view.h"

#include <algorithm>
#include <cmath>

#include "core/base/number_text.h"
#include "core/model/head_address.h"
#include "core/run/number_digits.h"

namespace headroom {

std::optional<PairedView> paired_view(const State& state) {
  const RunEntry *const a = state.shown(), *const b = state.other();
  if (a == nullptr || b == nullptr || !a->corpus || !b->corpus) return {};
  PairedView view{*a,      *b, a->corpus.paired_with == b->id ? a->corpus.paired.get() : nullptr, {}, {}, nullptr,
                  nullptr, ""};
  const auto ref = parse_quantity(atlas_quantity(state.view));
  if (!ref) {
    view.why = "There is no quantity of this name: choose one at the left.";
    return view;
  }
  view.ref = *ref;
  if (a->corpus.growing() || b->corpus.growing()) {
    view.why = "One of the two is still being run: it is compared once it is a file.";
    return view;
  }
  if (view.pairs == nullptr) {
    view.why = a->corpus.not_paired.empty() ? "The two corpora are being compared." : a->corpus.not_paired;
    return view;
  }
  const std::size_t heads = a->corpus.file->layers.size() * a->corpus.file->heads.size();
  for (const PairedQuantity& quantity : view.pairs->quantities) {
    if (quantity.name == "next_token_loss" && quantity.changes.size() == 1) view.loss = &quantity.changes.front();
    if (quantity.name != ref->info->name || !quantity.by_head()) continue;
    const std::size_t elements = ref->info->elements();
    if (quantity.changes.size() != heads * elements) continue;
    for (std::size_t place = 0; place < heads; ++place)
      view.changes.push_back(&quantity.changes[place * elements + ref->index]);
    if (ref->index < quantity.over_heads.size()) view.over_heads = &quantity.over_heads[ref->index];
  }
  if (view.changes.empty())
    view.why =
        "Not both files keep this quantity of every sequence, or their heads are others: --keep " + ref->info->name;
  return view;
}

std::vector<std::size_t> changed_places(const PairedView& view) {
  std::vector<std::size_t> places;
  for (std::size_t place = 0; place < view.changes.size(); ++place)
    if (std::isfinite(mean_change(*view.changes[place]))) places.push_back(place);
  return places;
}

std::string PairedView::number(double value, double uncertainty) const {
  if (ref.info == nullptr || !std::isfinite(value)) return "–";
  return signed_text(shown_value(*ref.info, value),
                     std::max(ref.info->decimals + 1, decimals_by(*ref.info, uncertainty)));
}

double half_of(const PairedChange& change) {
  return 0.5 * (of(change.change, Statistic::CiHigh) - of(change.change, Statistic::CiLow));
}

std::string p_text(double p) {
  if (!std::isfinite(p)) return "–";
  return p < 1e-4 ? "< " + power_text(-4) : fixed_text(p, p < 0.001 ? 4 : 3);
}

std::string change_sentence(const PairedView& view, const PairedChange& change) {
  const double mean = mean_change(change);
  if (!std::isfinite(mean)) return "no sequence has both";
  const double half = half_of(change);
  std::string text = view.number(mean, half);
  const double low = of(change.change, Statistic::CiLow), high = of(change.change, Statistic::CiHigh);
  if (std::isfinite(low) && std::isfinite(high))
    text += ", 95 % " + view.number(low, half) + " … " + view.number(high, half);
  if (std::isfinite(change.p)) text += ", p " + p_text(change.p);
  return text;
}

}  // namespace headroom
