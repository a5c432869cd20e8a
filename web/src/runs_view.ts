// Several runs side by side: a table, a map of each, their curves, and one selection for all.

import * as api from "./api.js";
import { SERIES, short } from "./colors.js";
import { CURVES, drawCurves } from "./curve.js";
import { ArchiveMap } from "./map.js";

export interface RunsActs {
  /** The user looks at one run alone. */
  open(id: string): void;
  /** The user chose which runs are compared. */
  chose(ids: string[]): void;
  /** The user picked an elite of a run. */
  picked(run: string, row: number, add: boolean): void;
}

interface Card {
  id: string;
  archive: api.Archive;
  metrics: api.Metrics;
  map: ArchiveMap;
  box: HTMLElement;
}

/** Runs that are compared at first. */
const FIRST = 4;
/** Runs of a longer list have numbers in the table only when they are compared. */
const LISTED = 40;

export class RunsView {
  cards: Card[] = [];
  /** Figures of the runs in the table, by run. */
  private figures = new Map<string, api.Metrics>();
  private runs: api.RunSummary[] = [];
  private wish = 0;
  private color: { color: string; scale: "even" | "rank" } = { color: "objective", scale: "even" };

  constructor(
    private table: HTMLTableElement,
    private grid: HTMLElement,
    private curves: HTMLCanvasElement,
    private acts: RunsActs,
  ) {
    new ResizeObserver(() => this.drawCurves()).observe(curves);
  }

  /** Which runs to compare when none are named: those of the same task as the one looked at, or any if it has no other. */
  usual(runs: api.RunSummary[], current: string): string[] {
    const task = runs.find((r) => r.id === current)?.task;
    const others = runs.filter((r) => r.id !== current);
    const same = others.filter((r) => r.task === task);
    return [current, ...(same.length ? same : others).map((r) => r.id)].slice(0, FIRST);
  }

  async show(runs: api.RunSummary[], chosen: string[], color: { color: string; scale: "even" | "rank" }): Promise<void> {
    this.runs = runs;
    this.color = color;
    const wish = ++this.wish;
    this.fillTable(chosen);
    const loaded = await Promise.all(
      chosen.map(async (id) => ({ id, archive: await api.archive(id), metrics: await api.metrics(id) })),
    );
    // Another choice was made while these were on their way.
    if (wish !== this.wish) return;
    this.cards = loaded.map((run, i) => this.card(run, i));
    this.grid.replaceChildren(...this.cards.map((card) => card.box));
    for (const card of this.cards) this.drawMap(card);
    for (const { id, metrics } of loaded) this.figures.set(id, metrics);
    this.fillTable(chosen);
    this.drawCurves();
    void this.listTheRest(chosen, wish);
  }

  /** The numbers of runs that are listed but not compared come after everything else. */
  private async listTheRest(chosen: string[], wish: number): Promise<void> {
    const missing = this.runs.slice(0, LISTED).filter((run) => !this.figures.has(run.id));
    if (!missing.length) return;
    // A run whose figures cannot be had keeps its dashes.
    const asked = missing.map(async ({ id }) => this.figures.set(id, await api.metrics(id)));
    await Promise.allSettled(asked);
    if (wish === this.wish) this.fillTable(chosen);
  }

  select(marks: (run: string, archive: api.Archive) => number[]): void {
    for (const card of this.cards) card.map.select(marks(card.id, card.archive));
  }

  archive(id: string): api.Archive | undefined {
    return this.cards.find((card) => card.id === id)?.archive;
  }

  private drawMap({ archive, map }: Card): void {
    const names = archive.names.filter((name) => name.startsWith("measure "));
    const grid = archive.measures === 2 && archive.cells;
    map.show(archive, { x: names[0] ?? "objective", y: names[1] ?? "objective", mode: grid ? "cells" : "dots", filters: [], ...this.color });
  }

  private drawCurves(): void {
    if (this.cards.length) drawCurves(this.curves, this.cards.map((card) => card.metrics), CURVES, this.curves.clientWidth < 480 ? 1 : 2);
  }

