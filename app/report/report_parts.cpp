#include "app/report/report_parts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "app/figures/head_bounds.h"
#include "app/figures/head_series.h"
#include "app/plot/token_text.h"
#include "core/base/number_text.h"
#include "core/base/numbers.h"
#include "core/io/run_file.h"
#include "core/run/head_table.h"
#include "core/run/head_values.h"
#include "core/run/quantity_info.h"
#include "core/run/stored_map.h"

namespace headroom {
namespace {

constexpr std::size_t kMostTextTokens = 400;
constexpr std::int64_t kMapCells = 96;
constexpr std::size_t kMostMapBytes = 3'000'000;

// Marks of rich_text.h as they are.
std::string literal(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '*' || c == '\\' || c == '_' || c == '^') out += '\\';
    out += c;
  }
  return out;
}

std::string count_text(std::int64_t count, const char* what) {
  return grouped_text(count) + " " + what + (count == 1 ? "" : "s");
}

// The best three digits that 16 bits hold of a weight, whatever its size: sign, and log₁₀ from −12 to 0 in 32 766
// steps. 0 is 0; 0xFFFF: no value.
std::uint16_t weight_code(double value) {
  if (!std::isfinite(value)) return 0xFFFF;
  const double size = std::abs(value);
  if (size < 1e-12) return 0;
  const double step = std::round((std::log10(std::min(size, 1.0)) + 12.0) / 12.0 * 32765.0);
  return static_cast<std::uint16_t>((static_cast<std::uint32_t>(step) + 1) | (value < 0.0 ? 0x8000u : 0u));
}

struct Spread {
  double mean = kNaN, lower = kNaN, median = kNaN, upper = kNaN;
  std::int64_t heads = 0;
};

Spread spread_of(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  Spread spread;
  spread.heads = std::ssize(values);
  if (values.empty()) return spread;
  double sum = 0.0;
  for (const double value : values) sum += value;
  spread.mean = sum / static_cast<double>(values.size());
  const std::vector<double> points = quantiles(std::move(values), {0.25, 0.5, 0.75});
  spread.lower = points[0], spread.median = points[1], spread.upper = points[2];
  return spread;
}

std::string percent_text(double share) { return fixed_text(100.0 * share, 1) + " %"; }

}  // namespace

ReportTable run_facts(const FigureRun& run) {
  const RunSnapshot& r = *run.run;
  ReportTable table;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) table.rows.push_back({name, value});
  };
  const auto attribute = [&](const char* name) { return run.attribute(name); };
  add("model", model_of(r));
  add("run file", run.name());
  std::map<std::string, std::int64_t> kinds;
  for (const auto& layer : r.data)
    if (layer) ++kinds[layer->kind];
  std::string attention;
  for (const auto& [kind, layers] : kinds)
    attention +=
        (attention.empty() ? "" : ", ") + kind + (kinds.size() > 1 ? " in " + count_text(layers, "layer") : "");
  add("attention", attention);
  std::string measured = count_text(std::ssize(r.layers), "layer") + " × " + count_text(std::ssize(r.heads), "head");
  if (r.all_layers > std::ssize(r.layers)) measured += ", of " + count_text(r.all_layers, "layer");
  if (!r.complete) measured += "; " + count_text(static_cast<std::int64_t>(r.finished_layers()), "layer") + " finished";
  add("measured", measured);
  add("text", count_text(r.length, "token") + (attribute("bos_added") == "1" ? ", BOS put in front" : ""));
  std::string changes;
  for (const std::string& what_if : r.what_ifs) changes += (changes.empty() ? "" : ", ") + what_if;
  add("what-ifs", changes);
  add("loss of the next token", r.next_token_loss ? fixed_text(*r.next_token_loss, 4) + " nats" : "");
  add("computed", attribute("dtype_compute") + " on " + attribute("device") + ", " + attribute("backend") +
                      (attribute("kernel_target").empty() ? "" : " (" + attribute("kernel_target") + ")"));
  add("made by", attribute("source") +
                     (attribute("program_git_commit").empty() ? "" : ", commit " + attribute("program_git_commit")) +
                     (attribute("created_utc").empty() ? "" : ", " + attribute("created_utc")));
  add("command", attribute("command_line"));
  add("checkpoint, SHA-256", attribute("checkpoint_sha256"));
  add("text, SHA-256", attribute("prompt_sha256"));
  return table;
}

