#include "core/measure/quantity_document.h"

#include <fnmatch.h>

#include <array>
#include <cctype>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/measure/quantity_notions.h"

namespace headroom {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 13> kGroups = {{
    {"", "One number, or a few, for each head and map: what most papers plot."},
    {"tokens", "The prompt."},
    {"rows", "One number for each query row. Left out by `--only summary`, as are `/keys` and `/hist`."},
    {"keys", "One number for each key."},
    {"hist", "Exact counts; the edges of the bins are coordinates."},
    {"maps", "With `--maps P`: maps pooled to at most P × P blocks. Those of the components with `--components` too."},
    {"exact",
     "With `--exact-maps`: whole maps, and all that they are made of. Every quantity above follows from this "
     "group, `/program` and `weights/sink_logit`."},
    {"predictions",
     "Of models that predict the next token, in runs that reach their logits. Left out by `--only summary`."},
    {"hidden", "With `--hidden`: the residual stream and the logits."},
    {"router",
     "Of models with experts: where each layer's router sent the tokens. `--only summary` leaves `tokens_per_expert` "
     "alone. [ARCHITECTURES.md](../model/ARCHITECTURES.md#experts)."},
    {"calls",
     "Of a capture or an encoder-decoder: what its calls are beside layers. "
     "[FORMATS.md](../checkpoint/FORMATS.md#captures)."},
    {"weights", "What follows from the weights alone."},
    {"program", "The head program as it ran, and the numbers of the layer that the formulas need."},
}};

constexpr std::string_view kIntroduction = R"(# Quantities

Every dataset of a run file: what it is, over which rows, within which bounds, and who defined it. Notions that several
share stand first. `headroom quantities` prints this document (`--markdown` as it stands here, `--json` for programs,
`headroom quantities 'rows/*'` or any other name or pattern for a part), and it is made from the table that the program
computes from, so that the two cannot differ. How the file itself is laid out: [RUN_FILE.md](../io/RUN_FILE.md). Head
programs and kinds of attention: [ARCHITECTURES.md](../model/ARCHITECTURES.md).

Each entry gives the path in the file, the axes, the type, unit and range of the numbers, the formula of one element, the
rows that it is over, and its source. A definition and the datasets that it names are enough to compute a dataset again;
`tests/oracle/test_definitions.py` does so for every one of the root group.

## Notions
)";

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

// "all that see key 0", "eligible with n_i > 1"; empty where there are no rows.
std::string rows_text(const Quantity& quantity) {
  std::string text(quantity.rows);
  if (!quantity.where.empty()) text += " " + std::string(quantity.where);
  return text;
}

std::string as_sentence(std::string_view words) {
  std::string text(words);
  // Symbols stay as they are: c_i, q1, n.
  const bool word = text.size() > 1 && std::islower(static_cast<unsigned char>(text[0])) != 0 &&
                    std::islower(static_cast<unsigned char>(text[1])) != 0;
  if (word) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

// Where a source is found, from core/run.
std::string link_of(const Reference& reference) {
  std::string place(reference.place);
  if (place.starts_with("arXiv ")) return "https://arxiv.org/abs/" + place.substr(6);
  if (place.starts_with("doi:")) return "https://doi.org/" + place.substr(4);
  for (const auto& [folder, relative] : {std::pair<std::string, std::string>{"core/measure/QUANTITIES.md", ""},
                                         std::pair<std::string, std::string>{"core/", "../"}})
    if (place.starts_with(folder)) return relative + place.substr(folder.size());
  return place;
}

std::string linked(const Reference& reference) {
  std::string words = cited(reference);
  if (reference.name.empty()) {
    words = words.substr(words.find('#') + 1);
    for (char& c : words)
      if (c == '-') c = ' ';
  } else if (reference.place.starts_with("https://")) {
    words = reference.name;
  }
  return "[" + words + "](" + link_of(reference) + ")";
}

std::string markdown_entry(const Quantity& quantity) {
  const std::vector<std::string> axes = axes_of(quantity);
  std::string text = "### " + path_of(quantity) + "\n\n";
  text += as_sentence(quantity.long_name) + " · " + (axes.empty() ? "one for the run" : "`[" + joined(axes) + "]`");
  text += " · " + std::string(element_type_name(quantity.type));
  if (quantity.type != ElementType::String) text += " · unit " + std::string(quantity.units);
  if (!quantity.range.empty()) text += " · range " + std::string(quantity.range);
  text += "\n\n    " + std::string(quantity.formula) + "\n\n";
  if (!quantity.remark.empty()) text += as_sentence(quantity.remark) + ". ";
  if (!quantity.rows.empty()) text += "Rows: " + rows_text(quantity) + ". ";
  if (!quantity.heads.empty()) text += "Heads: those " + std::string(quantity.heads) + ". ";
  std::string sources;
  for (const Reference& reference : quantity.sources) sources += (sources.empty() ? "" : "; ") + linked(reference);
  return text + "Source: " + sources + ".\n\n";
}

std::string text_entry(const Quantity& quantity) {
  std::string text =
      path_of(quantity) + " [" + joined(axes_of(quantity)) + "] " + std::string(element_type_name(quantity.type));
  if (quantity.type != ElementType::String) text += ", unit " + std::string(quantity.units);
  if (!quantity.range.empty()) text += ", range " + std::string(quantity.range);
  const auto line = [&](std::string_view name, std::string_view words) {
    if (!words.empty()) text += "\n    " + std::string(name) + std::string(words);
  };
  line("", quantity.long_name);
  line("  ", quantity.formula);
  line("", quantity.remark);
  line("rows: ", rows_text(quantity));
  line("heads: ", quantity.heads);
  line("source: ", source_of(quantity));
  return text + "\n\n";
}

std::string title_of(std::string_view group) { return group.empty() ? "The root group" : "/" + std::string(group); }

// entry(quantity) of each, under a heading for each group that has any.
template <typename Heading, typename Entry>
std::string by_group(std::span<const Quantity* const> quantities, const Heading& heading, const Entry& entry) {
  std::string text;
  for (const auto& [group, about] : kGroups) {
    std::string entries;
    for (const Quantity* quantity : quantities)
      if (quantity->group == group) entries += entry(*quantity);
    if (!entries.empty()) text += heading(group, about) + entries;
  }
  return text;
}

std::string anchor_of(std::string_view title) {
  std::string anchor;
  for (const char c : title) anchor += c == ' ' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return anchor;
}

}  // namespace

