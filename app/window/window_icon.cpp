#include "app/window/window_icon.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "app/plot/color_map.h"
#include "app/plot/theme.h"

namespace headroom {
namespace {

constexpr int kCells = 6;

// What an attention head of that kind gives: a bright first key, a bright diagonal, a little between.
float weight(int query, int key) {
  if (key == 0) return 0.92f - 0.05f * static_cast<float>(query);
  if (key == query) return 0.66f;
  return 0.26f + 0.05f * static_cast<float>((query * 5 + key * 3) % 4);
}

// How much of the pixel lies in the rounded square of the icon.
float inside(float x, float y, float size) {
  const float radius = 0.18f * size, half = 0.5f * size;
  const float dx = std::max(std::abs(x - half) - (half - radius), 0.0f),
              dy = std::max(std::abs(y - half) - (half - radius), 0.0f);
  return std::clamp(radius - std::sqrt(dx * dx + dy * dy) + 0.5f, 0.0f, 1.0f);
}

}  // namespace

std::vector<std::uint8_t> icon_pixels(int size) {
  std::vector<std::uint8_t> pixels;
  pixels.reserve(static_cast<std::size_t>(size) * static_cast<std::size_t>(size) * 4);
  const int cell = std::max(1, size * 3 / 4 / kCells), margin = (size - cell * kCells) / 2;
  const int gap = size >= 32 ? 1 : 0;
  const Theme& theme = dark_theme();
  const ColorScale scale{theme.sequential(), ScaleKind::Linear, 0.0f, 1.0f};
  for (int y = 0; y < size; ++y) {
    for (int x = 0; x < size; ++x) {
      Color color = theme.panel;
      const int in_x = x - margin, in_y = y - margin;
      if (in_x >= 0 && in_y >= 0 && in_x < cell * kCells && in_y < cell * kCells) {
        const int key = in_x / cell, query = in_y / cell;
        const bool between = in_x % cell >= cell - gap || in_y % cell >= cell - gap;
        if (key <= query && !between) color = scale_color(scale, weight(query, key));
      }
      const float coverage =
          inside(static_cast<float>(x) + 0.5f, static_cast<float>(y) + 0.5f, static_cast<float>(size));
      pixels.insert(pixels.end(), {color.r, color.g, color.b, color.faded(coverage).a});
    }
  }
  return pixels;
}

void set_window_icon(GLFWwindow* window) {
  constexpr std::array<int, 4> kSizes = {16, 32, 48, 128};
  std::array<std::vector<std::uint8_t>, kSizes.size()> pixels;
  std::array<GLFWimage, kSizes.size()> images{};
  for (std::size_t i = 0; i < kSizes.size(); ++i) {
    pixels[i] = icon_pixels(kSizes[i]);
    images[i] = {kSizes[i], kSizes[i], pixels[i].data()};
  }
  glfwSetWindowIcon(window, static_cast<int>(images.size()), images.data());
}

}  // namespace headroom
