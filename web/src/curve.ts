// Progress over iterations, as small as it can be and still be read: one chart per number, one line per run.

import type { Metrics } from "./api.js";
import { SERIES, extent, short } from "./colors.js";

export const CURVES: [string, string][] = [
  ["qd_score", "QD score"],
  ["coverage", "coverage"],
  ["best_objective", "best return found"],
  ["mean_objective", "mean return found"],
];

const numbers = (metrics: Metrics, name: string) => (metrics[name] ?? []).map((v) => v ?? NaN);
const latest = (values: number[]) => values.findLast((v) => Number.isFinite(v));

/** Draws some of the curves side by side; what they say in words is the canvas's label. */
export function drawCurves(canvas: HTMLCanvasElement, runs: Metrics[], names: [string, string][], columns: number): void {
  const [w, h] = [canvas.clientWidth, canvas.clientHeight];
  if (!w || !h) return;
  const scale = Math.min(devicePixelRatio, 2);
  canvas.width = Math.round(w * scale);
  canvas.height = Math.round(h * scale);
  const context = canvas.getContext("2d")!;
  context.setTransform(scale, 0, 0, scale, 0, 0);
  const rows = Math.ceil(names.length / columns);
  const [cw, ch] = [w / columns, h / rows];
  const said = names.map(([name, title], i) => drawOne(context, canvas, runs, name, title, { x: (i % columns) * cw, y: Math.floor(i / columns) * ch, w: cw, h: ch }));
  canvas.ariaLabel = `Over iterations: ${said.join("; ")}`;
}

function drawOne(context: CanvasRenderingContext2D, canvas: HTMLCanvasElement, runs: Metrics[], name: string, title: string, box: { x: number; y: number; w: number; h: number }): string {
  const style = getComputedStyle(canvas);
  const series = runs.map((metrics) => ({ at: numbers(metrics, "iteration"), values: numbers(metrics, name) }));
  const [low, high] = extent(series.flatMap((s) => s.values));
  const [first, last] = extent(series.flatMap((s) => s.at));
  const room = { left: box.x + 8, right: box.x + box.w - 10, top: box.y + 22, bottom: box.y + box.h - 6 };
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "alphabetic";
  series.forEach(({ at, values }, i) => {
    context.strokeStyle = context.fillStyle = runs.length === 1 ? style.getPropertyValue("--accent").trim() : SERIES[i % SERIES.length]!;
    context.lineWidth = 2;
    context.beginPath();
    const places = values.flatMap((v, k) => {
      if (!Number.isFinite(v)) return [];
      const x = room.left + (room.right - room.left) * (last > first ? (at[k]! - first) / (last - first) : 1);
      return [[x, room.bottom - (room.bottom - room.top) * (high > low ? (v - low) / (high - low) : 0.5)] as const];
    });
    places.forEach(([x, y]) => context.lineTo(x, y));
    context.stroke();
    // One iteration is a dot, not a line.
    if (places.length === 1) context.fillRect(places[0]![0] - 3, places[0]![1] - 3, 6, 6);
  });
  const now = series.map((s) => latest(s.values));
  const percent = (v: number) => (name === "coverage" ? `${short(100 * v)} %` : short(v));
  const said = `${title} ${runs.length === 1 ? (now[0] === undefined ? "–" : percent(now[0])) : `${percent(low)} to ${percent(high)}`}`;
  context.fillStyle = style.getPropertyValue("--muted").trim();
  context.fillText(said, room.left, box.y + 13);
  return said;
}
