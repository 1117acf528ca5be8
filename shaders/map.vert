#version 330 core
// One rectangle of the frame; its corners come from the vertex number.

uniform vec2 u_frame;  // device pixels
uniform vec4 u_quad;   // x0, y0, x1, y1 in device pixels, y down

out vec2 v_pixel;      // device pixels, y down, whatever the frame's own direction

void main() {
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
  v_pixel = mix(u_quad.xy, u_quad.zw, corner);
  vec2 at = v_pixel / u_frame;
  gl_Position = vec4(2.0 * at.x - 1.0, 1.0 - 2.0 * at.y, 0.0, 1.0);
}
