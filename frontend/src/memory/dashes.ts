// Edges of what has ended: dashed lines, with the attributes and uniforms of sigma's plain ones.
import { EdgeRectangleProgram } from "sigma/rendering";

const VERTEX = /* glsl */ `
attribute vec4 a_id;
attribute vec4 a_color;
attribute vec2 a_normal;
attribute float a_normalCoef;
attribute vec2 a_positionStart;
attribute vec2 a_positionEnd;
attribute float a_positionCoef;

uniform mat3 u_matrix;
uniform float u_sizeRatio;
uniform float u_correctionRatio;
uniform float u_minEdgeThickness;

varying vec4 v_color;
varying float v_along;

void main() {
  vec2 normal = a_normal * a_normalCoef;
  float width = length(normal);
  float thickness = max(width, u_minEdgeThickness * u_sizeRatio) * u_correctionRatio / u_sizeRatio;
  vec2 start = (u_matrix * vec3(a_positionStart, 1)).xy;
  vec2 end = (u_matrix * vec3(a_positionEnd, 1)).xy;
  vec2 place = mix(a_positionStart, a_positionEnd, a_positionCoef) + normal / width * thickness;
  gl_Position = vec4((u_matrix * vec3(place, 1)).xy, 0, 1);
  v_along = a_positionCoef * distance(start, end);
  #ifdef PICKING_MODE
  v_color = a_id;
  #else
  v_color = a_color;
  #endif
  v_color.a *= 255.0 / 254.0;
}
`;

const FRAGMENT = /* glsl */ `
precision mediump float;
varying vec4 v_color;
varying float v_along;

void main(void) {
  #ifndef PICKING_MODE
  if (fract(v_along / 0.026) > 0.5) discard;
  #endif
  gl_FragColor = v_color;
}
`;

export class DashedEdgeProgram extends EdgeRectangleProgram {
  override getDefinition(): ReturnType<EdgeRectangleProgram["getDefinition"]> {
    return { ...super.getDefinition(), VERTEX_SHADER_SOURCE: VERTEX, FRAGMENT_SHADER_SOURCE: FRAGMENT };
  }
}
