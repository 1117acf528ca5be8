// Panels of what λ goes with: heads as dots in columns, and heads over a number of the token. Values; drawing is as the
// painter says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "app/figures/figure.h"
#include "app/figures/page_axes.h"
#include "core/run/lambda_relations.h"

namespace headroom {

// One column of dots, a head each.
struct LambdaColumn {
  std::string name, below;  // below: a second line
  std::vector<OverTexts> heads;

  [[nodiscard]] double median() const;
  [[nodiscard]] std::int64_t apart(bool above) const;
};

class LambdaColumnsPanel final : public FigurePanel {
 public:
  std::vector<HeadRef> heads;
  std::ptrdiff_t chosen = -1;  // among them
  std::vector<LambdaColumn> columns;
  bool tested = false;  // several texts
  PageAxis y;
  std::string sentence;

  [[nodiscard]] PanelRoom room(const Page& page, Vec2 inner) const override;
  [[nodiscard]] Vec2 least_inner(const Page& page) const override;
  void draw(Painter& painter, const PanelFrame& frame, const Page& page) const override;
  void add_data(FigureData& data) const override;
  [[nodiscard]] std::string caption() const override { return sentence; }

 private:
  [[nodiscard]] std::string series_of(const LambdaColumn& column) const;
  [[nodiscard]] std::vector<std::vector<Vec2>> placed(const Axis& along, const Axis& up, float room,
                                                      float radius) const;
  void draw_chosen(Painter& painter, const std::vector<std::vector<Vec2>>& places, const Axis& up,
                   const PageStyle& style) const;
  void draw_texts(Painter& painter, const Rect& inner, const Axis& along, const Page& page) const;
};

// One head, and median and quartiles over all of them, over a number of the token.
class LambdaCoursePanel final : public FigurePanel {
 public:
  struct Point {
    double x = 0.0, lower = kNaN, median = kNaN, upper = kNaN, head = kNaN;
    std::int64_t tokens = 0;
  };
  HeadRef head;
  std::size_t heads = 0;
  std::vector<Point> points;
  std::string series;
  PageAxis x, y;
  std::string sentence;

  [[nodiscard]] PanelRoom room(const Page& page, Vec2 inner) const override;
  void draw(Painter& painter, const PanelFrame& frame, const Page& page) const override;
  void add_data(FigureData& data) const override;
  [[nodiscard]] std::string caption() const override { return sentence; }

 private:
  [[nodiscard]] std::vector<double> column(double Point::* of) const;
};

}  // namespace headroom
