// Where the routers of layers with experts sent the tokens: filled from RouterRecord by the recorder.
#include <vector>

#include "core/measure/quantity.h"

namespace headroom {

std::vector<Quantity> router_quantities() {
  return {
      {.group = "router",
       .name = "chosen_expert",
       .per = Per::Run,
       .axes = {"expert_layer", axis::kPosition, "choice"},
       .type = ElementType::Int32,
       .long_name = "expert that a token is sent to",
       .formula = "e_ik",
       .remark =
           "k by descending weight, equal ones by their number; without experts that every token passes; −1 where "
           "the layer sends a token to fewer",
       .range = "[−1, number of experts − 1]",
       .sources = {source::kShazeer, source::kExperts}},
      {.group = "router",
       .name = "chosen_weight",
       .per = Per::Run,
       .axes = {"expert_layer", axis::kPosition, "choice"},
       .long_name = "weight of an expert for a token",
       .formula = "g_ik",
       .remark =
           "what the output of expert e_ik for token i is multiplied with, the family's factors included; NaN where "
           "chosen_expert is −1",
       .range = "[0, ∞)",
       .sources = {source::kShazeer, source::kExperts}},
      {.group = "router",
       .name = "tokens_per_expert",
       .per = Per::Run,
       .axes = {"expert_layer", "expert"},
       .type = ElementType::Int32,
       .long_name = "tokens that an expert is sent",
       .formula = "number of pairs i, k with e_ik = expert",
       .remark = "−1 for experts that the layer does not have",
       .range = "[−1, n]",
       .sources = {source::kShazeer, source::kExperts}},
  };
}

}  // namespace headroom
