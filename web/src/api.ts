// What the server says, as typed data.

import type { PainterReplay, PainterScene } from "../../crates/autoqd-view/src/report/painter.js";

export interface RunSummary {
  id: string;
  name: string;
  method: string;
  /** null for a table of policies. */
  seed: number | null;
  task: string;
  state: "running" | "stopped" | "finished";
  iteration: number;
  iterations: number;
  elites: number;
  version: string;
  /** Whether friction and mass of the task can be changed. */
  changeable: boolean;
  /** Share of the best fifth of the elites outside the archive's bounds; null if unknown. */
  outside: number | null;
  metricsVersion?: number;
}

export interface Archive {
  version: string;
  elites: number;
  /** Names in the order of `columns`. */
  names: string[];
  columns: Map<string, Float64Array>;
  measures: number;
  bounds: [number, number][];
  cells: number[] | null;
  capacity: number;
  /** What the elites are called where they are not policies of a search; else null. */
  labels: string[] | null;
  /** What the measures are called. */
  measureNames: string[];
  /** Ids of the elites to play first: the best and the most different. */
  show: number[];
}

export type Metrics = Record<string, (number | null)[]>;

/** A replay that grows while its frames arrive. */
export interface Replay extends PainterReplay {
  key: string;
  done: boolean;
  /** Bits of the last frame: 1 terminated, 2 truncated, 4 cut off. */
  mark: number;
  /** Sum of rewards up to each frame. */
  returns: Float32Array;
}

async function ask(path: string, init?: RequestInit): Promise<Response> {
  const response = await fetch(path, init);
  if (response.ok) return response;
  const reason = await response.json().catch(() => null);
  throw new Error(reason?.error ?? `the server answered ${response.status}`);
}

const run = (id: string, what: string) => `api/runs/${encodeURIComponent(id)}/${what}`;

export async function runs(): Promise<RunSummary[]> {
  return (await ask("api/runs")).json();
}

export async function metrics(id: string): Promise<Metrics> {
  return (await ask(run(id, "metrics"))).json();
}

export async function archive(id: string): Promise<Archive> {
  const bytes = await (await ask(run(id, "archive"))).arrayBuffer();
  const { header, start } = readHeader(new Uint8Array(bytes));
  const names = header.columns as string[];
  const n = header.elites as number;
  const columns = new Map(names.map((name, i) => [name, new Float64Array(bytes, start + 8 * n * i, n)]));
  return { ...header, names, columns } as unknown as Archive;
}

function readHeader(bytes: Uint8Array): { header: Record<string, unknown>; start: number } {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const text = new TextDecoder().decode(bytes.subarray(4, 4 + length));
  return { header: JSON.parse(text), start: 4 + length };
}

export interface ReplayRequest {
  id: number;
  friction_scale: number;
  mass_scale: number;
}

/** Where a file about an elite comes from: a film, or its policy. */
export function fileOf(runId: string, what: "film" | "policy", request: ReplayRequest): string {
  const { id, friction_scale, mass_scale } = request;
  const query = new URLSearchParams({ id: String(id) });
  if (what === "film") {
    query.set("friction_scale", String(friction_scale));
    query.set("mass_scale", String(mass_scale));
  }
  return `${run(runId, what)}?${query}`;
}

/** Starts a simulation. Resolves with the first frames; `grown` is called as more arrive. */
export async function replay(
  runId: string,
  request: ReplayRequest,
  key: string,
  signal: AbortSignal,
  grown: (replay: Replay) => void,
): Promise<Replay> {
  const response = await ask(run(runId, "replay"), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(request),
    signal,
  });
  const reader = response.body!.getReader();
  const inbox = new Inbox(reader);
  const length = new DataView((await inbox.take(4))!.buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode((await inbox.take(length))!)) as { scene: PainterScene; steps: number };
  const width = header.scene.shapes.length * 12 + 2;
  const capacity = header.steps + 2;
  const result: Replay = {
    key,
    scene: header.scene,
    width,
    count: 0,
    frames: new Float32Array(capacity * width),
    returns: new Float32Array(capacity),
    done: false,
    mark: 0,
  };
  await fill(result, inbox);
  const rest = async () => {
    try {
      while (!result.done) {
        await fill(result, inbox);
        grown(result);
      }
    } catch (error) {
      result.done = true;
      if (!signal.aborted) throw error;
    }
  };
  void rest();
  return result;
}

/** Adds the whole frames that have arrived; waits for at least one. */
async function fill(replay: Replay, inbox: Inbox): Promise<void> {
  const bytes = await inbox.takeFrames(4 * replay.width);
  if (!bytes) {
    replay.done = true;
    return;
  }
  const frames = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
  replay.frames.set(frames, replay.count * replay.width);
  const added = frames.length / replay.width;
  for (let i = 0; i < added; i++) {
    const f = replay.count + i;
    const reward = frames[i * replay.width + replay.width - 2]!;
    replay.returns[f] = (f > 0 ? replay.returns[f - 1]! : 0) + reward;
    replay.mark = frames[i * replay.width + replay.width - 1]!;
  }
  replay.count += added;
}

/** Bytes of a stream, by number. */
class Inbox {
  private held = new Uint8Array(0);
  constructor(private reader: ReadableStreamDefaultReader<Uint8Array>) {}

  private async more(): Promise<boolean> {
    const { value, done } = await this.reader.read();
    if (done || !value) return false;
    const joined = new Uint8Array(this.held.length + value.length);
    joined.set(this.held);
    joined.set(value, this.held.length);
    this.held = joined;
    return true;
  }

  async take(n: number): Promise<Uint8Array | null> {
    while (this.held.length < n) if (!(await this.more())) return null;
    const taken = this.held.slice(0, n);
    this.held = this.held.slice(n);
    return taken;
  }

  async takeFrames(size: number): Promise<Uint8Array | null> {
    while (this.held.length < size) if (!(await this.more())) return null;
    return this.take(Math.floor(this.held.length / size) * size);
  }
}

/** Follows a run until the returned function is called. */
export function follow(id: string, changed: (summary: RunSummary) => void): () => void {
  const events = new EventSource(run(id, "live"));
  events.onmessage = (event) => changed(JSON.parse(event.data));
  return () => events.close();
}
