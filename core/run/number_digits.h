// Numbers of a quantity with as many digits as what they are uncertain by leaves. Pure functions; safe from any thread.
#pragma once

#include <string>

#include "core/run/quantity_info.h"

namespace headroom {

// As many decimals as give two digits to `uncertainty`, never fewer than the quantity has; where nothing is known of
// it, as the quantity has.
[[nodiscard]] int decimals_by(const QuantityInfo& info, double uncertainty);
[[nodiscard]] std::string number_text(const QuantityInfo& info, double value, int decimals);

}  // namespace headroom
