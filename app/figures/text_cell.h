// Words in a cell of a composed figure: lines break between words in the cell's width. A value; drawing is as the
// painter says.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/figures/figure.h"

namespace headroom {

class TextCell final : public FigurePanel {
 public:
  explicit TextCell(std::string_view markup);  // of rich_text.h; line breaks are kept; empty: an empty cell

  [[nodiscard]] PanelRoom room(const Page&, Vec2) const override { return {}; }
  [[nodiscard]] Vec2 least_inner(const Page& page) const override;  // of its longest word
  [[nodiscard]] float needed_height(const Page& page, float width) const override;
  void draw(Painter& painter, const PanelFrame& frame, const Page& page) const override;
  void add_data(FigureData&) const override {}
  [[nodiscard]] std::string caption() const override { return {}; }

 private:
  [[nodiscard]] std::vector<RichText> lines(const Page& page, float width) const;

  std::vector<std::vector<RichText>> words_;  // by line of the text
};

}  // namespace headroom
