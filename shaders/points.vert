#version 330 core
// Squares of whole device pixels; their edges lie on pixel edges.

layout(location = 0) in vec2 a_centre;  // logical pixels
uniform float u_scale_px;               // device pixels per logical pixel
uniform float u_size;                   // device pixels, whole
uniform vec2 u_frame;                   // device pixels

void main() {
  vec2 centre = floor(a_centre * u_scale_px - 0.5 * u_size + 0.5) + 0.5 * u_size;
  vec2 at = centre / u_frame;
  gl_Position = vec4(2.0 * at.x - 1.0, 1.0 - 2.0 * at.y, 0.0, 1.0);
  gl_PointSize = u_size;
}
