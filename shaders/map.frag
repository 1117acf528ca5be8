#version 330 core
// A grid of values through a colour scale: each cell one flat colour. Pixels are told apart by their centres.

#include "color_scale.glsl"

uniform sampler2D u_values;
uniform vec2 u_origin;           // of the whole map on the frame, device pixels, y down
uniform vec2 u_cells_per_pixel;
uniform ivec2 u_first_cell;      // the cell at the origin: its whole part …
uniform vec2 u_first_fraction;   // … and the fraction
uniform ivec2 u_size;            // of the whole image, in cells
uniform ivec2 u_tile;            // the image's cell at the texture's first texel
uniform int u_gap;               // device pixels between cells
uniform vec4 u_gap_color;
uniform bool u_hatch_nan;
uniform vec4 u_empty, u_hatch;
uniform ivec2 u_hatch_period;    // distance and width of the lines, device pixels
uniform vec2 u_hatch_shift;      // from this picture's pixels to the window's, for lines that meet

in vec2 v_pixel;
out vec4 o_color;

vec4 hatched(vec2 pixel) {
  float along = floor(pixel.x + u_hatch_shift.x) + floor(pixel.y + u_hatch_shift.y);
  float distance = float(u_hatch_period.x);
  return along - distance * floor((along + 0.5) / distance) < float(u_hatch_period.y) ? u_hatch : u_empty;
}

// The quad lies inside the image, so that rounding alone can lead outside.
void main() {
  vec2 pixel = floor(v_pixel) + 0.5;  // exact, so that a cell's edge on a pixel's centre falls alike everywhere
  vec2 offset = u_first_fraction + (pixel - u_origin) * u_cells_per_pixel;
  ivec2 cell = clamp(u_first_cell + ivec2(floor(offset)), u_tile, u_tile + textureSize(u_values, 0) - 1);
  float value = texelFetch(u_values, cell - u_tile, 0).r;

  uint bits = floatBitsToUint(value);
  if ((bits & 0x7f800000u) != 0x7f800000u) {
    o_color = vec4(scale_color(value), 1.0);
  } else {
    bool nan = (bits & 0x007fffffu) != 0u;
    o_color = nan && !u_hatch_nan ? u_empty : hatched(pixel);
  }

  // The last pixels of a cell, unless it is the last of its row or column.
  vec2 ahead = floor(offset + float(u_gap) * u_cells_per_pixel) - floor(offset);
  if ((ahead.x > 0.0 && cell.x + 1 < u_size.x) || (ahead.y > 0.0 && cell.y + 1 < u_size.y)) o_color = u_gap_color;
}
