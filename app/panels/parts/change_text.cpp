#include "app/panels/parts/change_text.h"

#include <cstddef>

#include "core/base/number_text.h"
#include "core/model/what_if_title.h"

namespace headroom {

std::string kind_of_attention(std::string_view kind) {
  if (kind == "softmax_one") return "off-by-one";
  if (kind == "softmax_sink") return "softmax with a sink logit";
  if (kind == "gated") return "gated softmax";
  if (kind == "diff_v1") return "DIFF V1";
  if (kind == "diff_v2") return "DIFF V2";
  return std::string(kind);
}

std::string run_title(const RunEntry& run) { return run.what_ifs.empty() ? run.name : what_ifs_title(run.what_ifs); }

RunTitles run_titles(const RunEntry& a, const RunEntry& b, const LayerSnapshot* layer_a, const LayerSnapshot* layer_b) {
  RunTitles titles{run_title(a), run_title(b)};
  if (a.model >= 0 && a.model == b.model && layer_a && layer_b) {
    // The same checkpoint: its name says nothing.
    if (a.what_ifs.empty()) titles.a = kind_of_attention(layer_a->kind);
    if (b.what_ifs.empty()) titles.b = kind_of_attention(layer_b->kind);
  }
  if (titles.a == titles.b) titles = {a.name, b.name};
  return titles;
}

std::string delta_text(double value, int decimals) {
  std::string text = signed_text(value, decimals);
  const std::size_t zero = text.find("0.");
  const bool leads = zero != std::string::npos && (zero == 0 || text[zero - 1] < '0' || text[zero - 1] > '9');
  if (leads) text.erase(zero, 1);
  return text.find_first_of("123456789") == std::string::npos ? "0" : text;
}

}  // namespace headroom