std::vector<ReportBlock> run_text(const RunSnapshot& run) {
  std::vector<ReportBlock> blocks;
  if (!run.prompt || run.prompt->texts.empty()) return blocks;
  std::string text;
  const std::size_t shown = std::min(run.prompt->texts.size(), kMostTextTokens);
  for (std::size_t i = 0; i < shown; ++i) text += run.prompt->texts[i];
  if (shown < run.prompt->texts.size())
    text +=
        " … (the first " + std::to_string(shown) + " of " + grouped_text(std::ssize(run.prompt->texts)) + " tokens)";
  std::ranges::replace(text, '\n', ' ');
  blocks.emplace_back(ReportText{literal(text), false, true});
  return blocks;
}

ReportText self_check(const RunSnapshot& run) {
  std::int64_t rows = 0, summed = 0, outside = 0, left_out = 0;
  double worst = 0.0;
  const double tolerance = [&] {
    const auto found = run.attributes.find("dtype_compute");
    return found != run.attributes.end() && found->second == "float64" ? kFloat64Tolerance : kFloat32Tolerance;
  }();
  for (const auto& layer : run.data) {
    if (!layer) continue;
    for (std::size_t h = 0; h < layer->heads.size(); ++h) {
      const HeadSeries series = make_head_series(run, *layer, layer->heads[h]);
      const std::span<const float> sums = layer->row_values("rows/weight_sum", layer->heads[h]);
      if (!series.kept || series.weight_l2.empty()) continue;
      const RowInterval& own = series.intervals[static_cast<std::size_t>(RmsTab::Weights)].own();
      for (std::size_t i = 0; i < series.weight_l2.size() && i < series.visible.size(); ++i) {
        const auto e = static_cast<double>(series.weight_l2[i]);
        if (!std::isfinite(e)) {
          ++left_out;
          continue;
        }
        ++rows;
        const double low = own.low.at(i, series.visible[i]), high = own.high.at(i, series.visible[i]);
        const double slack = 10.0 * tolerance * std::max(1.0, high);
        outside += e < low - slack || e > high + slack ? 1 : 0;
        if (!layer->programs[h].sums_to_one() || i >= sums.size()) continue;
        const double lambda = i < series.lambda.size() ? static_cast<double>(series.lambda[i]) : 0.0;
        const double wanted = layer->programs[h].has_first() ? 1.0 - (series.pair ? lambda : 0.0) : -lambda;
        worst = std::max(worst, std::abs(static_cast<double>(sums[i]) - wanted));
        ++summed;
      }
    }
  }
  if (rows == 0)
    return {"No rows are in the file (it was written with --only summary), so that nothing of it can be checked again.",
            false, true};
  std::string text = "Checked again from the rows of the file: of " + grouped_text(rows) + " rows " +
                     (outside == 0 ? "none" : grouped_text(outside)) +
                     " leaves the bounds that ‖*w*‖₂ has for any values";
  if (summed > 0)
    text += "; the weights of " + grouped_text(summed) + " rows sum to 1 − λ within " + readout_text(worst);
  text += ".";
  if (left_out > 0) text += " " + grouped_text(left_out) + " rows are not finite and were left out.";
  const bool wrong = outside > 0 || worst > 100.0 * tolerance;
  if (wrong) text += " That is a fault of the program or of the file, and no finding.";
  return {text, wrong, false};
}

