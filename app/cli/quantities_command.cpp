#include "app/cli/quantities_command.h"

#include <cstdio>
#include <string>
#include <vector>

#include "app/process/report_error.h"
#include "core/base/error.h"
#include "core/measure/circuit_quantities.h"
#include "core/measure/quantity_document.h"

namespace headroom {

int run_quantities(const QuantitiesArguments& arguments) {
  if (arguments.circuits && arguments.markdown) {
    std::fputs(circuits_document().c_str(), stdout);
    return 0;
  }
  if (arguments.circuits) {
    std::vector<const Quantity*> table;
    for (const Quantity& quantity : circuit_quantities())
      if (arguments.pattern.empty() || arguments.pattern == quantity.name) table.push_back(&quantity);
    const std::string text = arguments.json ? quantities_json(table, false) : quantities_text(table, false);
    std::fputs(text.c_str(), stdout);
    return 0;
  }
  const bool all = arguments.pattern.empty();
  const std::vector<const Quantity*> chosen = all ? all_quantities() : matching_quantities(arguments.pattern);
  if (chosen.empty()) {
    Error error(ErrorCode::InvalidArgument, "there is no quantity “" + arguments.pattern + "”");
    error.advise("headroom quantities lists them; * and ? stand for any characters and for one: 'rows/*'");
    return report_error(error, arguments.json);
  }
  const std::string text = arguments.json       ? quantities_json(chosen, all)
                           : arguments.markdown ? quantities_markdown(chosen, all)
                                                : quantities_text(chosen, all);
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace headroom
