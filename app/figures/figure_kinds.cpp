#include "app/figures/figure_kinds.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "app/figures/caption_text.h"
#include "app/figures/page_axes.h"
#include "core/base/edit_distance.h"
#include "core/base/number_text.h"
#include "core/io/blocks_schema.h"
#include "core/io/circuits_schema.h"
#include "core/io/corpus_schema.h"
#include "core/io/run_file_writer.h"

namespace headroom {
namespace {

constexpr std::array kKinds = {
    FigureKind{"rms", "context RMS over nᵢ", "context RMS ρᵢ of heads over visible keys against their intervals", true,
               "--head --range --names --points", check_rms, make_rms},
    FigureKind{"atlas", "layers × heads",
               "one cell per head, coloured by a quantity; contour and counts above its threshold", false,
               "--head --layers --heads --quantity --range --scale --epsilon --colour-map", check_atlas, make_atlas},
    FigureKind{"sinks", "sink scores, top keys",
               "sink scores by layer, attention on top keys, value drain; of a corpus every head with its interval",
               false, "--head --layers --heads --range --epsilon --top --points", check_sinks, make_sinks},
    FigureKind{"scatter", "heads, two quantities",
               "one point per head, a quantity over another, coloured by layer or a third", false,
               "--head --layers --heads --quantity --range --scale --epsilon --colour-map", check_scatter,
               make_scatter},
    FigureKind{"logits", "largest, smallest logit",
               "largest and smallest logits of heads by layer, and how the logits are distributed", false,
               "--head --layers --heads --range --points", check_logits, make_logits, false, false, true},
    FigureKind{"rms-layers", "context RMS by layer",
               "context RMS of all rows by layer, and the rows outside their interval", false,
               "--layers --heads --range", check_rms_layers, make_rms_layers},
    FigureKind{"decomposition", "log ρ and its terms",
               "log ρ = log e + log r̃ + ½ log κ over the rows of heads, and by layer", false,
               "--head --layers --heads --range --names", check_decomposition, make_decomposition},
    FigureKind{"lambda", "λ by token and head",
               "λ of differential heads: by token, its quantiles and spread; of DIFF V1 by layer", true,
               "--head --layers --heads --range --names", check_lambda, make_lambda},
    FigureKind{"lambda-text", "λ by class, surprisal",
               "λ of differential heads by class of token, position and surprisal, over one text or several", true,
               "--head --layers --heads --names", check_lambda_text, make_lambda_text, false, false, true},
    FigureKind{"norm-gain", "gain of V1's head norm",
               "gain of the head norm of DIFF V1 over visible keys, and by layer", false,
               "--head --layers --heads --range --names --points", check_norm_gain, make_norm_gain},
    FigureKind{"compare", "heads of two runs",
               "a quantity of the heads of two runs, of many texts each, or of two corpora: --against names the others",
               true, "--layers --heads --quantity --range --scale --against --paired --epsilon", check_compare,
               make_compare},
    FigureKind{"training", "curves of training.h5",
               "loss, gradient norm, largest logit and sink score by step, from training.h5", true, "", check_training,
               make_training, true},
    FigureKind{"map", "map of one head", "one map of a head; of a head with two maps, first − λ × second = net", false,
               "--head --rows --keys --cell --range --scale --names --colour-map", check_map, make_map, false, false,
               true},
    FigureKind{"grid", "maps of all heads", "every head's map as a small picture, layers across, heads down", false,
               "--head --layers --heads --range --scale --colour-map", check_grid, make_grid, false, false, true},
    FigureKind{"tokens", "the text, tinted", "the text, each token on the colour of a quantity of its row or key",
               false, "--head --quantity --rows --range --scale --names --colour-map", check_tokens, make_tokens, false,
               true},
    FigureKind{
        "importance", "what each head is worth",
        "changes of the loss without a head, with intervals: of headroom ablate, one text or several, one way or two",
        true, "--head --layers --heads --range --scale --top --colour-map", check_importance, make_importance, false,
        false, true, kAblationSchemaName, "ablate"},
    FigureKind{"circuits", "what heads can do",
               "compositions of heads, copying by layer, spectra of OV and QK: of headroom circuits", false,
               "--head --layers --heads --quantity --top", check_circuits, make_circuits, false, false, true,
               kCircuitsSchemaName, "circuits"},
    FigureKind{"series", "heads over training steps",
               "a quantity of heads, sinks and loss over the steps of a training, with intervals: of headroom series",
               false, "--head --layers --heads --quantity --epsilon", check_series, make_series, false, false, true,
               kSeriesSchemaName, "series"},
    FigureKind{"blocks", "choice of key blocks",
               "attention in the blocks that heads, pairs and groups choose, and how maps agree: of headroom blocks",
               false, "--head", check_blocks, make_blocks_figure, false, false, true, kBlocksSchemaName, "blocks"},
    FigureKind{
        "needle", "finding a number",
        "what heads give to a number in a long text, recall and retrieval heads: of headroom needle, one file or "
        "several",
        true, "--head --quantity --scale --top", check_needle, make_needle, false, true, true, kNeedleSchemaName,
        "needle"},
};

// Of a corpus, with intervals over its documents.
constexpr std::array<std::string_view, 2> kOfCorporaToo = {"sinks", "compare"};
constexpr std::size_t kDigitsShown = 12;  // digits in captions
constexpr std::size_t kRunsShown = 4;     // hashes of several files

// "0–29", "0, 4–7".
std::string ranges_text(std::span<const std::int64_t> indices) {
  std::string text;
  for (std::size_t i = 0; i < indices.size();) {
    std::size_t end = i + 1;
    while (end < indices.size() && indices[end] == indices[end - 1] + 1) ++end;
    text += (text.empty() ? "" : ", ") + std::to_string(indices[i]);
    if (end - i > 1) text += "–" + std::to_string(indices[end - 1]);
    i = end;
  }
  return text;
}

Error not_there(const FigureRun& run, const std::string& what) {
  return {ErrorCode::InvalidArgument, what + ": " + run.name() + " has layers " + ranges_text(run.run->layers) +
                                          " and heads " + ranges_text(run.run->heads)};
}

std::string attribute_of(const RunSnapshot& run, std::string_view name) {
  const auto found = run.attributes.find(name);
  return found == run.attributes.end() ? std::string() : found->second;
}

bool has(std::span<const std::int64_t> indices, std::int64_t index) {
  return std::ranges::find(indices, index) != indices.end();
}

// Leaves each head once, and gives those that were there again.
std::vector<HeadRef> take_repeated(std::vector<HeadRef>& heads) {
  std::vector<HeadRef> once, again;
  for (const HeadRef& head : heads) {
    const bool known = std::ranges::find(once, head) != once.end();
    if (!known)
      once.push_back(head);
    else if (std::ranges::find(again, head) == again.end())
      again.push_back(head);
  }
  heads = std::move(once);
  return again;
}

}  // namespace

std::span<const FigureKind> figure_kinds() { return kKinds; }

namespace {

// `linear`: what is asked for in place of a range that a logarithmic scale has no place for.
Result<void> check_ends(const FigureChoice& choice, bool log, double low, double high, const char* linear) {
  if (!choice.low && !choice.high) return {};
  const auto text = [](const std::optional<double>& end) { return end ? full_text(*end) : std::string("auto"); };
  const std::string asked = text(choice.low) + "," + text(choice.high);
  if (log && (choice.low.value_or(1.0) <= 0.0 || choice.high.value_or(1.0) <= 0.0))
    return Error(ErrorCode::InvalidArgument, "--range " + asked + ": a logarithmic scale has no place for 0 and below")
        .wanted(std::string("ends above 0") + linear, asked);
  if (!(low < high))
    return Error(ErrorCode::InvalidArgument,
                 "--range " + asked + ": the end that is left to the values lies beyond the other one")
        .wanted("both ends", asked);
  return {};
}

}  // namespace

Result<void> check_range(const FigureChoice& choice, const ColorScale& scale) {
  return check_ends(choice, scale.kind == ScaleKind::Log10, static_cast<double>(scale.low),
                    static_cast<double>(scale.high), ", or --scale linear");
}

Result<void> set_range(PageAxis& axis, const FigureChoice& choice) {
  axis.low = choice.low.value_or(axis.low), axis.high = choice.high.value_or(axis.high);
  return check_ends(choice, axis.log, axis.low, axis.high, "");
}

Result<const FigureKind*> find_figure_kind(std::string_view name) {
  const FigureKind* nearest = nullptr;
  std::size_t least = 0;
  for (const FigureKind& kind : kKinds) {
    if (name == kind.name) return &kind;
    const std::size_t distance = edit_distance(name, kind.name);
    if (nearest == nullptr || distance < least) nearest = &kind, least = distance;
  }
  return Error(ErrorCode::InvalidArgument,
               "kind \"" + std::string(name) + "\": not known; nearest: " + (nearest ? nearest->name : ""));
}

std::string file_sort(const FigureRun& run) {
  if (run.history != nullptr) return "the history of a training";
  const std::string schema = run.attribute("schema_name");
  if (schema == kCorpusSchemaName) return "a file of headroom corpus";
  for (const FigureKind& kind : kKinds)
    if (!kind.schema.empty() && schema == kind.schema) return "a file of headroom " + std::string(kind.written_by);
  return "a run file";
}

bool takes_file(const FigureKind& kind, const FigureRun& run) {
  if (kind.of_trainings || run.history != nullptr) return kind.of_trainings && run.history != nullptr;
  if (!kind.schema.empty()) return run.attribute("schema_name") == kind.schema;
  if (run.attribute("schema_name") == kCorpusSchemaName)
    return std::ranges::find(kOfCorporaToo, kind.name) != kOfCorporaToo.end();
  return file_sort(run) == "a run file";
}

Result<void> check_figure(const FigureKind& kind, const FigureRun& run, const FigureChoice& choice) {
  if (takes_file(kind, run)) return kind.check(run, choice);
  const std::string taken = kind.of_trainings     ? std::string("training.h5")
                            : kind.schema.empty() ? std::string("run files")
                                                  : "files of headroom " + std::string(kind.written_by);
  Error error(ErrorCode::Unsupported,
              std::string(kind.name) + " is drawn of " + taken + "; " + run.name() + " is " + file_sort(run));
  if (kind.schema.empty()) return error;
  return error.advise("headroom " + std::string(kind.written_by) + " --help says how one is made");
}

Result<Figure> make_figure(const FigureKind& kind, std::span<const FigureRun> runs, const FigureChoice& asked) {
  if (runs.size() > 1 && !kind.several)
    return Error(ErrorCode::InvalidArgument, std::string(kind.name) + " is drawn of one run file");
  FigureChoice choice = asked;
  const std::vector<HeadRef> again = take_repeated(choice.heads);
  for (const FigureRun& run : runs) {
    HEADROOM_TRY_VOID(check_figure(kind, run, choice));
  }
  HEADROOM_TRY(Figure figure, kind.make(runs, choice));
  for (const HeadRef& head : again) figure.notes.push_back(head_text(head) + " is named more than once and drawn once");
  for (const FigureRun& run : runs)
    if (run.run != nullptr && std::ssize(run.run->layers) < run.run->all_layers &&
        std::string_view(kind.uses).find("--layers") != std::string_view::npos)
      figure.notes.push_back(run.name() + " has " + layers_title(run.run->layers, run.run->all_layers));
  // Panels of several runs say themselves of which they are.
  if (runs.size() == 1 && runs.front().run != nullptr && choice.against.empty())
    for (const auto& panel : figure.panels) panel->source = run_sentence(*runs.front().run);
  return figure;
}

Result<std::vector<HeadRef>> chosen_heads(const FigureRun& run, const FigureChoice& choice,
                                          const std::vector<HeadRef>& usual) {
  for (const HeadRef& head : choice.heads)
    if (!has(run.run->layers, head.layer) || !has(run.run->heads, head.head)) return not_there(run, head_text(head));
  return choice.heads.empty() ? usual : choice.heads;
}

std::string drawn_share(const RunSnapshot& run, const DrawnHeads& drawn) {
  if (drawn.whole(run)) return {};
  return " Of the file’s " + std::to_string(run.layers.size()) + " layers and " + std::to_string(run.heads.size()) +
         " heads of each, " + std::to_string(drawn.layers.size()) + " and " + std::to_string(drawn.heads.size()) +
         " are drawn.";
}

Result<DrawnHeads> drawn_heads(const FigureRun& run, const FigureChoice& choice) {
  DrawnHeads drawn{choice.layers, choice.only_heads, run.run->all_layers};
  for (const std::int64_t layer : drawn.layers)
    if (!has(run.run->layers, layer)) return not_there(run, "layer " + std::to_string(layer));
  for (const std::int64_t head : drawn.heads)
    if (!has(run.run->heads, head)) return not_there(run, "head " + std::to_string(head));
  if (drawn.layers.empty()) drawn.layers = run.run->layers;
  if (drawn.heads.empty()) drawn.heads = run.run->heads;
  return drawn;
}

std::string model_of(const RunSnapshot& run) {
  return run.model_name.empty() ? attribute_of(run, "model_id") : run.model_name;
}

void name_head(FigurePanel& panel, const RunSnapshot& run, HeadRef head, const FigureChoice& choice) {
  panel.right = rich(head_text(head));
  panel.model = choice.names ? model_of(run) : std::string();
}

std::string run_sentence(const RunSnapshot& run) {
  const auto attribute = [&](std::string_view name) { return attribute_of(run, name); };
  std::string text = literal_markup(model_of(run));
  if (run.length > 0) text += ", " + grouped_text(run.length) + " tokens";
  if (const std::string dtype = attribute("dtype_compute"); !dtype.empty()) text += ", computed in " + dtype;
  if (attribute("first_token_is_bos") == "0") text += ", no BOS";
  if (std::ssize(run.layers) < run.all_layers) text += ", measured: " + layers_title(run.layers, run.all_layers);
  for (const std::string& what_if : run.what_ifs) text += ", " + literal_markup(what_if);
  if (const std::string missing = attribute("sequences_missing"); !missing.empty())
    text += ", without sequences " + missing;
  text += ".";
  if (const std::string violation = attribute(kFirstViolation); !violation.empty())
    text += " The self-check found wrong numbers: " + literal_markup(violation) + ".";
  std::string hashes = attribute("source");
  const auto add = [&](const std::string& name, const std::string& hash) {
    if (hash.size() >= kDigitsShown) hashes += (hashes.empty() ? "" : ", ") + name + " " + hash.substr(0, kDigitsShown);
  };
  add("run", attribute(kFileHash));
  // Of a corpus that of a prompt is its first sequence's.
  if (attribute("schema_name") == kCorpusSchemaName)
    add("sequences", attribute("ids_sha256"));
  else
    add("text", attribute("prompt_sha256"));
  // Of several files the hash of the first stands for all: NAME HASH, one a line.
  const std::string checkpoint = attribute("checkpoint_sha256");
  if (const std::size_t blank = checkpoint.find(' '); blank != std::string::npos)
    add("checkpoint", checkpoint.substr(blank + 1));
  return hashes.empty() ? text : text + " " + hashes + ".";
}

std::string runs_sentence(std::span<const FigureRun> runs) {
  std::string hashes;
  std::size_t shown = 0;
  for (const FigureRun& run : runs)
    if (const std::string hash = run.attribute(kFileHash); hash.size() >= kDigitsShown && shown < kRunsShown)
      hashes += (shown++ == 0 ? "" : ", ") + hash.substr(0, kDigitsShown);
  std::string text = runs.front().attribute("source");
  if (shown > 0) text += (text.empty() ? "" : ", ") + std::string(runs.size() > 1 ? "runs " : "run ") + hashes;
  if (shown < runs.size() && shown > 0) text += " and " + std::to_string(runs.size() - shown) + " more";
  return text + ".";
}

Error lacks(const FigureRun& run, std::string_view kind, std::string_view dataset, std::string_view why,
            std::string_view hint) {
  Error error(ErrorCode::Unsupported, std::string(kind) + " needs " + std::string(dataset) + "; " + run.name() +
                                          " has none" + (why.empty() ? "" : " (" + std::string(why) + ")"));
  return error.advise(hint);
}

}  // namespace headroom
