// The options of `headroom figure`.
#include <CLI/CLI.hpp>
#include <string>

#include "app/cli/command_words.h"
#include "app/cli/figure_command.h"

namespace headroom {

void add_figure(CLI::App& app, FigureArguments& arguments) {
  CLI::App* command = app.add_subcommand("figure", "a figure for a paper, from run files");
  command
      ->add_option("places", arguments.places,
                   "run files, and the kind of figure: headroom figure RUN --list names them")
      ->type_name(kFileValue)
      ->required();
  command->add_option("-o,--output", arguments.output, "file to write: .pdf, .svg or .png")->type_name(kFileValue);
  command->add_flag("--list", arguments.list, "the kinds, and what a file lacks for those it cannot be drawn as");
  command->add_option("--head", arguments.heads,
                      "heads that are drawn, e.g. L17.H4,L0.H0; the first is the figure's head");
  command->add_option("--layers", arguments.layers, "layers that are drawn, e.g. 0,3-9 (default: all)");
  command->add_option("--heads", arguments.only_heads, "heads of a layer that are drawn, e.g. 0-3 (default: all)");
  command
      ->add_option("--quantity", arguments.quantities,
                   "quantities, e.g. sink_score,'sink_score[second]'; of tokens one of rows or keys, e.g. entropy")
      ->delimiter(',');
  command->add_option("--rows", arguments.rows, "queries of a map or tokens of a text, A:B, half open");
  command->add_option("--keys", arguments.keys, "keys of a map, A:B, half open");
  command->add_option("--cell", arguments.cell, "a lens about the cell I,J of a map");
  command->add_option(
      "--width", arguments.width,
      "e.g. 84mm, 3.3in, or single, wide, double, neurips, icml, icml-double, acl, nature, nature-double, "
      "ieee (default: the kind's)");
  command->add_option("--height", arguments.height, "likewise (default: follows from kind and width)");
  command->add_option("--theme", arguments.theme, "paper (default), or slides: 240 mm wide, everything twice as large")
      ->check(CLI::IsMember({"paper", "slides"}));
  command->add_option("--colour-map", arguments.colour_map,
                      "headroom (default), viridis, cividis, magma, grey; signed: puor, vik");
  command->add_option("--range", arguments.range, "LO,HI of the colours or the value axis; auto for one end");
  command->add_option("--scale", arguments.scale, "linear, log or symlog (default: the quantity's)")
      ->check(CLI::IsMember({"linear", "log", "symlog"}));
  command->add_option("--text-size", arguments.text_size, "points (default: 7)")->check(CLI::Range(4.0, 24.0));
  command->add_option("--title", arguments.title,
                      "a title above the figure (default: none; it belongs in the caption)");
  command->add_option("--letters", arguments.letters, "of panels: a (default), A, (a), none")
      ->check(CLI::IsMember({"a", "A", "(a)", "none"}));
  command->add_flag("--names", arguments.names, "the model's name beside the head's");
  command->add_option("--epsilon", arguments.epsilon, "sink scores above it count (default: 0.3)");
  command->add_option("--top", arguments.top, "heads that are listed (default: 12)")->check(CLI::Range(1, 100));
  command->add_option("--dpi", arguments.dots_per_inch, "of images (default: 600, of a PNG file 300)")
      ->check(CLI::Range(50.0, 2400.0));
  command->add_option("--caption", arguments.caption, "print the caption: text or latex")
      ->check(CLI::IsMember({"text", "latex"}));
  command->add_option("--data", arguments.data, "write what is drawn as CSV; - is standard output")
      ->type_name(kFileValue);
  command->add_flag("--force", arguments.force, "replace an existing file");
  command->add_flag("--json", arguments.json, "machine-readable report");
}

}  // namespace headroom
