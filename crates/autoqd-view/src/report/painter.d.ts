export interface PainterShape {
  kind: "plane" | "sphere" | "capsule" | "ellipsoid" | "cylinder" | "box" | "polygon" | "polyline" | "mesh";
  mesh?: { vertices: [number, number, number][]; faces: [number, number, number][] };
  size: [number, number, number];
  points: [number, number][];
  rgba: [number, number, number, number];
  name: string;
  body: string;
}
export interface PainterScene {
  shapes: PainterShape[];
  flat: boolean;
  follow: number;
  seconds_per_step: number;
}
export interface PainterReplay {
  scene: PainterScene;
  frames: Float32Array;
  width: number;
  count: number;
  window2d?: unknown;
}
export interface PainterView {
  azimuth: number;
  elevation: number;
  distance: number;
  zoom?: number;
}
export interface PainterLook {
  sky: string;
  horizon: string;
  floor: string;
  line: string;
  shadow: string;
  flatSky: [string, string];
  ground: number;
}
export interface Box {
  x: number;
  y: number;
  w: number;
  h: number;
}
export const FIELD: number;
export const LOOKS: { light: PainterLook; dark: PainterLook };
export function position(replay: PainterReplay, frame: number, shape: number): [number, number, number];
export function viewOf(replay: PainterReplay): PainterView & { reach: number };
export function targetOf(replay: PainterReplay, frame: number): [number, number, number];
export function distanceIn(view: PainterView, box: Box): number;
export function paint(
  context: CanvasRenderingContext2D,
  box: Box,
  replay: PainterReplay,
  frame: number,
  view: PainterView,
  look: PainterLook,
): void;
