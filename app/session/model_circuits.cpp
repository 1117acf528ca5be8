#include "app/session/model_circuits.h"

#include <utility>

#include "core/base/numbers.h"
#include "core/circuits/circuit_file.h"
#include "core/run/quantity_info.h"

namespace headroom {

std::shared_ptr<const RunSnapshot> with_circuits(const std::shared_ptr<const RunSnapshot>& run,
                                                 const ModelCircuits& circuits) {
  if (!run || circuits.done == 0) return run;
  auto changed = std::make_shared<RunSnapshot>(*run);
  for (const QuantityInfo& info : quantity_infos()) {
    if (info.group != QuantityGroup::Circuits) continue;
    std::vector<double> values;
    values.reserve(run->layers.size() * run->heads.size() * info.elements());
    for (const std::int64_t layer : run->layers)
      for (const std::int64_t head : run->heads)
        for (std::size_t element = 0; element < info.elements(); ++element) {
          const LayerCircuits* found = circuits.layer(layer);
          values.push_back(found ? circuit_element(*found, static_cast<std::size_t>(head), info.name, 0, element)
                                 : kNaN);
        }
    changed->beside[info.name] = std::move(values);
  }
  return changed;
}

std::shared_ptr<const RunSnapshot> heads_of_model(const ModelSpec& model, const std::string& name) {
  auto run = std::make_shared<RunSnapshot>();
  run->model_name = name;
  run->model_kind = model.kinds_text();
  run->all_layers = static_cast<std::int64_t>(model.blocks.size());
  run->layers = model.attention_layers();
  for (std::int64_t head = 0; head < model.num_heads; ++head) run->heads.push_back(head);
  run->prompt = std::make_shared<const Prompt>();
  run->complete = true;
  for (const std::int64_t index : run->layers) {
    const BlockSpec& block = model.blocks[static_cast<std::size_t>(index)];
    auto layer = std::make_shared<LayerSnapshot>();
    layer->layer = index;
    layer->kind = block.kind();
    layer->context_dim = block.attention.context_dim();
    layer->lambda_init = kNaN;
    layer->programs = block.attention.heads;
    for (std::size_t head = 0; head < layer->programs.size(); ++head) {
      layer->heads.push_back(static_cast<std::int64_t>(head));
      layer->kv_heads.push_back({layer->programs[head].first.key_block, layer->programs[head].second.key_block});
    }
    layer->visible = {{}};
    run->data.push_back(std::move(layer));
  }
  return run;
}

}  // namespace headroom
