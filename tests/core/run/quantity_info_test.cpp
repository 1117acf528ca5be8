#include "core/run/quantity_info.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/measure/circuit_quantities.h"
#include "core/measure/quantity.h"
#include "tests/support/catch.h"
#include "tests/support/snapshots.h"

using namespace headroom;
using test::make_snapshot;

CATCH_TEST_CASE("every root quantity of the run file is there once, with a title, a group and its axes") {
  std::set<std::string> names, titles;
  for (const QuantityInfo& info : quantity_infos()) {
    CATCH_CAPTURE(info.name);
    CATCH_CHECK(names.insert(info.name).second);
    CATCH_CHECK(titles.insert(info.title).second);
    CATCH_CHECK_FALSE(info.column.empty());
    CATCH_CHECK(info.decimals >= 0);
    CATCH_CHECK(info.default_index < info.elements());
  }
  std::size_t root = 0;
  for (const Quantity& quantity : head_quantities()) {
    if (!quantity.group.empty()) continue;
    ++root;
    const QuantityInfo* info = find_quantity_info(quantity.name);
    CATCH_CAPTURE(std::string(quantity.name));
    CATCH_REQUIRE(info != nullptr);
    CATCH_REQUIRE(info->axes.size() == quantity.axes.size());
    for (std::size_t a = 0; a < info->axes.size(); ++a) {
      CATCH_CHECK(info->axes[a].name == quantity.axes[a]);
      CATCH_CHECK(info->axes[a].labels.size() == test::axis_size(quantity.axes[a], 10));
    }
    CATCH_CHECK(info->column.size() <= 20);  // it has a short title of its own
  }
  // Beside these the loss changes, which are in no run file.
  for (const char* name : {"delta_loss_off", "delta_loss_mean", "delta_loss_hide_key0", "delta_loss_second_off"})
    CATCH_CHECK(names.erase(name) == 1);
  // And those of the weights alone.
  for (const QuantityInfo& info : quantity_infos())
    if (info.group == QuantityGroup::Circuits) {
      CATCH_CAPTURE(info.name);
      CATCH_CHECK(find_circuit_quantity(info.name) != nullptr);
      CATCH_CHECK(names.erase(info.name) == 1);
    }
  CATCH_CHECK(names.size() == root);
  CATCH_CHECK(std::ranges::is_sorted(quantity_infos(), {}, &QuantityInfo::group));
}

CATCH_TEST_CASE("names of elements: labels, indices, defaults, and back to text") {
  const auto index = [](std::string_view text) { return parse_quantity(text).value().index; };
  CATCH_CHECK(index("sink_score") == 0);
  CATCH_CHECK(index("sink_score[second]") == 1);
  CATCH_CHECK(index("sink_score[1]") == 1);
  CATCH_CHECK(index("rows_inside_bound") == 2);
  CATCH_CHECK(index("rows_inside_bound[softmax]") == 0);
  CATCH_CHECK(index("lambda_quantile") == 5);
  CATCH_CHECK(index("lambda_quantile[0.99]") == 9);
  CATCH_CHECK(index("lambda_quantile[.5]") == 5);
  CATCH_CHECK(index("top_key_mass[second, 16]") == 9);
  CATCH_CHECK(index("top_key_mass[16]") == 4);
  CATCH_CHECK(index("top_key_mass[second]") == 7);
  CATCH_CHECK(index("top_key_position[first,15]") == 15);
  for (const QuantityInfo& info : quantity_infos())
    for (std::size_t i = 0; i < info.elements(); ++i) {
      const QuantityRef ref{&info, i};
      CATCH_CAPTURE(quantity_text(ref));
      CATCH_CHECK(parse_quantity(quantity_text(ref)).value() == ref);
    }
  CATCH_CHECK(quantity_title({find_quantity_info("sink_score"), 1}) == "sink score α₀, second");
  CATCH_CHECK(quantity_heading({find_quantity_info("sink_score"), 0}) == "Sink score α₀");
  CATCH_CHECK(quantity_title({find_quantity_info("top_key_mass"), 2}) == "share of the top keys, first, 4");
}

CATCH_TEST_CASE("what is no quantity is refused with the nearest name and the place") {
  const auto error = [](std::string_view text) { return parse_quantity(text).error(); };
  CATCH_CHECK(error("sink_scor").hint == "did you mean sink_score?");
  CATCH_CHECK(error("").code == ErrorCode::InvalidArgument);
  CATCH_CHECK(error("sink_score[third]").offset == 10);
  CATCH_CHECK(error("sink_score[third]").expected == "first, second");
  CATCH_CHECK(error("sink_score[2]").expected == "first, second");
  CATCH_CHECK(error("value_drain[0]").message.find("one number per head") != std::string::npos);
  CATCH_CHECK(error("sink_score[").message.find("not closed") != std::string::npos);
  CATCH_CHECK(error("top_key_mass[first,3]").expected == "1, 2, 4, 8, 16");
}

CATCH_TEST_CASE("numbers have digits per quantity, shares in per cent") {
  CATCH_CHECK(number_text(*find_quantity_info("sink_score"), 0.79314) == "0.793");
  CATCH_CHECK(number_text(*find_quantity_info("coherence_mean"), 1.3249) == "1.32");
  CATCH_CHECK(number_text(*find_quantity_info("logit_max"), 11.23) == "11.2");
  CATCH_CHECK(number_text(*find_quantity_info("rows_inside_bound"), 0.9912) == "99.1");
  CATCH_CHECK(number_text(*find_quantity_info("top_sink_position"), 12.0) == "12");
  CATCH_CHECK(number_text(*find_quantity_info("lambda_mean"), std::nan("")) == "–");
}

CATCH_TEST_CASE("decimals belong to the quantity") {
  for (const char* name : {"sink_score", "context_rms_relative_mean", "value_drain", "entropy_normalized_mean",
                           "induction_score", "lambda_mean", "rows/weight_l2"}) {
    CATCH_INFO(name);
    CATCH_CHECK(quantity_decimals(name) == 3);
  }
  for (const char* name : {"coherence_mean", "effective_keys_mean", "entropy_mean"})
    CATCH_CHECK(quantity_decimals(name) == 2);
  for (const char* name : {"logit_max", "mean_distance", "rows_inside_bound", "logit_abs_max"}) {
    CATCH_CHECK(quantity_decimals(name) == 1);
  }
  for (const char* name : {"top_sink_position", "kv_head", "rows/rounds_to_one"})
    CATCH_CHECK(quantity_decimals(name) == 0);
}
