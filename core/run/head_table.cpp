#include "core/run/head_table.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/base/number_text.h"
#include "core/run/head_values.h"

namespace headroom {
namespace {

std::string kind_of(const RunSnapshot& run, std::int64_t layer) {
  const LayerSnapshot* snapshot = run.layer(layer);
  return snapshot == nullptr ? "" : snapshot->kind;
}

std::string tsv_field(std::string text) {
  std::ranges::replace_if(text, [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
  return text;
}

std::string latex_text(std::string_view text) {
  static constexpr std::pair<std::string_view, std::string_view> kReplaced[] = {{"\\", "\\textbackslash{}"},
                                                                                {"_", "\\_"},
                                                                                {"%", "\\%"},
                                                                                {"&", "\\&"},
                                                                                {"#", "\\#"},
                                                                                {"$", "\\$"},
                                                                                {"{", "\\{"},
                                                                                {"}", "\\}"},
                                                                                {"~", "\\textasciitilde{}"},
                                                                                {"^", "\\textasciicircum{}"},
                                                                                {"α₀", "$\\alpha_0$"},
                                                                                {"ρ", "$\\rho$"},
                                                                                {"κ", "$\\kappa$"},
                                                                                {"λ", "$\\lambda$"},
                                                                                {"‖w‖₂", "$\\|w\\|_2$"},
                                                                                {"‖w‖₁", "$\\|w\\|_1$"},
                                                                                {"‖q‖", "$\\|q\\|$"},
                                                                                {"‖k‖", "$\\|k\\|$"},
                                                                                {"|", "$|$"},
                                                                                {"\u2212", "$-$"}};
  std::string out;
  while (!text.empty()) {
    const auto* const found =
        std::ranges::find_if(kReplaced, [&](const auto& pair) { return text.starts_with(pair.first); });
    if (found != std::end(kReplaced)) {
      out += found->second;
      text.remove_prefix(found->first.size());
    } else {
      out += text.front();
      text.remove_prefix(1);
    }
  }
  return out;
}

struct Column {
  QuantityRef ref;
  std::string name;
  std::vector<double> values;
};

std::vector<Column> read_columns(const RunSnapshot& run, std::span<const std::string> names) {
  std::vector<Column> columns;
  for (const std::string& name : names)
    if (const Result<QuantityRef> ref = parse_quantity(name))
      columns.push_back({*ref, quantity_text(*ref), head_values(run, *ref)});
  return columns;
}

std::string separated(const RunSnapshot& run, std::span<const std::size_t> rows, const std::vector<Column>& columns,
                      TableFormat format) {
  const auto field = [&](const std::string& text) {
    return format == TableFormat::Csv ? csv_text(text) : tsv_field(text);
  };
  const char separator = format == TableFormat::Csv ? ',' : '\t';
  std::string text = std::string("layer") + separator + "head" + separator + "kind";
  for (const Column& column : columns) text += separator + field(column.name);
  text += '\n';
  for (const std::size_t row : rows) {
    const HeadRef head = head_of_row(run, row);
    text += std::to_string(head.layer) + separator + std::to_string(head.head) + separator +
            field(kind_of(run, head.layer));
    for (const Column& column : columns) {
      text += separator;
      text += full_text(column.values[row]);
    }
    text += '\n';
  }
  return text;
}

std::string heading_of(const Column& column) {
  const bool plain = column.ref.index == column.ref.info->default_index;
  return plain ? column.ref.info->column : quantity_title(column.ref);
}

std::string markdown(const RunSnapshot& run, std::span<const std::size_t> rows, const std::vector<Column>& columns) {
  const auto cell = [](std::string text) {
    for (std::size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2)) text.insert(at, "\\");
    return text;
  };
  std::string text = "| head | kind |", line = "|---|---|";
  for (const Column& column : columns) text += " " + cell(heading_of(column)) + " |", line += "---:|";
  text += "\n" + line + "\n";
  for (const std::size_t row : rows) {
    const HeadRef head = head_of_row(run, row);
    text += "| " + head_text(head) + " | " + cell(kind_of(run, head.layer)) + " |";
    for (const Column& column : columns) text += " " + number_text(*column.ref.info, column.values[row]) + " |";
    text += "\n";
  }
  return text;
}

std::string latex(const RunSnapshot& run, std::span<const std::size_t> rows, const std::vector<Column>& columns) {
  std::string text = "\\begin{tabular}{ll" + std::string(columns.size(), 'r') + "}\n\\toprule\nhead & kind";
  for (const Column& column : columns) text += " & " + latex_text(heading_of(column));
  text += " \\\\\n\\midrule\n";
  for (const std::size_t row : rows) {
    const HeadRef head = head_of_row(run, row);
    text += latex_text(head_text(head)) + " & " + latex_text(kind_of(run, head.layer));
    for (const Column& column : columns) {
      const double value = column.values[row];
      text += " & " + (std::isnan(value) ? "--" : latex_text(number_text(*column.ref.info, value)));
    }
    text += " \\\\\n";
  }
  return text + "\\bottomrule\n\\end{tabular}\n";
}

}  // namespace

std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

HeadTable make_head_table(const RunSnapshot& run, std::string_view filter, std::string_view sort, bool descending) {
  HeadTable table;
  Result<HeadFilter> parsed = HeadFilter::parse(filter);
  if (parsed)
    table.filter = std::move(*parsed);
  else
    table.error = parsed.error();
  const std::vector<std::uint8_t> passes = table.filter.evaluate(run);
  for (std::size_t l = 0; l < run.layers.size() && l < run.data.size(); ++l) {
    if (run.data[l] == nullptr) continue;
    for (std::size_t h = 0; h < run.heads.size(); ++h) {
      if (run.data[l]->head_index(run.heads[h]) < 0) continue;
      ++table.computed;
      const std::size_t row = l * run.heads.size() + h;
      if (passes[row] != 0) table.rows.push_back(row);
    }
  }
  if (sort == "kind") {
    std::ranges::stable_sort(table.rows, [&](std::size_t a, std::size_t b) {
      const int order = kind_of(run, head_of_row(run, a).layer).compare(kind_of(run, head_of_row(run, b).layer));
      return descending ? order > 0 : order < 0;
    });
    return table;
  }
  const Result<QuantityRef> ref = parse_quantity(sort);
  if (!ref) {  // "head": as they are
    if (descending) std::ranges::reverse(table.rows);
    return table;
  }
  const std::vector<double> values = head_values(run, *ref);
  std::ranges::stable_sort(table.rows, [&](std::size_t a, std::size_t b) {
    const bool no_a = !std::isfinite(values[a]), no_b = !std::isfinite(values[b]);
    if (no_a || no_b) return !no_a && no_b;
    return descending ? values[a] > values[b] : values[a] < values[b];
  });
  return table;
}

std::optional<TableFormat> parse_table_format(std::string_view name) {
  if (name == "csv") return TableFormat::Csv;
  if (name == "tsv") return TableFormat::Tsv;
  if (name == "latex") return TableFormat::Latex;
  if (name == "markdown") return TableFormat::Markdown;
  return {};
}

std::string head_table_text(const RunSnapshot& run, std::span<const std::size_t> rows,
                            std::span<const std::string> columns, TableFormat format) {
  const std::vector<Column> read = read_columns(run, columns);
  if (format == TableFormat::Latex) return latex(run, rows, read);
  if (format == TableFormat::Markdown) return markdown(run, rows, read);
  return separated(run, rows, read, format);
}

}  // namespace headroom
