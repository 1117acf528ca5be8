// `headroom circuits PATH -o c.h5`: what each head can read and write, from the weights alone. Main thread only.
#pragma once

#include "app/cli/analyze_command.h"

namespace headroom {

struct CircuitsArguments {
  AnalyzeArguments run;  // of it path, options, output, layers, heads, force, json, command_line
  bool composition = false;
};

[[nodiscard]] int run_circuits(const CircuitsArguments& arguments);

}  // namespace headroom
