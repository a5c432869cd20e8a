// The explorer: the archive at the left, behaviour at the right, and one state that a link can carry.

import "./style.css";
import * as api from "./api.js";
import { MARKS, short } from "./colors.js";
import { drawCurve } from "./curve.js";
import { FilterBar } from "./filters.js";
import { ArchiveMap } from "./map.js";
import { Player } from "./player.js";
import { Stage, layout } from "./stage.js";
import { MOST_SHOWN, SPEEDS, fromHash, toHash, type ViewState } from "./state.js";

const byId = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;
const select = (id: string) => byId<HTMLSelectElement>(id);
const input = (id: string) => byId<HTMLInputElement>(id);

class App {
  state: ViewState = fromHash(location.hash);
  runs: api.RunSummary[] = [];
  archive: api.Archive | null = null;
  metrics: api.Metrics = {};
  stage = new Stage(byId("view"), byId("stage"));
  player = new Player(this.stage);
  map = new ArchiveMap(byId("map-base"), byId("map"), byId("map-box"), {
    bar: byId("legend"),
    low: byId("legend-low"),
    high: byId("legend-high"),
    name: byId("legend-name"),
  });
  filters = new FilterBar(byId("filters"), (filters) => {
    this.state.filters = filters;
    this.showMap();
  });
  /** Replays by elite and physics; those not shown are dropped. */
  private replays = new Map<string, { replay: api.Replay | null; abort: AbortController }>();
  private stopFollowing: () => void = () => {};
  private early: { id: string; archive: Promise<api.Archive> } | null = null;
  private hashTimer = 0;
  private physicsTimer = 0;
  private clicked: { id: number; at: number } | null = null;
  /** Milliseconds from the last click to the first frame of that elite that moved; for tests. */
  clickToMotion = 0;

  async start(): Promise<void> {
    this.listen();
    // A link names its run: its archive is under way while the list of runs still is.
    if (this.state.run) this.early = { id: this.state.run, archive: api.archive(this.state.run) };
    this.early?.archive.catch(() => {});
    this.runs = await api.runs();
    select("run").replaceChildren(...this.runs.map((r) => new Option(`${r.name} · ${r.task}`, r.id)));
    const known = this.runs.find((r) => r.id === this.state.run) ?? this.runs[0];
    if (!known) throw new Error("no run was named");
    await this.open(known.id);
  }

  private summary(): api.RunSummary | undefined {
    return this.runs.find((r) => r.id === this.state.run);
  }

  /** Shows a run; elites of another run are no longer of interest. */
  async open(id: string): Promise<void> {
    if (this.state.run && this.state.run !== id) {
      this.state.shown = [];
      this.state.filters = [];
      this.stage.view.moved = false;
    }
    this.stopFollowing();
    this.state.run = id;
    select("run").value = id;
    this.archive = await (this.early?.id === id ? this.early.archive : api.archive(id));
    this.early = null;
    this.chooseColumns();
    this.showFacts();
    this.showMap();
    void this.refreshMetrics();
    this.offerPhysics(this.summary()?.changeable ?? true);
    this.syncControls();
    await this.play();
    if (this.summary()?.state !== "finished") {
      this.stopFollowing = api.follow(id, (summary) => void this.changed(summary));
    }
  }

  /** The run went on. */
  private async changed(summary: api.RunSummary): Promise<void> {
    if (summary.id !== this.state.run) return;
    this.runs = this.runs.map((r) => (r.id === summary.id ? summary : r));
    if (this.archive && summary.version !== this.archive.version) {
      const archive = await api.archive(summary.id);
      if (summary.id !== this.state.run) return;
      // The first elites bring the measures with them: the map starts as it would have.
      if (!this.archive.elites) Object.assign(this.state, { x: "", y: "", mode: "cells" });
      this.archive = archive;
      this.chooseColumns();
      this.showMap();
    }
    this.showFacts();
    await this.refreshMetrics();
    if (summary.state === "finished") this.stopFollowing();
  }

  private async refreshMetrics(): Promise<void> {
    this.metrics = await api.metrics(this.state.run);
    drawCurve(byId("curve"), this.metrics);
  }

