#version 330 core
// Squares that were counted per pixel: one colour, and the opacity of all of them together.

uniform sampler2D u_opacity;
uniform vec4 u_quad;  // where the counted pixels lie, device pixels
uniform vec4 u_color;
in vec2 v_pixel;
out vec4 o_color;

void main() {
  ivec2 pixel = ivec2(v_pixel - u_quad.xy);
  float opacity = texelFetch(u_opacity, pixel, 0).r;
  if (opacity == 0.0) discard;
  o_color = vec4(u_color.rgb, opacity);
}
