// The archive as a map: cells of its grid or one dot per elite.

import type { Archive } from "./api.js";
import { MARKS, MAP, colorOf, extent, ranks, short } from "./colors.js";
import { dimension, label } from "./labels.js";
import type { Filter } from "./state.js";

const MARGIN = { left: 60, right: 12, top: 10, bottom: 38 };

export interface MapChoice {
  x: string;
  y: string;
  color: string;
  mode: "cells" | "dots";
  scale: "even" | "rank";
  filters: Filter[];
}

export class ArchiveMap {
  /** Rows that pass the filters. */
  rows: number[] = [];
  /** Elites with a mark of their own on the canvas. */
  drawn = 0;
  /** When the elites were first on the canvas, in milliseconds since the page was asked for. */
  firstDrawn = 0;
  hovered: number | null = null;
  private archive: Archive | null = null;
  private choice: MapChoice | null = null;
  private selected: number[] = [];
  private px = new Float64Array(0);
  private py = new Float64Array(0);
  private xRange: [number, number] = [0, 1];
  private yRange: [number, number] = [0, 1];
  private tile: { w: number; h: number } | null = null;
  /** Rows that lie outside the archive's bounds on these axes. */
  private beyond = new Set<number>();
  private origin = { x: 0, y: 0 };
  /** The archive's bounds on the canvas, where the map shows more than them. */
  frame: { x: number; y: number; w: number; h: number } | null = null;

  constructor(
    private base: HTMLCanvasElement,
    private top: HTMLCanvasElement,
    private box: HTMLElement,
    private legend: { bar: HTMLCanvasElement; low: HTMLElement; high: HTMLElement; name: HTMLElement } | null = null,
  ) {
    const context = legend?.bar.getContext("2d");
    MAP.forEach((color, i) => {
      if (!context) return;
      context.fillStyle = color;
      context.fillRect(i, 0, 1, 10);
    });
    new ResizeObserver(() => this.redraw()).observe(box);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
  }

  show(archive: Archive, choice: MapChoice): void {
    this.archive = archive;
    this.choice = choice;
    this.redraw();
  }

  /** Marks rows of the archive as shown in the panes, in order; -1 for a pane that shows something else. */
  select(rows: number[]): void {
    this.selected = rows;
    this.drawTop();
  }

  hover(row: number | null): void {
    if (row === this.hovered) return;
    this.hovered = row;
    this.drawTop();
  }

  redraw(): void {
    const { archive, choice } = this;
    if (!archive || !choice) return;
    const [w, h] = [this.box.clientWidth, this.box.clientHeight];
    if (w < 10 || h < 10) return;
    const scale = Math.min(devicePixelRatio, 2);
    for (const canvas of [this.base, this.top]) {
      canvas.width = Math.round(w * scale);
      canvas.height = Math.round(h * scale);
    }
    this.place(archive, choice, w, h);
    this.drawBase(archive, choice, w, h, scale);
    this.drawTop();
  }

  /** Screen places of all elites. */
  private place(archive: Archive, choice: MapChoice, w: number, h: number): void {
    const xs = archive.columns.get(choice.x) ?? new Float64Array(archive.elites);
    const ys = archive.columns.get(choice.y) ?? new Float64Array(archive.elites);
    this.rows = filtered(archive, choice.filters);
    const [dx, dy] = [dimension(choice.x), dimension(choice.y)];
    const grid = archive.cells && dx !== null && dy !== null && dx !== dy ? [archive.cells[dx]!, archive.cells[dy]!] : null;
    const [bx, by] = [dx !== null ? archive.bounds[dx] : undefined, dy !== null ? archive.bounds[dy] : undefined];
    this.xRange = bx ? shownRange(bx, xs) : roomy(extent(xs));
    this.yRange = by ? shownRange(by, ys) : roomy(extent(ys));
    const iw = w - MARGIN.left - MARGIN.right;
    const ih = h - MARGIN.top - MARGIN.bottom;
    const part = (value: number, [low, high]: [number, number]) => Math.min(1, Math.max(0, (value - low) / (high - low)));
    const toX = (value: number) => MARGIN.left + iw * part(value, this.xRange);
    const toY = (value: number) => MARGIN.top + ih * (1 - part(value, this.yRange));
    const [fx, fy] = [bx ?? this.xRange, by ?? this.yRange];
    const frame = { x: toX(fx[0]), y: toY(fy[1]), w: toX(fx[1]) - toX(fx[0]), h: toY(fy[0]) - toY(fy[1]) };
    this.frame = (bx && bx !== this.xRange) || (by && by !== this.yRange) ? frame : null;
    this.tile = choice.mode === "cells" && grid ? { w: frame.w / grid[0]!, h: frame.h / grid[1]! } : null;
    this.origin = { x: frame.x, y: frame.y };
    this.px = new Float64Array(archive.elites);
    this.py = new Float64Array(archive.elites);
    this.beyond = new Set();
    const inside = (value: number, bounds: [number, number] | undefined) => !bounds || (value >= bounds[0] && value <= bounds[1]);
    const middle = (value: number, [low, high]: [number, number], cells: number) =>
      low + ((Math.min(cells - 1, Math.floor(part(value, [low, high]) * cells)) + 0.5) / cells) * (high - low);
    for (let i = 0; i < archive.elites; i++) {
      const [x, y] = [xs[i]!, ys[i]!];
      const within = inside(x, bx) && inside(y, by);
      if (!within) this.beyond.add(i);
      const cell = this.tile && grid && within;
      this.px[i] = toX(cell ? middle(x, fx, grid[0]!) : x);
      this.py[i] = toY(cell ? middle(y, fy, grid[1]!) : y);
    }
  }

