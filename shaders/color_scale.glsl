// From a value to the entry of its colour table, as scale_color() in app/plot/color_map.h finds it. The position is an
// estimate; near the edge between two entries the table's own edges decide, so that the entry is the same to the last
// bit on every device.

uniform sampler2D u_colors;  // 256 × 1: the table
uniform sampler2D u_steps;   // 256 × 1: smallest value of the entry, smallest value of the next
uniform int u_scale_kind;    // 0 linear, 1 log10, 2 symlog
uniform vec4 u_scale;        // linear: low, 1 / (high − low); log10: log2(low), 1 / log2(high / low);
                             // symlog: threshold, 1 / (1 + log10(high / threshold))
uniform float u_doubt;       // the estimate's error, in entries; 1: trust no estimate

// In entries, 0 to 255.
float estimated_entry(float value) {
  float magnitude = abs(value);
  float position;
  if (u_scale_kind == 0) {
    position = (value - u_scale.x) * u_scale.y;
  } else if (u_scale_kind == 1) {
    position = value > 0.0 ? (log2(magnitude) - u_scale.x) * u_scale.y : 0.0;
  } else {
    float ratio = magnitude / u_scale.x;
    float share = (ratio <= 1.0 ? ratio : 1.0 + log2(ratio) * 0.30102999566) * u_scale.y;
    position = 0.5 + 0.5 * (value < 0.0 ? -share : share);
  }
  return clamp(position, 0.0, 1.0) * 255.0;
}

vec3 scale_color(float value) {
  float estimate = estimated_entry(value) + 0.5;
  int entry = int(estimate);
  float within = estimate - float(entry);
  // A loop, not a condition: software renderers skip a loop that no pixel enters, but follow both sides of a condition.
  bool doubtful = within < u_doubt || within > 1.0 - u_doubt;
  while (doubtful) {
    vec2 edges = texelFetch(u_steps, ivec2(entry, 0), 0).rg;
    int change = (value >= edges.y && entry < 255 ? 1 : 0) - (value < edges.x && entry > 0 ? 1 : 0);
    entry += change;
    doubtful = change != 0;
  }
  return texelFetch(u_colors, ivec2(entry, 0), 0).rgb;
}
