// The run's progress: QD score and coverage over iterations, as small as it can be and still be read.

import type { Metrics } from "./api.js";
import { extent, short } from "./colors.js";

export function drawCurve(canvas: HTMLCanvasElement, metrics: Metrics): void {
  const [w, h] = [canvas.clientWidth, canvas.clientHeight];
  if (!w || !h) return;
  const scale = Math.min(devicePixelRatio, 2);
  canvas.width = Math.round(w * scale);
  canvas.height = Math.round(h * scale);
  const context = canvas.getContext("2d")!;
  context.setTransform(scale, 0, 0, scale, 0, 0);
  const style = getComputedStyle(canvas);
  const ink = style.getPropertyValue("--muted").trim();
  const half = w / 2;
  const iterations = (metrics["iteration"] ?? []).map((v) => v ?? NaN);
  const line = (name: string, label: string, left: number, color: string) => {
    const values = (metrics[name] ?? []).map((v) => v ?? NaN);
    const [low, high] = extent(values);
    const [first, last] = extent(iterations);
    context.strokeStyle = color;
    context.lineWidth = 2;
    context.beginPath();
    values.forEach((v, i) => {
      if (!Number.isFinite(v)) return;
      const x = left + 6 + (half - 18) * (last > first ? (iterations[i]! - first) / (last - first) : 1);
      const y = h - 6 - (h - 26) * (high > low ? (v - low) / (high - low) : 0.5);
      context.lineTo(x, y);
    });
    context.stroke();
    // One iteration is a dot, not a line.
    if (values.filter((v) => Number.isFinite(v)).length === 1) {
      context.fillStyle = color;
      context.fillRect(left + half - 15, (h + 20) / 2 - 5, 6, 6);
    }
    context.fillStyle = ink;
    context.font = "11px system-ui, sans-serif";
    const now = values.findLast((v) => Number.isFinite(v));
    context.fillText(`${label} ${now === undefined ? "–" : short(now)}`, left + 6, 13);
  };
  line("qd_score", "QD score", 0, style.getPropertyValue("--accent").trim());
  line("best_objective", "best", half, "#d55e00");
}
