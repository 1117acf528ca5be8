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
      ->type_name(kFileValue);
  command
      ->add_option("--from", arguments.from,
                   "draw the figure of a PDF, SVG or PNG again, from the run files that it names")
      ->type_name(kFileValue);
  command->add_option("-o,--output", arguments.output, "file to write: .pdf, .svg or .png")->type_name(kFileValue);
  command->add_flag("--list", arguments.list, "the kinds, and what a file lacks for those it cannot be drawn as");
  command->add_option("--head", arguments.options.heads,
                      "heads that are drawn, e.g. L17.H4,L0.H0; the first is the figure's head");
  command->add_option("--layers", arguments.options.layers, "layers that are drawn, e.g. 0,3-9 (default: all)");
  command->add_option("--heads", arguments.options.only_heads,
                      "heads of a layer that are drawn, e.g. 0-3 (default: all)");
  command
      ->add_option("--quantity", arguments.options.quantities,
                   "quantities, e.g. sink_score,'sink_score[second]'; of tokens one of rows or keys, e.g. entropy")
      ->delimiter(',');
  command->add_option("--rows", arguments.options.rows, "queries of a map or tokens of a text, A:B, half open");
  command->add_option("--keys", arguments.options.keys, "keys of a map, A:B, half open");
  command->add_option("--cell", arguments.options.cell, "a lens about the cell I,J of a map");
  command->add_option(
      "--width", arguments.options.width,
      "e.g. 84mm, 3.3in, or single, wide, double, neurips, icml, icml-double, acl, nature, nature-double, "
      "ieee (default: the kind's)");
  command->add_option("--height", arguments.options.height, "likewise (default: follows from kind and width)");
  command
      ->add_option("--theme", arguments.options.theme,
                   "paper (default), or slides: 240 mm wide, everything twice as large")
      ->check(CLI::IsMember({"paper", "slides"}));
  command->add_option("--colour-map", arguments.options.colour_map,
                      "headroom (default), viridis, cividis, magma, grey; signed: puor, vik");
  command->add_option("--range", arguments.options.range, "LO,HI of the colours or the value axis; auto for one end");
  command->add_option("--scale", arguments.options.scale, "linear, log or symlog (default: the quantity's)")
      ->check(CLI::IsMember({"linear", "log", "symlog"}));
  command->add_option("--text-size", arguments.text_size, "points (default: 7)")->check(CLI::Range(4.0, 24.0));
  command
      ->add_option("--font", arguments.font,
                   "a family that is installed, or a font file, in place of Inter; what it lacks comes from the others")
      ->type_name("FILE|FAMILY");
  command->add_option("--title", arguments.options.title, "above the panels (default: none; a caption says more)");
  command->add_option("--letters", arguments.letters, "of panels: a (default), A, (a), none")
      ->check(CLI::IsMember({"a", "A", "(a)", "none"}));
  command->add_flag("--names", arguments.options.names, "the model's name beside the head's");
  command
      ->add_option("--against", arguments.options.against,
                   "run files of the second side of compare, paired with the others in the order given")
      ->type_name(kFileValue);
  command->add_flag("--paired", arguments.options.paired, "heads of two checkpoints are pairs (compare)");
  command->add_option("--epsilon", arguments.options.epsilon, "sink scores above it count (default: 0.3)");
  command->add_option("--top", arguments.options.top, "heads that are listed (default: 12)")->check(CLI::Range(1, 100));
  command->add_option("--points", arguments.options.points, "auto (default: above 20,000 one picture), vector or image")
      ->check(CLI::IsMember({"auto", "vector", "image"}));
  command->add_option("--dpi", arguments.dots_per_inch, "of images (default: 600, of a PNG file 300)")
      ->check(CLI::Range(50.0, 2400.0));
  command
      ->add_option("--svg-text", arguments.svg_text,
                   "outlines (default), or fonts: text that can be edited, with the fonts' characters in the file")
      ->check(CLI::IsMember({"outlines", "fonts"}));
  command->add_option("--caption", arguments.caption, "print the caption: text or latex")
      ->check(CLI::IsMember({"text", "latex"}));
  command->add_option("--data", arguments.data, "write what is drawn as CSV; - is standard output")
      ->type_name(kFileValue);
  command->add_flag("--force", arguments.force, "replace an existing file");
  command->add_flag("--json", arguments.json, "machine-readable report");
}

}  // namespace headroom