  private card({ id, archive, metrics }: { id: string; archive: api.Archive; metrics: api.Metrics }, index: number): Card {
    const box = document.createElement("figure");
    box.className = "run-card";
    const name = document.createElement("figcaption");
    const dot = document.createElement("span");
    dot.className = "dot";
    dot.style.background = SERIES[index % SERIES.length]!;
    name.append(dot, this.runs.find((r) => r.id === id)?.name ?? id);
    const holder = document.createElement("div");
    holder.className = "map small";
    const [base, top] = [document.createElement("canvas"), document.createElement("canvas")];
    base.ariaHidden = "true";
    top.setAttribute("role", "img");
    top.ariaLabel = `Map of ${name.textContent}: ${archive.elites} elites`;
    holder.append(base, top);
    box.append(name, holder);
    const map = new ArchiveMap(base, top, holder);
    top.addEventListener("pointermove", (event) => map.hover(map.at(event.offsetX, event.offsetY)));
    top.addEventListener("pointerleave", () => map.hover(null));
    top.addEventListener("click", (event) => {
      const row = map.at(event.offsetX, event.offsetY);
      if (row !== null) this.acts.picked(id, row, event.shiftKey || event.ctrlKey || event.metaKey);
    });
    return { id, archive, metrics, map, box };
  }

  private fillTable(chosen: string[]): void {
    const head = ["", "run", "task", "method", "seed", "elites", "coverage", "QD score", "best found", "mean found", "outside"];
    const cell = (kind: "td" | "th", content: string | Node) => {
      const made = document.createElement(kind);
      if (kind === "th") made.scope = "col";
      made.append(content);
      return made;
    };
    const header = document.createElement("tr");
    header.append(...head.map((text) => (text ? cell("th", text) : cell("td", ""))));
    const rows = this.runs.map((run) => {
      const row = document.createElement("tr");
      const box = document.createElement("input");
      box.type = "checkbox";
      box.checked = chosen.includes(run.id);
      box.ariaLabel = `Compare ${run.name}`;
      box.onchange = () => this.acts.chose(this.runs.map((r) => r.id).filter((id) => (id === run.id ? box.checked : chosen.includes(id))));
      const open = document.createElement("button");
      open.type = "button";
      open.className = "plain";
      open.textContent = run.name;
      open.title = "Look at this run alone";
      open.onclick = () => this.acts.open(run.id);
      const metrics = this.figures.get(run.id);
      const last = (name: string) => metrics?.[name]?.findLast((v) => v !== null) ?? null;
      const number = (value: number | null, percent = false) => (value === null ? "–" : percent ? `${(100 * value).toFixed(0)} %` : short(value));
      row.append(
        ...[box, open, run.task, run.method, String(run.seed ?? "–"), run.elites.toLocaleString("en")].map((c) => cell("td", c)),
        ...[number(last("coverage"), true), number(last("qd_score")), number(last("best_objective")), number(last("mean_objective")), number(run.outside, true)].map((c) => cell("td", c)),
      );
      return row;
    });
    const [thead, tbody] = [document.createElement("thead"), document.createElement("tbody")];
    thead.append(header);
    tbody.append(...rows);
    this.table.replaceChildren(thead, tbody);
  }
}

/**
 * The elite of another run of the same task that is most like one: by the hand-designed measures, which mean the same
 * in every run, each in units of its range; by return where a task has none. Learned measures differ from run to run.
 */
export function mostAlike(from: api.Archive, row: number, other: api.Archive): number | null {
  const shared = from.names.filter((name) => name.startsWith("hand_") && other.columns.has(name));
  const names = shared.length ? shared : ["objective"];
  const scales = names.map((name) => {
    const values = [...from.columns.get(name)!, ...other.columns.get(name)!].filter(Number.isFinite);
    return values.length ? Math.max(1e-12, values.reduce((a, b) => Math.max(a, b)) - values.reduce((a, b) => Math.min(a, b))) : 1;
  });
  let best: number | null = null;
  let least = Infinity;
  for (let i = 0; i < other.elites; i++) {
    const distance = names.reduce((sum, name, k) => sum + ((from.columns.get(name)![row]! - other.columns.get(name)![i]!) / scales[k]!) ** 2, 0);
    if (distance < least) [best, least] = [i, distance];
  }
  return best;
}
