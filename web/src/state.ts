// What is on the screen, and the link that brings it back.

export interface Filter {
  column: string;
  low: number | null;
  high: number | null;
}

export interface ViewState {
  run: string;
  x: string;
  y: string;
  color: string;
  mode: "cells" | "dots";
  /** Ids of the elites that are shown, at most four. */
  shown: number[];
  /** Powers of two: 0 is unchanged. */
  friction: number;
  mass: number;
  speed: number;
  time: number;
  filters: Filter[];
}

export const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4];
export const MOST_SHOWN = 4;

export function fresh(): ViewState {
  return { run: "", x: "", y: "", color: "objective", mode: "cells", shown: [], friction: 0, mass: 0, speed: 1, time: 0, filters: [] };
}

export function toHash(state: ViewState): string {
  const parts = new URLSearchParams();
  parts.set("run", state.run);
  parts.set("x", state.x);
  parts.set("y", state.y);
  parts.set("c", state.color);
  parts.set("as", state.mode);
  if (state.shown.length) parts.set("e", state.shown.join("."));
  if (state.friction) parts.set("f", String(state.friction));
  if (state.mass) parts.set("m", String(state.mass));
  if (state.speed !== 1) parts.set("s", String(state.speed));
  if (state.time > 0) parts.set("t", state.time.toFixed(2));
  for (const f of state.filters) parts.append("where", `${f.column}:${f.low ?? ""}:${f.high ?? ""}`);
  return `#${parts}`;
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
  const ids = (parts.get("e") ?? "").split(".").filter((t) => /^\d{1,15}$/.test(t));
  state.shown = [...new Set(ids.map(Number))].slice(0, MOST_SHOWN);
  const number = (name: string, low: number, high: number, usual: number) => {
    const text = parts.get(name);
    const value = Number(text);
    return text !== null && text !== "" && Number.isFinite(value) ? Math.min(high, Math.max(low, value)) : usual;
  };
  state.friction = number("f", -2, 2, 0);
  state.mass = number("m", -2, 2, 0);
  const speed = number("s", 0, 10, 1);
  state.speed = SPEEDS.includes(speed) ? speed : 1;
  state.time = number("t", 0, 1e6, 0);
  for (const text of parts.getAll("where").slice(0, 8)) {
    const [column, low, high] = text.split(":");
    const bound = (t: string | undefined) => (t && Number.isFinite(Number(t)) ? Number(t) : null);
    if (column) state.filters.push({ column, low: bound(low), high: bound(high) });
  }
  return state;
}
