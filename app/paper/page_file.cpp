#include "app/paper/page_file.h"

#include <cairo-pdf.h>
#include <cairo.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>

#include "app/paper/cairo_handles.h"
#include "app/paper/cairo_painter.h"
#include "app/paper/svg_painter.h"

namespace headroom {
namespace {

cairo_status_t append_bytes(void* bytes, const unsigned char* data, unsigned length) {
  static_cast<std::string*>(bytes)->append(reinterpret_cast<const char*>(data), length);
  return CAIRO_STATUS_SUCCESS;
}

Result<void> checked(cairo_status_t status) {
  if (status == CAIRO_STATUS_SUCCESS) return {};
  return Error(ErrorCode::OutOfMemory, std::string("the page could not be drawn: ") + cairo_status_to_string(status));
}

// "key=value; …", where PDF 1.5 of Cairo has no keys of one's own.
std::string joined(const FileKeys& keys) {
  std::string text;
  for (const auto& [key, value] : keys) text += (text.empty() ? "" : "; ") + key + "=" + value;
  return text;
}

}  // namespace

Result<PageBytes> make_pages(const PageInfo& info, const FontLibrary& fonts,
                             std::span<const std::function<void(Painter&)>> pages) {
  PageBytes page;
  {
    const CairoSurface surface(cairo_pdf_surface_create_for_stream(append_bytes, &page.bytes, info.width, info.height));
    // What TeX includes without a warning, and whose keys (page_keys.h) lie open: newer versions compress them.
    cairo_pdf_surface_restrict_to_version(surface.get(), CAIRO_PDF_VERSION_1_4);
    const auto tell = [&](cairo_pdf_metadata_t what, const std::string& text) {
      if (!text.empty()) cairo_pdf_surface_set_metadata(surface.get(), what, text.c_str());
    };
    tell(CAIRO_PDF_METADATA_TITLE, info.title);
    tell(CAIRO_PDF_METADATA_SUBJECT, info.description);
    tell(CAIRO_PDF_METADATA_KEYWORDS, joined(info.keys));
    tell(CAIRO_PDF_METADATA_CREATOR, "headroom");
    // Without a date of one's own Cairo writes the present time.
    const std::string date = info.created_utc.empty() ? "1970-01-01T00:00:00Z" : info.created_utc;
    tell(CAIRO_PDF_METADATA_CREATE_DATE, date);
    tell(CAIRO_PDF_METADATA_MOD_DATE, date);
    const CairoContext context(cairo_create(surface.get()));
    CairoPainter painter(context.get(), fonts, info.dots_per_inch);
    for (const auto& draw : pages) {
      draw(painter);
      cairo_show_page(context.get());
    }
    page.warnings = painter.warnings();
    HEADROOM_TRY_VOID(checked(cairo_status(context.get())));
    cairo_surface_finish(surface.get());
    HEADROOM_TRY_VOID(checked(cairo_surface_status(surface.get())));
  }
  return page;
}

namespace {

Result<PageBytes> make_png(const PageInfo& info, const FontLibrary& fonts, const std::function<void(Painter&)>& draw) {
  HEADROOM_TRY(PagePixels pixels, make_pixels(info, fonts, draw));
  PageBytes page;
  page.warnings = std::move(pixels.warnings);
  FileKeys keys = info.keys;
  keys.insert(keys.begin(), {{"Title", info.title}, {"Description", info.description}});
  std::erase_if(keys, [](const auto& key) { return key.second.empty(); });
  page.bytes = png_bytes(pixels.rgb, pixels.width, pixels.height, info.dots_per_inch, keys);
  if (page.bytes.empty()) return Error(ErrorCode::OutOfMemory, "the picture could not be made: libpng has no memory");
  return page;
}

}  // namespace

Result<PagePixels> make_pixels(const PageInfo& info, const FontLibrary& fonts,
                               const std::function<void(Painter&)>& draw) {
  const double scale = info.dots_per_inch / 72.0;
  PagePixels page;
  page.width = static_cast<std::int32_t>(std::lround(info.width * scale));
  page.height = static_cast<std::int32_t>(std::lround(info.height * scale));
  const CairoSurface surface(cairo_image_surface_create(CAIRO_FORMAT_RGB24, page.width, page.height));
  HEADROOM_TRY_VOID(checked(cairo_surface_status(surface.get())));
  {
    const CairoContext context(cairo_create(surface.get()));
    cairo_set_source_rgb(context.get(), 1.0, 1.0, 1.0);
    cairo_paint(context.get());
    cairo_scale(context.get(), scale, scale);
    CairoPainter painter(context.get(), fonts, info.dots_per_inch);
    draw(painter);
    page.warnings = painter.warnings();
    HEADROOM_TRY_VOID(checked(cairo_status(context.get())));
  }
  cairo_surface_flush(surface.get());
  const unsigned char* data = cairo_image_surface_get_data(surface.get());
  const int stride = cairo_image_surface_get_stride(surface.get());
  page.rgb.reserve(std::size_t{3} * static_cast<std::size_t>(page.width) * static_cast<std::size_t>(page.height));
  for (std::int32_t y = 0; y < page.height; ++y) {
    const auto* row = reinterpret_cast<const std::uint32_t*>(data + static_cast<std::ptrdiff_t>(y) * stride);
    for (std::int32_t x = 0; x < page.width; ++x)
      for (const int shift : {16, 8, 0}) page.rgb.push_back(static_cast<std::uint8_t>(row[x] >> shift));
  }
  return page;
}

std::optional<PageFormat> page_format(std::string_view file_name) {
  for (const auto& [ending, format] :
       {std::pair{".pdf", PageFormat::Pdf}, {".svg", PageFormat::Svg}, {".png", PageFormat::Png}})
    if (file_name.ends_with(ending)) return format;
  return {};
}

Result<PageBytes> make_page(PageFormat format, const PageInfo& info, const FontLibrary& fonts,
                            const std::function<void(Painter&)>& draw) {
  switch (format) {
    case PageFormat::Pdf: return make_pages(info, fonts, std::span(&draw, 1));
    case PageFormat::Png: return make_png(info, fonts, draw);
    case PageFormat::Svg: break;
  }
  SvgPainter painter(info, fonts);
  draw(painter);
  return PageBytes{painter.finish(), painter.warnings()};
}

}  // namespace headroom