std::vector<ReportBlock> premise_blocks(const RunSnapshot& run, const RunPremise& premises) {
  std::map<PremiseVerdict, std::vector<HeadRef>> by_verdict;
  std::vector<double> counts;
  for (const auto& layer : run.data)
    for (std::size_t h = 0; layer && h < layer->heads.size(); ++h) {
      const HeadPremise premise = premises.of(layer->layer, layer->heads[h]);
      if (premise.verdict == PremiseVerdict::Unknown) continue;
      by_verdict[premise.verdict].push_back({layer->layer, layer->heads[h]});
      counts.push_back(premise.count);
    }
  std::vector<ReportBlock> blocks;
  const auto heads = std::ssize(counts);
  if (heads == 0) return blocks;
  const Spread spread = spread_of(counts);
  std::string text =
      "The interval [1/√{*n*}, 1) is one for uncorrelated values of one size. In uniform attention the values of a head "
      "of this run count as " +
      short_text(spread.median) + " uncorrelated ones (median over " + count_text(heads, "head") + "; quartiles " +
      short_text(spread.lower) + " and " + short_text(spread.upper) + ") of " + grouped_text(run.length) + ".";
  if (premises.tests() > 0)
    text +=
        " Each head’s coherence ΣRMS²/Σ*q*² is compared with 999 draws of signs of its values, weights as they are; " +
        fixed_text(100.0 * kPremiseLevel, 0) +
        " % of false findings are allowed among the heads of this run "
        "(Benjamini and Hochberg). The draws are over the values of this one text.";
  else
    text += " Whether they are uncorrelated was not tested: headroom analyze … --premise does.";
  blocks.emplace_back(ReportText{text, false, false});
  ReportTable table;
  table.columns = {"what may be written under the interval", "heads", "of all", "for example"};
  table.numbers = {false, true, true, false};
  for (const auto& [verdict, those] : by_verdict) {
    HeadPremise one;
    one.verdict = verdict;
    std::string example;
    for (std::size_t i = 0; i < std::min<std::size_t>(3, those.size()); ++i)
      example += (i ? ", " : "") + head_text(those[i]);
    table.rows.push_back({premise_words(one), grouped_text(std::ssize(those)),
                          percent_text(static_cast<double>(those.size()) / static_cast<double>(heads)), example});
  }
  blocks.emplace_back(std::move(table));
  return blocks;
}

ReportTable head_rows(const RunSnapshot& run, std::vector<std::string>& columns) {
  columns = usual_columns(run);
  for (const char* more : {"value_independent_count", "sign_coherence"})
    if (const Result<QuantityRef> ref = parse_quantity(more))
      if (spread_of(head_values(run, *ref)).heads > 0) columns.emplace_back(more);
  const HeadTable heads = make_head_table(run, "", "sink_score", true);
  ReportTable table;
  table.columns = {"head", "kind"};
  table.numbers = {false, false};
  std::vector<std::pair<QuantityRef, std::vector<double>>> values;
  for (const std::string& column : columns) {
    const Result<QuantityRef> ref = parse_quantity(column);
    if (!ref) continue;
    table.columns.push_back(ref->info->column);
    table.numbers.push_back(true);
    values.emplace_back(*ref, head_values(run, *ref));
  }
  for (const std::size_t row : heads.rows) {
    const HeadRef head = head_of_row(run, row);
    const LayerSnapshot* layer = run.layer(head.layer);
    std::vector<std::string> cells{head_text(head), layer ? layer->kind : ""};
    for (const auto& [ref, all] : values) cells.push_back(number_text(*ref.info, all[row]));
    table.rows.push_back(std::move(cells));
  }
  table.first = 24;
  table.summary = "all " + count_text(std::ssize(table.rows), "head") + ", by sink score";
  return table;
}