std::vector<const Quantity*> all_quantities() {
  std::vector<const Quantity*> all;
  for (const auto& [group, about] : kGroups)
    for (const std::span<const Quantity> part : {other_quantities(), head_quantities()})
      for (const Quantity& quantity : part)
        if (quantity.group == group) all.push_back(&quantity);
  return all;
}

std::vector<const Quantity*> matching_quantities(const std::string& pattern) {
  const auto matches = [&](std::string_view name) {
    return fnmatch(pattern.c_str(), std::string(name).c_str(), FNM_NOESCAPE) == 0;
  };
  std::vector<const Quantity*> found;
  for (const Quantity* quantity : all_quantities())
    if (matches(path_of(*quantity)) || matches(quantity->name)) found.push_back(quantity);
  return found;
}

std::string quantities_text(std::span<const Quantity* const> quantities, bool with_notions) {
  std::string text;
  if (with_notions)
    for (const Notion& notion : notions())
      text += std::string(notion.title) + "\n\n" + std::string(notion.text) + "\n\n\n";
  text += by_group(
      quantities,
      [&](std::string_view group, std::string_view about) {
        return with_notions ? title_of(group) + "\n\n" + std::string(about) + "\n\n" : "";
      },
      text_entry);
  text.pop_back();
  return text;
}

std::string quantities_markdown(std::span<const Quantity* const> quantities, bool with_notions) {
  std::string text;
  if (with_notions) {
    text += kIntroduction;
    for (const Notion& notion : notions())
      text += "\n### " + std::string(notion.title) + "\n\n" + std::string(notion.text) + "\n";
    text += "\n";
  }
  text += by_group(
      quantities,
      [&](std::string_view group, std::string_view about) {
        return with_notions ? "## " + title_of(group) + "\n\n" + std::string(about) + "\n\n" : "";
      },
      markdown_entry);
  if (with_notions) {
    text += "## Published sources\n\n";
    for (const Reference& reference : source::kPublished)
      text += "- " + std::string(reference.name) + ": *" + std::string(reference.title) + "*. [" +
              std::string(reference.place) + "](" + link_of(reference) + ")\n";
  } else {
    text.pop_back();
  }
  return text;
}

std::string quantities_json(std::span<const Quantity* const> quantities, bool with_notions) {
  nlohmann::ordered_json document;
  if (with_notions)
    for (const Notion& notion : notions())
      document["notions"].push_back(
          {{"title", notion.title}, {"anchor", anchor_of(notion.title)}, {"text", notion.text}});
  document["quantities"] = nlohmann::ordered_json::array();
  for (const Quantity* quantity : quantities) {
    nlohmann::ordered_json sources = nlohmann::ordered_json::array();
    for (const Reference& reference : quantity->sources)
      sources.push_back({{"name", reference.name}, {"title", reference.title}, {"place", reference.place}});
    document["quantities"].push_back({{"path", path_of(*quantity)},
                                      {"axes", axes_of(*quantity)},
                                      {"type", element_type_name(quantity->type)},
                                      {"units", quantity->units},
                                      {"long_name", quantity->long_name},
                                      {"formula", quantity->formula},
                                      {"remark", quantity->remark},
                                      {"definition", definition_of(*quantity)},
                                      {"range", quantity->range},
                                      {"rows", quantity->rows},
                                      {"rows_where", quantity->where},
                                      {"heads", quantity->heads},
                                      {"sources", std::move(sources)}});
  }
  return document.dump(2) + "\n";
}

}  // namespace headroom