  /** Fills the choices of axes and colour; keeps what is there. */
  private chooseColumns(): void {
    const names = this.archive!.names.filter((name) => name !== "id" && name !== "cell");
    const measures = names.filter((name) => name.startsWith("measure "));
    const usual = { x: measures[0] ?? "objective", y: measures[1] ?? "objective", color: "objective" };
    for (const key of ["x", "y", "color"] as const) {
      if (!names.includes(this.state[key])) this.state[key] = usual[key];
      select(key).replaceChildren(...names.map((name) => new Option(name, name)));
      select(key).value = this.state[key];
    }
    // Cells show every elite of a grid of two dimensions; elsewhere dots do.
    const fresh = !location.hash.includes("as=") || !this.archive!.elites;
    if (fresh && (this.archive!.measures !== 2 || !this.archive!.cells)) this.state.mode = "dots";
    select("mode").value = this.state.mode;
    this.filters.show(names, this.state.filters);
  }

  private showFacts(): void {
    const run = this.summary();
    if (!run || !this.archive) return;
    const badge = byId("state");
    badge.textContent = run.state === "running" ? `live · iteration ${run.iteration} of ${run.iterations}` : run.state;
    badge.className = `badge ${run.state}`;
    const n = this.archive.elites;
    byId("facts").textContent = [`${n.toLocaleString("en")} elites`, run.method, ...(run.seed === null ? [] : [`seed ${run.seed}`])].join(" · ");
    document.title = `${run.name} · autoqd explorer`;
  }

  showMap(): void {
    if (!this.archive) return;
    this.map.show(this.archive, this.state);
    this.filters.count(this.map.rows.length, this.archive.elites);
    this.map.select(this.rowsShown());
    this.writeHash();
  }

  private row(id: number): number {
    return this.archive?.columns.get("id")?.indexOf(id) ?? -1;
  }

  private rowsShown(): number[] {
    return this.state.shown.map((id) => this.row(id)).filter((row) => row >= 0);
  }

  /** Shows an elite alone, or adds it to (takes it from) those shown. */
  async pick(row: number, add: boolean): Promise<void> {
    const id = this.archive!.columns.get("id")![row]!;
    this.clicked = { id, at: performance.now() };
    const { shown } = this.state;
    if (!add) this.state.shown = [id];
    else if (shown.includes(id)) this.state.shown = shown.filter((other) => other !== id);
    else this.state.shown = [...shown, id].slice(-MOST_SHOWN);
    if (!add || this.state.shown.length === 1) this.player.time = 0;
    this.player.playing = true;
    this.map.select(this.rowsShown());
    byId("announce").textContent = `${add ? "Compared" : "Shown"}: ${this.describe(row)}`;
    this.writeHash();
    await this.play();
  }

  describe(row: number): string {
    const column = (name: string) => this.archive!.columns.get(name)![row]!;
    const measures = Array.from({ length: this.archive!.measures }, (_, i) => short(column(`measure ${i + 1}`)));
    return `#${column("id")} · return ${short(column("objective"))} · ${measures.slice(0, 4).join(", ")}${measures.length > 4 ? ", …" : ""}`;
  }

  private key(id: number): string {
    return [this.state.run, id, this.state.friction, this.state.mass].join("/");
  }

  /** Asks for what is to be shown and not there yet; drops the rest. */
  private async play(): Promise<void> {
    this.state.shown = this.state.shown.filter((id) => this.row(id) >= 0 || this.replays.has(this.key(id)));
    const wanted = this.state.shown.map((id) => ({ id, key: this.key(id) }));
    for (const [key, { abort }] of this.replays) {
      if (wanted.some((w) => w.key === key)) continue;
      abort.abort();
      this.replays.delete(key);
    }
    byId("hint").hidden = wanted.length > 0;
    const missing = wanted.filter(({ key }) => !this.replays.has(key));
    await Promise.all(missing.map(({ id, key }) => this.fetch(id, key)));
    await this.present();
  }

