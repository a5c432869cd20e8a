// The sequential colour map of all pictures, as 256 colours.

const ANCHORS = [
  [68, 1, 84],
  [71, 44, 122],
  [59, 81, 139],
  [44, 113, 142],
  [33, 144, 141],
  [39, 173, 129],
  [92, 200, 99],
  [170, 220, 50],
  [253, 231, 37],
] as const;

function anchor(t: number): string {
  const place = t * (ANCHORS.length - 1);
  const low = Math.min(Math.floor(place), ANCHORS.length - 2);
  const part = place - low;
  const channel = (i: 0 | 1 | 2) => Math.round(ANCHORS[low]![i] * (1 - part) + ANCHORS[low + 1]![i] * part);
  return `rgb(${channel(0)},${channel(1)},${channel(2)})`;
}

export const MAP: readonly string[] = Array.from({ length: 256 }, (_, i) => anchor(i / 255));

export function colorOf(value: number, low: number, high: number): string {
  const t = high > low ? (value - low) / (high - low) : 1;
  return MAP[Math.max(0, Math.min(255, Math.round(255 * (Number.isFinite(t) ? t : 0))))]!;
}

/** The share of values below each value: what a colour by rank shows. */
export function ranks(values: Float64Array): Float64Array {
  const order = Array.from(values.keys()).sort((a, b) => values[a]! - values[b]!);
  const found = new Float64Array(values.length);
  let from = 0;
  order.forEach((row, i) => {
    // Equal values share a colour.
    if (i > 0 && values[row] !== values[order[i - 1]!]) from = i;
    found[row] = order.length > 1 ? from / (order.length - 1) : 1;
  });
  return found;
}

/** Colours that mark up to four elites on the map and in the panes. */
export const MARKS = ["#d55e00", "#0072b2", "#cc79a7", "#e69f00"] as const;

/** Colours of runs in curves. */
export const SERIES = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a63d2", "#6e7781"] as const;

export function extent(values: Iterable<number>): [number, number] {
  let low = Infinity;
  let high = -Infinity;
  for (const v of values) {
    if (!Number.isFinite(v)) continue;
    if (v < low) low = v;
    if (v > high) high = v;
  }
  return low <= high ? [low, high] : [0, 1];
}

export function short(value: number): string {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size >= 1e6 && size < 1e9) return `${(value / 1e6).toFixed(2)}M`.replace("-", "−");
  const text = size >= 1e9 || (size > 0 && size < 1e-3) ? value.toExponential(1) : size >= 100 ? value.toFixed(0) : size >= 1 ? value.toFixed(2) : value.toFixed(3);
  return text.replace("-", "−");
}
