// Unicode normalisation forms with byte alignment, over utf8proc. Safe from any thread.
#pragma once

#include "core/text/aligned_text.h"

namespace headroom {

enum class UnicodeForm { Nfc, Nfd, Nfkc, Nfkd };

// `source` in `form`; bytes that are not UTF-8 stay as they are. Linear time, also for long runs of combining marks.
[[nodiscard]] AlignedText to_unicode_form(const AlignedText& source, UnicodeForm form);

}  // namespace headroom
