#include "app/paper/font_subset.h"

#include <hb-subset.h>

#include <cstddef>
#include <memory>

namespace headroom {
namespace {

struct HarfBuzzDeleter {
  void operator()(hb_blob_t* blob) const { hb_blob_destroy(blob); }
  void operator()(hb_face_t* face) const { hb_face_destroy(face); }
  void operator()(hb_subset_input_t* input) const { hb_subset_input_destroy(input); }
};
template <typename T>
using HarfBuzz = std::unique_ptr<T, HarfBuzzDeleter>;

}  // namespace

std::string font_subset(const FontFace& font, const std::set<char32_t>& characters) {
  const FontFile& file = font.file();
  if (FT_HAS_COLOR(font.face()) || !FT_IS_SCALABLE(font.face()) || file.index >> 16 != 0) return {};
  const HarfBuzz<hb_blob_t> bytes(hb_blob_create_from_file_or_fail(file.path.c_str()));
  if (!bytes) return {};
  const HarfBuzz<hb_face_t> face(hb_face_create(bytes.get(), static_cast<unsigned>(file.index)));
  const HarfBuzz<hb_subset_input_t> input(hb_subset_input_create_or_fail());
  if (!input) return {};
  for (const char32_t c : characters) hb_set_add(hb_subset_input_unicode_set(input.get()), c);
  hb_subset_input_set_flags(input.get(), HB_SUBSET_FLAGS_NO_HINTING);
  hb_set_t* features = hb_subset_input_set(input.get(), HB_SUBSET_SETS_LAYOUT_FEATURE_TAG);
  hb_set_clear(features);
  for (const hb_tag_t tag :
       {HB_TAG('k', 'e', 'r', 'n'), HB_TAG('m', 'a', 'r', 'k'), HB_TAG('m', 'k', 'm', 'k'), HB_TAG('c', 'c', 'm', 'p')})
    hb_set_add(features, tag);
  const HarfBuzz<hb_face_t> made(hb_subset_or_fail(face.get(), input.get()));
  if (!made) return {};
  const HarfBuzz<hb_blob_t> part(hb_face_reference_blob(made.get()));
  unsigned size = 0;
  const char* data = hb_blob_get_data(part.get(), &size);
  return data != nullptr ? std::string(data, size) : std::string();
}

}  // namespace headroom