  private drawBase(archive: Archive, choice: MapChoice, w: number, h: number, scale: number): void {
    const context = this.base.getContext("2d")!;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, w, h);
    const style = getComputedStyle(this.box);
    const [ink, muted, ground, grid] = ["--ink", "--muted", "--plot", "--grid"].map((name) => style.getPropertyValue(name).trim());
    const iw = w - MARGIN.left - MARGIN.right;
    const ih = h - MARGIN.top - MARGIN.bottom;
    context.fillStyle = ground!;
    context.fillRect(MARGIN.left, MARGIN.top, iw, ih);
    this.drawAxes(context, archive, choice, iw, ih, { ink: ink!, muted: muted!, grid: grid! });
    const values = archive.columns.get(choice.color) ?? new Float64Array(archive.elites);
    const [low, high] = extent(values);
    const shade = choice.scale === "rank" ? ranks(values) : null;
    const color = (i: number) => (shade ? colorOf(shade[i]!, 0, 1) : colorOf(values[i]!, low, high));
    // Worst first, so that the best lie on top where marks share a place.
    const order = [...this.rows].sort((a, b) => values[a]! - values[b]!);
    const places = new Set<number>();
    context.save();
    context.beginPath();
    context.rect(MARGIN.left - 4, MARGIN.top - 4, iw + 8, ih + 8);
    context.clip();
    if (this.frame) {
      context.strokeStyle = muted!;
      context.setLineDash([5, 3]);
      context.strokeRect(this.frame.x, this.frame.y, this.frame.w, this.frame.h);
      context.setLineDash([]);
    }
    for (const i of order) {
      context.fillStyle = color(i);
      if (this.tile && !this.beyond.has(i)) {
        // Edges from whole numbers of cells and on whole pixels: neighbours touch.
        const column = Math.round((this.px[i]! - this.origin.x) / this.tile.w - 0.5);
        const row = Math.round((this.py[i]! - this.origin.y) / this.tile.h - 0.5);
        const edge = (start: number, size: number, n: number) => Math.round((start + size * n) * scale) / scale;
        const [left, right] = [edge(this.origin.x, this.tile.w, column), edge(this.origin.x, this.tile.w, column + 1)];
        const [top, bottom] = [edge(this.origin.y, this.tile.h, row), edge(this.origin.y, this.tile.h, row + 1)];
        context.fillRect(left, top, right - left, bottom - top);
        places.add(row * 1e6 + column);
      } else {
        const r = this.tile ? 3 : archive.elites > 4000 ? 2 : archive.elites > 800 ? 3 : 4.5;
        context.beginPath();
        if (this.beyond.has(i)) context.arc(this.px[i]!, this.py[i]!, r, 0, 2 * Math.PI);
        else context.rect(this.px[i]! - r, this.py[i]! - r, 2 * r, 2 * r);
        context.fill();
      }
    }
    context.restore();
    this.drawn = this.tile ? places.size + order.filter((i) => this.beyond.has(i)).length : order.length;
    this.firstDrawn ||= performance.now();
    if (!this.legend) return;
    this.legend.low.textContent = short(low);
    this.legend.high.textContent = short(high);
    this.legend.name.textContent = label(archive, choice.color) + (shade ? ", by rank" : "");
  }

  private drawAxes(context: CanvasRenderingContext2D, archive: Archive, choice: MapChoice, iw: number, ih: number, paint: { ink: string; muted: string; grid: string }): void {
    context.font = "11px system-ui, sans-serif";
    context.strokeStyle = paint.grid;
    context.lineWidth = 1;
    context.textAlign = "center";
    context.textBaseline = "top";
    for (const t of ticks(this.xRange, iw / 80)) {
      const x = MARGIN.left + (iw * (t - this.xRange[0])) / (this.xRange[1] - this.xRange[0]);
      context.strokeRect(Math.round(x) + 0.5, MARGIN.top, 0, ih);
      context.fillStyle = paint.muted;
      context.fillText(tickText(t), x, MARGIN.top + ih + 5);
    }
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const t of ticks(this.yRange, ih / 60)) {
      const y = MARGIN.top + ih * (1 - (t - this.yRange[0]) / (this.yRange[1] - this.yRange[0]));
      context.strokeRect(MARGIN.left, Math.round(y) + 0.5, iw, 0);
      context.fillStyle = paint.muted;
      context.fillText(tickText(t), MARGIN.left - 6, y);
    }
    context.fillStyle = paint.ink;
    context.font = "12px system-ui, sans-serif";
    context.textAlign = "center";
    context.textBaseline = "bottom";
    context.fillText(label(archive, choice.x), MARGIN.left + iw / 2, MARGIN.top + ih + MARGIN.bottom - 3);
    context.save();
    context.translate(9, MARGIN.top + ih / 2);
    context.rotate(-Math.PI / 2);
    context.textBaseline = "middle";
    context.fillText(label(archive, choice.y), 0, 0);
    context.restore();
  }

  private drawTop(): void {
    const context = this.top.getContext("2d")!;
    const scale = this.top.width / Math.max(1, this.box.clientWidth);
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, this.box.clientWidth, this.box.clientHeight);
    if (this.hovered !== null) this.ring(context, this.hovered, "#ffffff", 2);
    this.selected.forEach((row, i) => row >= 0 && this.ring(context, row, MARKS[i % MARKS.length]!, 3));
  }

  private ring(context: CanvasRenderingContext2D, row: number, color: string, width: number): void {
    const [x, y] = [this.px[row], this.py[row]];
    if (x === undefined || y === undefined) return;
    const r = this.tile && !this.beyond.has(row) ? Math.max(6, Math.max(this.tile.w, this.tile.h) / 2 + 2) : 7;
    for (const [style, w] of [["rgba(0,0,0,0.65)", width + 2.5], [color, width]] as const) {
      context.strokeStyle = style;
      context.lineWidth = w;
      context.beginPath();
      context.arc(x, y, r, 0, 2 * Math.PI);
      context.stroke();
    }
  }

  /** The visible elite at a place of the canvas; of several in one cell the brightest. */
  at(x: number, y: number): number | null {
    const values = this.archive?.columns.get(this.choice?.color ?? "");
    let best: number | null = null;
    let nearest = Infinity;
    for (const i of this.rows) {
      const [dx, dy] = [Math.abs(this.px[i]! - x), Math.abs(this.py[i]! - y)];
      let distance = Math.hypot(dx, dy);
      if (this.tile && !this.beyond.has(i) && dx <= this.tile.w / 2 && dy <= this.tile.h / 2) distance = 0;
      if (distance > 14) continue;
      const brighter = best !== null && distance === nearest && values && values[i]! > values[best]!;
      if (distance < nearest || brighter) [best, nearest] = [i, distance];
    }
    return best;
  }

  /** The nearest visible elite in a direction, or null. */
  next(from: number, dx: number, dy: number): number | null {
    let best: number | null = null;
    let least = Infinity;
    for (const i of this.rows) {
      const [x, y] = [this.px[i]! - this.px[from]!, this.py[i]! - this.py[from]!];
      const along = x * dx + y * dy;
      const across = Math.abs(x * dy - y * dx);
      if (along < 0.5 || across > along * 1.2 + 1) continue;
      const cost = along + 2 * across;
      if (cost < least) [best, least] = [i, cost];
    }
    return best;
  }

  /** Where a row is on the canvas. */
  placeOf(row: number): [number, number] {
    return [this.px[row] ?? 0, this.py[row] ?? 0];
  }
}

