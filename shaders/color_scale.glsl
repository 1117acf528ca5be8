// From a value to the entry of its colour table, as scale_color() in app/plot/color_map.h finds it. The position is an
// estimate; the table's own edges decide, so that the entry is the same to the last bit on every device.

uniform sampler2D u_steps;   // 256 × 1: smallest value of the entry, smallest value of the next, colour as a whole number
uniform int u_scale_kind;    // 0 linear, 1 log10, 2 symlog
uniform vec4 u_scale;        // linear: low, 1 / (high − low); log10: log2(low), 1 / log2(high / low);
                             // symlog: threshold, 1 / (1 + log10(high / threshold))

float estimated_position(float value) {
  if (u_scale_kind == 0) return (value - u_scale.x) * u_scale.y;
  if (u_scale_kind == 1) return value > 0.0 ? (log2(value) - u_scale.x) * u_scale.y : 0.0;
  float ratio = abs(value) / u_scale.x;
  float share = (ratio <= 1.0 ? ratio : 1.0 + log2(ratio) * 0.30102999566) * u_scale.y;
  return 0.5 + 0.5 * (value < 0.0 ? -share : share);
}

vec3 scale_color(float value) {
  int entry = int(clamp(estimated_position(value), 0.0, 1.0) * 255.0 + 0.5);
  vec4 step_of = texelFetch(u_steps, ivec2(entry, 0), 0);
  while (entry > 0 && value < step_of.x) step_of = texelFetch(u_steps, ivec2(--entry, 0), 0);
  while (entry < 255 && value >= step_of.y) step_of = texelFetch(u_steps, ivec2(++entry, 0), 0);
  int rgb = int(step_of.z);
  return vec3(float(rgb >> 16), float((rgb >> 8) & 255), float(rgb & 255)) / 255.0;
}