  private async fetch(id: number, key: string): Promise<void> {
    const abort = new AbortController();
    this.replays.set(key, { replay: null, abort });
    this.showPanes();
    const request = { id, friction_scale: 2 ** this.state.friction, mass_scale: 2 ** this.state.mass };
    try {
      const replay = await api.replay(this.state.run, request, key, abort.signal, () => this.player.wake());
      const slot = this.replays.get(key);
      if (slot) slot.replay = replay;
    } catch (error) {
      this.replays.delete(key);
      if (abort.signal.aborted) return;
      this.state.shown = this.state.shown.filter((other) => other !== id);
      this.fail(error);
    }
  }

  /** Hands the replays that are there to the player, in the order in which they were picked. */
  private async present(): Promise<void> {
    const replays = this.state.shown.flatMap((id) => this.replays.get(this.key(id))?.replay ?? []);
    if (replays[0]) await this.stage.frame(replays[0]);
    this.player.show(replays);
    this.showPanes();
    this.map.select(this.rowsShown());
  }

  /** Captions over the panes. */
  private showPanes(): void {
    const box = byId("stage");
    const shown = this.state.shown;
    const boxes = layout(shown.length, box.clientWidth, box.clientHeight);
    const panes = shown.map((id, i) => {
      const pane = document.createElement("div");
      pane.className = "pane";
      Object.assign(pane.style, { left: `${boxes[i]!.x}px`, top: `${boxes[i]!.y}px`, width: `${boxes[i]!.w}px` });
      const caption = document.createElement("div");
      const dot = document.createElement("span");
      dot.className = "dot";
      dot.style.background = MARKS[i % MARKS.length]!;
      const text = document.createElement("span");
      const row = this.row(id);
      text.textContent = row >= 0 ? this.describe(row) : `#${id}`;
      const now = document.createElement("span");
      now.className = "wait";
      now.dataset["id"] = String(id);
      const close = document.createElement("button");
      close.type = "button";
      close.textContent = "✕";
      close.ariaLabel = `Close elite ${id}`;
      close.onclick = () => void this.close(id);
      caption.append(dot, text, now, close);
      pane.append(caption);
      return pane;
    });
    byId("panes").replaceChildren(...panes);
  }

  private async close(id: number): Promise<void> {
    this.state.shown = this.state.shown.filter((other) => other !== id);
    this.writeHash();
    await this.play();
  }

  /** After every drawn frame: clock, slider, running return. */
  private ticked(): void {
    const { player } = this;
    const time = Math.min(player.time, player.duration);
    if (document.activeElement !== input("time") || player.playing) {
      input("time").max = String(Math.max(player.duration, 0.01));
      input("time").value = String(time);
    }
    byId("clock").textContent = `${time.toFixed(2)} / ${player.duration.toFixed(1)} s`;
    const playing = player.playing && player.replays.length > 0;
    byId("play").textContent = playing ? "❚❚" : "▶";
    byId("play").ariaLabel = playing ? "Pause" : "Play";
    for (const replay of player.replays) {
      const id = replay.key.split("/").at(-3)!;
      const label = byId("panes").querySelector<HTMLElement>(`[data-id="${id}"]`);
      const frame = player.frameOf(replay);
      const over = replay.done && frame >= replay.count - 1;
      const how = over ? (replay.mark & 1 ? " · ended" : replay.mark & 4 ? " · cut off" : " · done") : "";
      if (label) label.textContent = `now ${short(replay.returns[frame] ?? 0)}${how}`;
    }
    const { clicked } = this;
    if (clicked && player.replays.some((r) => r.key === this.key(clicked.id) && player.frameOf(r) > 0)) {
      this.clickToMotion = performance.now() - clicked.at;
      this.clicked = null;
    }
  }

  private syncControls(): void {
    input("friction").value = String(this.state.friction);
    input("mass").value = String(this.state.mass);
    select("speed").value = String(this.state.speed);
    this.player.speed = this.state.speed;
    this.player.time = this.state.time;
    this.player.playing = this.state.time === 0;
    for (const name of ["friction", "mass"] as const) byId(`${name}-value`).textContent = `×${short(2 ** this.state[name])}`;
  }

