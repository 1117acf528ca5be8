#include "app/session/quantities.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/circuits/circuit_quantities.h"
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

CATCH_TEST_CASE("values of heads are those of the run file, with no value where a map or layer is absent") {
  test::SnapshotOptions options;
  options.finished = 3;
  options.nan_quantity = "value_drain";
  const auto run = make_snapshot(options);
  const QuantityRef top = parse_quantity("top_key_mass[8]").value();
  const std::vector<double> values = head_values(*run, top);
  CATCH_REQUIRE(values.size() == 12);
  CATCH_CHECK(values[1 * 3 + 2] == run->layer(1)->summary.at("top_key_mass")[2 * 10 + 3]);
  CATCH_CHECK(head_value(*run, top, 1, 2) == values[5]);
  CATCH_CHECK(std::isnan(values[9]));
  CATCH_CHECK(std::isnan(head_value(*run, top, 3, 0)));
  CATCH_CHECK(std::isnan(head_value(*run, parse_quantity("kv_head[second]").value(), 0, 0)));  // −1 in the file
  CATCH_CHECK(std::isnan(head_value(*run, parse_quantity("value_drain").value(), 0, 0)));
  CATCH_CHECK(head_value(*run, parse_quantity("kv_head").value(), 0, 2) == 1.0);

  CATCH_CHECK(missing_reason(*run, parse_quantity("lambda_mean").value(), 0) == "A softmax head has one map and no λ.");
  CATCH_CHECK(missing_reason(*run, parse_quantity("sink_score[1]").value(), 0).find("second") != std::string::npos);
  CATCH_CHECK(missing_reason(*run, top, 3) == "The layer is not computed yet.");
  CATCH_CHECK(null_level(*run, parse_quantity("sink_score").value()) == run->sink_null);
  CATCH_CHECK(std::isnan(null_level(*run, top)));
}

CATCH_TEST_CASE("numbers have digits per quantity, shares in per cent") {
  CATCH_CHECK(number_text(*find_quantity_info("sink_score"), 0.79314) == "0.793");
  CATCH_CHECK(number_text(*find_quantity_info("coherence_mean"), 1.3249) == "1.32");
  CATCH_CHECK(number_text(*find_quantity_info("logit_max"), 11.23) == "11.2");
  CATCH_CHECK(number_text(*find_quantity_info("rows_inside_bound"), 0.9912) == "99.1");
  CATCH_CHECK(number_text(*find_quantity_info("top_sink_position"), 12.0) == "12");
  CATCH_CHECK(number_text(*find_quantity_info("lambda_mean"), std::nan("")) == "–");
}

CATCH_TEST_CASE("the usual columns have values in this run") {
  test::SnapshotOptions options;
  const auto has = [](const std::vector<std::string>& names, const char* name) {
    return std::ranges::count(names, name) == 1;
  };
  const auto softmax = usual_columns(*make_snapshot(options));
  CATCH_CHECK(has(softmax, "sink_score"));
  CATCH_CHECK_FALSE(has(softmax, "lambda_mean"));
  options.kind = "diff_v2";
  CATCH_CHECK(has(usual_columns(*make_snapshot(options)), "lambda_mean"));
  options.kind = "diff_v1";
  CATCH_CHECK(has(usual_columns(*make_snapshot(options)), "norm_gain_median"));
}
