// What columns are called on the screen.

import type { Archive } from "./api.js";

const KNOWN: Record<string, string> = {
  objective: "return found",
  iteration: "iteration found",
  return_std: "spread of returns",
  length_mean: "episode length",
};

/** Which measure a column is, counted from 0. */
export function dimension(column: string): number | null {
  const match = /^measure (\d+)$/.exec(column);
  return match ? Number(match[1]) - 1 : null;
}

export function label(archive: Archive | null, column: string): string {
  const d = dimension(column);
  if (d !== null) return archive?.measureNames?.[d] ?? column;
  if (column.startsWith("hand_")) return `${column.slice(5)} (hand-designed)`;
  return KNOWN[column] ?? column.replaceAll("_", " ");
}
