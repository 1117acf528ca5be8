#include "core/measure/layer_record.h"

namespace headroom {

kernels::Mask LayerRecord::mask(const HeadRecord& head_record) const {
  return {length,
          causal,
          window,
          0,
          head_record.program.hidden_keys,
          first_query,
          key_length,
          dense ? dense->of_head(head_record.head) : nullptr,
          chunk,
          always_visible};
}

}  // namespace headroom