/**
 * What the map shows of a measure: the bounds, and wherever elites are beyond them. A few strays that would shrink
 * everything else are drawn at the edge.
 */
export function shownRange(bounds: [number, number], values: Float64Array): [number, number] {
  const [first, last] = extent(values);
  if (!values.length || (first >= bounds[0] && last <= bounds[1])) return bounds;
  const sorted = values.filter((v) => Number.isFinite(v)).sort();
  const at = (part: number) => sorted[Math.round((sorted.length - 1) * part)]!;
  let [low, high] = [Math.min(bounds[0], at(0.01)), Math.max(bounds[1], at(0.99))];
  const width = high - low;
  if (low - first <= 0.5 * width) low = Math.min(low, first);
  if (last - high <= 0.5 * width) high = Math.max(high, last);
  const room = 0.03 * (high - low);
  return [low < bounds[0] ? low - room : low, high > bounds[1] ? high + room : high];
}

export function filtered(archive: Archive, filters: Filter[]): number[] {
  const tests = filters.flatMap((f) => {
    const values = archive.columns.get(f.column);
    return values ? [(i: number) => !(f.low !== null && !(values[i]! >= f.low)) && !(f.high !== null && !(values[i]! <= f.high))] : [];
  });
  const rows: number[] = [];
  for (let i = 0; i < archive.elites; i++) if (tests.every((test) => test(i))) rows.push(i);
  return rows;
}

function roomy([low, high]: [number, number]): [number, number] {
  const room = high > low ? 0.03 * (high - low) : Math.max(0.5, Math.abs(low) / 2);
  return [low - room, high + room];
}

const tickText = (value: number) => String(Number(value.toPrecision(6))).replace("-", "−");

function ticks([low, high]: [number, number], wanted: number): number[] {
  const least = (high - low) / Math.max(1, wanted);
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= least) ?? least;
  const found: number[] = [];
  for (let i = Math.ceil(low / step); i * step <= high + 1e-9 * step; i++) found.push(i * step);
  return found;
}
