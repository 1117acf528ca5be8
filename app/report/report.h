// What a report says of runs, before it is a page of HTML or PDF: headings, sentences, tables, figures, maps. Made of
// run files alone. One thread at a time: fonts, HDF5.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "app/figures/figure.h"
#include "app/paper/figure_page.h"
#include "app/text/font_library.h"
#include "core/base/result.h"

namespace headroom {

struct ReportHeading {
  std::int64_t level = 2;  // 1: of the report
  std::string text;
};

// In the markup of rich_text.h.
struct ReportText {
  std::string markup;
  bool warning = false, quiet = false;
};

struct ReportTable {
  std::vector<std::string> columns;            // empty: rows of a name and what it is
  std::vector<std::vector<std::string>> rows;  // as they are shown
  std::vector<bool> numbers;                   // by column: set right
  std::string summary;                         // of all rows, where only the first are shown
  std::int64_t first = -1;                     // so many, and on paper never more; −1: all
};

struct ReportFigure {
  FigurePage page;
  FileKeys keys;
};

// Maps of heads that are looked into with the pointer; only where there is one.
struct ReportMaps {
  struct Head {
    HeadRef head;
    bool has_sign = false, mean = false;  // of a net map of two; what a cell of more than one entry holds
    std::vector<std::uint16_t> codes;     // [cells, cells]: weight_code() of report_parts.cpp
  };
  std::int64_t length = 0, cells = 0, cell = 1;  // positions; cells along a side, positions of one
  std::vector<Head> heads;                       // those first that are to be there where there is room for few
  std::vector<std::string> tokens;
  std::int64_t all_heads = 0;
  std::string id;  // of this block among those of the report
};

using ReportBlock = std::variant<ReportHeading, ReportText, ReportTable, ReportFigure, ReportMaps>;

struct Report {
  std::string title, program, command, created_utc;
  std::vector<ReportBlock> blocks;
  std::vector<std::string> warnings;
};

struct ReportOptions {
  std::string title;  // empty: the names of the models
  std::string head;   // "L17.H4" that single-head figures are of; empty: each kind's choice
  double epsilon = 0.3;
  bool maps = true;     // for HTML
  std::string command;  // that makes it, with base names of files
  std::string program, git_commit;
};

// Errors name the run and the figure; a figure that a run cannot be drawn as is named in the report with the reason.
[[nodiscard]] Result<Report> make_report(const std::vector<FigureRun>& runs, const ReportOptions& options,
                                         const FontLibrary& fonts);

// One page that needs nothing else: no network, no other file.
[[nodiscard]] Result<std::string> report_html(const Report& report, const FontLibrary& fonts);
// A4 pages.
[[nodiscard]] Result<std::string> report_pdf(Report& report, const FontLibrary& fonts);

}  // namespace headroom