  private writeHash(): void {
    clearTimeout(this.hashTimer);
    this.hashTimer = window.setTimeout(() => {
      history.replaceState(null, "", this.link());
    }, 150);
  }

  /** What brings this view back; a paused clock is part of it. */
  private link(): string {
    return toHash({ ...this.state, time: this.player.playing ? 0 : this.player.time });
  }

  fail(error: unknown): void {
    const box = byId("failure");
    box.textContent = error instanceof Error ? error.message : String(error);
    box.hidden = false;
    setTimeout(() => (box.hidden = true), 6000);
  }

  private find(text: string): void {
    const wanted = text.trim();
    const column = wanted.startsWith("#") ? "id" : "cell";
    const number = Number(wanted.replace(/^#/, ""));
    const row = wanted && Number.isInteger(number) ? (this.archive?.columns.get(column)?.indexOf(number) ?? -1) : -1;
    if (row < 0) this.fail(new Error(`no elite ${column === "id" ? `has the id ${wanted}` : `in cell ${wanted}`}`));
    else void this.pick(row, input("compare").checked).catch((e) => this.fail(e));
  }

  best(): number | null {
    const objective = this.archive?.columns.get("objective");
    if (!objective || !this.map.rows.length) return null;
    return this.map.rows.reduce((best, i) => (objective[i]! > objective[best]! ? i : best));
  }

  private listen(): void {
    this.player.ticked = () => this.ticked();
    this.listenToMap(byId<HTMLCanvasElement>("map"));
    this.listenToControls();
    addEventListener("keydown", (event) => this.keyPressed(event));
    addEventListener("resize", () => {
      this.showPanes();
      drawCurve(byId("curve"), this.metrics);
    });
    addEventListener("hashchange", () => void this.restore());
    addEventListener("pagehide", () => {
      this.stopFollowing();
      for (const { abort } of this.replays.values()) abort.abort();
    });
  }

  /** A link was opened in this page. */
  private async restore(): Promise<void> {
    this.state = fromHash(location.hash);
    const known = this.runs.find((r) => r.id === this.state.run) ?? this.runs[0];
    if (known) await this.open(known.id).catch((e) => this.fail(e));
  }

  private listenToMap(canvas: HTMLCanvasElement): void {
    const tip = byId("tip");
    canvas.addEventListener("pointermove", (event) => {
      const row = this.map.at(event.offsetX, event.offsetY);
      this.map.hover(row);
      tip.hidden = row === null;
      if (row === null) return;
      tip.textContent = `${this.describe(row)}\ncell ${this.archive!.columns.get("cell")![row]} · ${this.state.color} ${short(this.archive!.columns.get(this.state.color)![row]!)}`;
      const right = event.offsetX > canvas.clientWidth / 2;
      tip.style.left = right ? "auto" : `${event.offsetX + 14}px`;
      tip.style.right = right ? `${canvas.clientWidth - event.offsetX + 14}px` : "auto";
      tip.style.top = `${Math.min(event.offsetY + 12, canvas.clientHeight - 50)}px`;
    });
    canvas.addEventListener("pointerleave", () => {
      this.map.hover(null);
      tip.hidden = true;
    });
    canvas.addEventListener("click", (event) => {
      const row = this.map.at(event.offsetX, event.offsetY);
      const add = event.shiftKey || event.ctrlKey || event.metaKey || input("compare").checked;
      if (row !== null) void this.pick(row, add).catch((e) => this.fail(e));
    });
  }

  private listenToControls(): void {
    const on = (id: string, what: string, act: () => void) => byId(id).addEventListener(what, act);
    select("speed").replaceChildren(...SPEEDS.map((s) => new Option(`×${s}`, String(s))));
    on("run", "change", () => void this.open(select("run").value).catch((e) => this.fail(e)));
    for (const key of ["x", "y", "color"] as const) {
      on(key, "change", () => {
        this.state[key] = select(key).value;
        this.showMap();
      });
    }
    on("mode", "change", () => {
      this.state.mode = select("mode").value as "cells" | "dots";
      this.showMap();
    });
    on("play", "click", () => {
      this.player.toggle();
      this.writeHash();
    });
    on("time", "input", () => {
      this.player.playing = false;
      this.player.seek(Number(input("time").value));
      this.writeHash();
    });
    on("speed", "change", () => this.setSpeed(Number(select("speed").value)));
    for (const name of ["friction", "mass"] as const) {
      on(name, "input", () => {
        this.state[name] = Math.round(Number(input(name).value) * 10) / 10;
        this.physicsChanged();
      });
    }
    on("reset", "click", () => {
      this.state.friction = this.state.mass = 0;
      this.physicsChanged();
    });
    on("link", "click", () => {
      history.replaceState(null, "", this.link());
      navigator.clipboard?.writeText(location.href).then(
        () => (byId("link").textContent = "Copied"),
        () => {},
      );
      setTimeout(() => (byId("link").textContent = "Copy link"), 1500);
    });
    on("help", "click", () => byId<HTMLDialogElement>("keys").showModal());
    byId("find-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.find(input("find").value);
    });
  }

  /** A task without friction and mass leaves nothing to change. */
  private offerPhysics(changeable: boolean): void {
    if (!changeable) this.state.friction = this.state.mass = 0;
    for (const id of ["friction", "mass", "reset"]) (byId(id) as HTMLInputElement).disabled = !changeable;
    document.querySelector<HTMLElement>(".physics")!.title = changeable ? "" : "This task has no friction or mass";
  }

  private physicsChanged(): void {
    for (const name of ["friction", "mass"] as const) {
      input(name).value = String(this.state[name]);
      byId(`${name}-value`).textContent = `×${short(2 ** this.state[name])}`;
    }
    clearTimeout(this.physicsTimer);
    this.physicsTimer = window.setTimeout(() => {
      this.player.time = 0;
      this.player.playing = true;
      this.writeHash();
      void this.play().catch((e) => this.fail(e));
    }, 250);
  }

  private setSpeed(speed: number): void {
    this.state.speed = speed;
    this.player.speed = speed;
    select("speed").value = String(speed);
    this.writeHash();
  }

  private keyPressed(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    const typing = target.matches("input, select, textarea") || byId<HTMLDialogElement>("keys").open;
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    const arrows: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const move = arrows[event.key];
    const onButton = target.matches("button, a");
    const acts: Record<string, () => void> = {
      " ": () => this.player.toggle(),
      ",": () => this.player.nudge(-1),
      ".": () => this.player.nudge(1),
      "[": () => this.setSpeed(SPEEDS[Math.max(0, SPEEDS.indexOf(this.state.speed) - 1)]!),
      "]": () => this.setSpeed(SPEEDS[Math.min(SPEEDS.length - 1, SPEEDS.indexOf(this.state.speed) + 1)]!),
      "0": () => this.player.seek(0),
      b: () => this.pickBest(),
      "/": () => input("find").focus(),
      "?": () => byId<HTMLDialogElement>("keys").showModal(),
      Escape: () => void this.clear(),
      Enter: () => this.addHovered(),
    };
    const act = move ? () => this.step(...move) : acts[event.key];
    if (!act || (onButton && (event.key === " " || event.key === "Enter"))) return;
    event.preventDefault();
    act();
  }

  private pickBest(): void {
    const row = this.best();
    if (row !== null) void this.pick(row, false).catch((e) => this.fail(e));
  }

  private async clear(): Promise<void> {
    this.state.shown = [];
    this.writeHash();
    await this.play();
  }

  /** Arrow keys: the neighbour on the map is looked at and played. */
  private step(dx: number, dy: number): void {
    const from = this.row(this.state.shown.at(-1) ?? -1);
    const row = from < 0 ? this.best() : this.map.next(from, dx, dy);
    if (row !== null) void this.pick(row, false).catch((e) => this.fail(e));
  }

  private addHovered(): void {
    if (this.map.hovered !== null) void this.pick(this.map.hovered, true).catch((e) => this.fail(e));
  }
}

const app = new App();
// For tests and for the curious.
Object.assign(window, { autoqd: app });
app.start().catch((error) => app.fail(error));
