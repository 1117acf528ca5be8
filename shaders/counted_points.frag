#version 330 core
// Squares that were counted per pixel: one colour, and the opacity of all of them together.

uniform sampler2D u_opacity;
uniform vec2 u_frame;  // device pixels
uniform vec4 u_quad;   // where the counted pixels lie
uniform vec4 u_color;
out vec4 o_color;

void main() {
  ivec2 pixel = ivec2(gl_FragCoord.x - u_quad.x, u_frame.y - gl_FragCoord.y - u_quad.y);
  float opacity = texelFetch(u_opacity, pixel, 0).r;
  if (opacity == 0.0) discard;
  o_color = vec4(u_color.rgb, opacity);
}