ReportTable runs_beside(const std::vector<FigureRun>& runs) {
  std::vector<std::string> names;
  for (const FigureRun& run : runs)
    for (const std::string& column : usual_columns(*run.run))
      if (std::ranges::find(names, column) == names.end()) names.push_back(column);
  ReportTable table;
  table.columns = {"median over heads (quartiles)"};
  table.numbers = {false};
  for (const FigureRun& run : runs) {
    table.columns.push_back(run.name());
    table.numbers.push_back(true);
  }
  for (const std::string& name : names) {
    const Result<QuantityRef> ref = parse_quantity(name);
    if (!ref) continue;
    std::vector<std::string> cells{quantity_title(*ref)};
    for (const FigureRun& run : runs) {
      const Spread spread = spread_of(head_values(*run.run, *ref));
      cells.push_back(spread.heads == 0
                          ? "–"
                          : number_text(*ref->info, spread.median) + " (" + number_text(*ref->info, spread.lower) +
                                " to " + number_text(*ref->info, spread.upper) + ")");
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

ReportTable definitions(const std::vector<std::string>& quantities) {
  ReportTable table;
  for (const std::string& name : quantities)
    if (const QuantityInfo* info = find_quantity_info(name))
      table.rows.push_back({info->title + " (" + info->name + ")", info->definition});
  table.summary = "definitions of what is shown";
  table.first = 0;
  return table;
}

Result<std::vector<ReportBlock>> map_blocks(const FigureRun& run, const std::string& first, std::size_t number) {
  const RunSnapshot& r = *run.run;
  HEADROOM_TRY(const std::unique_ptr<RunFile> file, RunFile::open(run.path));
  const bool exact = file->find("exact/net_weights") != nullptr;
  std::vector<HeadRef> heads;
  if (const std::optional<HeadRef> wanted = parse_head(first)) heads.push_back(*wanted);
  for (const std::size_t row : make_head_table(r, "", "sink_score", true).rows) {
    const HeadRef head = head_of_row(r, row);
    if (std::ranges::find(heads, head) == heads.end()) heads.push_back(head);
  }
  ReportMaps maps;
  maps.id = "maps" + std::to_string(number);
  maps.length = r.length;
  maps.all_heads = std::ssize(heads);
  for (const HeadRef& head : heads) {
    const LayerSnapshot* layer = r.layer(head.layer);
    // Calls with rows of another sequence are not looked into: their places have no common names.
    if (!layer || layer->rows != r.length || layer->keys != r.length) continue;
    if (!exact && !has_pooled_map(*layer, head.head, PooledKind::Net)) continue;
    MapPartRequest request;
    request.layer = head.layer, request.head = head.head;
    request.rows = request.keys = {0, r.length};
    request.most_cells = kMapCells;
    Result<MapPart> part = read_map_part(*file, r, request);
    if (!part) {
      if (part.error().code == ErrorCode::NotFound) continue;
      return part.error();
    }
    // All heads in coarser cells are worth more than few in fine ones.
    const auto bytes = [&](std::int64_t times) {
      const double side = std::ceil(static_cast<double>(part->height) / static_cast<double>(times));
      return static_cast<double>(heads.size()) * side * side * sizeof(std::uint16_t) * 4.0 / 3.0;
    };
    std::int64_t times = 1;
    while (bytes(times) > static_cast<double>(kMostMapBytes) && times < 4) ++times;
    if (times > 1) make_coarser(*part, times);
    if (part->height != part->width || (maps.cells > 0 && part->height != maps.cells)) continue;
    maps.cells = part->height, maps.cell = part->cell;
    ReportMaps::Head one;
    one.head = head;
    one.mean = part->mean;
    const auto index = static_cast<std::size_t>(layer->head_index(head.head));
    one.has_sign = layer->programs[index].has_second();
    one.codes.reserve(part->values.size());
    for (const double value : part->values) one.codes.push_back(weight_code(value));
    maps.heads.push_back(std::move(one));
    if (maps.heads.size() * part->values.size() * sizeof(std::uint16_t) * 4 / 3 > kMostMapBytes) break;
  }
  std::vector<ReportBlock> blocks;
  if (maps.heads.empty()) {
    blocks.emplace_back(
        ReportText{"No maps are in the file: headroom analyze … --maps 64 keeps them for every head.", false, true});
    return blocks;
  }
  if (r.prompt)
    for (const std::string& token : r.prompt->texts) maps.tokens.push_back(visible_token(token));
  blocks.emplace_back(std::move(maps));
  return blocks;
}

}  // namespace headroom
