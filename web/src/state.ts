// What is on the screen, and the link that brings it back.

export interface Filter {
  column: string;
  low: number | null;
  high: number | null;
}

/** An elite on the stage, with the physics it is shown under. */
export interface Shown {
  run: string;
  id: number;
  /** Powers of two: 0 is unchanged. */
  friction: number;
  mass: number;
}

export interface ViewState {
  run: string;
  x: string;
  y: string;
  color: string;
  mode: "cells" | "dots";
  /** How values become colours: evenly, or by rank, which a few outliers cannot spoil. */
  scale: "even" | "rank";
  /** At most four; null until the page has chosen. */
  shown: Shown[] | null;
  /** Runs that are compared; empty when one is looked at. */
  runs: string[];
  /** Whether picking an elite in one run picks those most like it in the others. */
  linked: boolean;
  speed: number;
  time: number;
  filters: Filter[];
}

export const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4];
export const MOST_SHOWN = 4;

export function fresh(): ViewState {
  return { run: "", x: "", y: "", color: "objective", mode: "cells", scale: "even", shown: null, runs: [], linked: true, speed: 1, time: 0, filters: [] };
}

/** Identity of an elite under its physics. */
export const keyOf = ({ run, id, friction, mass }: Shown): string => [run, id, friction, mass].join("/");

/** `id`, `id_friction_mass`, and the run where it is not the one looked at. */
function token(shown: Shown, run: string): string {
  const { id, friction, mass } = shown;
  if (shown.run !== run) return `${id}_${friction}_${mass}_${shown.run}`;
  return friction || mass ? `${id}_${friction}_${mass}` : String(id);
}

export function toHash(state: ViewState): string {
  const parts = new URLSearchParams();
  parts.set("run", state.run);
  parts.set("x", state.x);
  parts.set("y", state.y);
  parts.set("c", state.color);
  parts.set("as", state.mode);
  if (state.scale === "rank") parts.set("by", "rank");
  if (state.shown) parts.set("e", state.shown.map((s) => token(s, state.run)).join("!") || "none");
  if (state.runs.length) parts.set("with", state.runs.join("!"));
  if (!state.linked) parts.set("linked", "0");
  if (state.speed !== 1) parts.set("s", String(state.speed));
  if (state.time > 0) parts.set("t", state.time.toFixed(2));
  for (const f of state.filters) parts.append("where", `${f.column}:${f.low ?? ""}:${f.high ?? ""}`);
  return `#${parts}`;
}

const between = (text: string | null | undefined, low: number, high: number, usual: number): number => {
  const value = Number(text);
  return text && Number.isFinite(value) ? Math.min(high, Math.max(low, value)) : usual;
};

function shownFrom(text: string, run: string, physics: { friction: number; mass: number }): Shown[] {
  // Links of earlier pages: ids with dots between them, and one physics for all.
  const tokens = /^\d+(\.\d+)+$/.test(text) ? text.split(".") : text.split("!");
  const found = tokens.flatMap((part) => {
    const [id, friction, mass, other] = part.split("_");
    if (!id || !/^\d{1,15}$/.test(id)) return [];
    const own = { friction: between(friction, -2, 2, physics.friction), mass: between(mass, -2, 2, physics.mass) };
    return [{ run: other || run, id: Number(id), ...own }];
  });
  const keys = found.map(keyOf);
  return found.filter((_, i) => keys.indexOf(keys[i]!) === i).slice(0, MOST_SHOWN);
}

/** Reads a link; whatever is not as it should be keeps its usual value. */
export function fromHash(hash: string): ViewState {
  const state = fresh();
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  state.run = parts.get("run") ?? "";
  state.x = parts.get("x") ?? "";
  state.y = parts.get("y") ?? "";
  state.color = parts.get("c") ?? state.color;
  state.mode = parts.get("as") === "dots" ? "dots" : "cells";
  state.scale = parts.get("by") === "rank" ? "rank" : "even";
  const physics = { friction: between(parts.get("f"), -2, 2, 0), mass: between(parts.get("m"), -2, 2, 0) };
  const shown = parts.get("e");
  if (shown !== null) state.shown = shownFrom(shown, state.run, physics);
  state.runs = [...new Set((parts.get("with") ?? "").split("!").filter(Boolean))].slice(0, 12);
  state.linked = parts.get("linked") !== "0";
  const speed = between(parts.get("s"), 0, 10, 1);
  state.speed = SPEEDS.includes(speed) ? speed : 1;
  state.time = between(parts.get("t"), 0, 1e6, 0);
  for (const text of parts.getAll("where").slice(0, 8)) {
    const [column, low, high] = text.split(":");
    const bound = (t: string | undefined) => (t && Number.isFinite(Number(t)) ? Number(t) : null);
    if (column) state.filters.push({ column, low: bound(low), high: bound(high) });
  }
  return state;
}
