// The explorer: the archive at the left, behaviour at the right, and one state that a link can carry.

import "./style.css";
import * as api from "./api.js";
import { short } from "./colors.js";
import { CURVES, drawCurves } from "./curve.js";
import { FilterBar } from "./filters.js";
import { label } from "./labels.js";
import { ArchiveMap } from "./map.js";
import { drawPanes, tellReturn } from "./panes.js";
import { Player } from "./player.js";
import { FilmButtons, save, type Take } from "./recorder.js";
import { RunsView, mostAlike } from "./runs_view.js";
import { Stage } from "./stage.js";
import { MOST_SHOWN, SPEEDS, fromHash, keyOf, toHash, type Shown, type ViewState } from "./state.js";

/** Longest film that the page records, in seconds. */
const LONGEST_FILM = 12;
const isNarrow = () => matchMedia("(max-width: 820px)").matches;
/** Whether fingers are what points here: some browsers of phones say that they have a mouse too. */
const isTouched = () => matchMedia("(pointer: coarse)").matches || (isNarrow() && navigator.maxTouchPoints > 0);

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
  runsView = new RunsView(byId("runs-table"), byId("runs-maps"), byId("runs-curves"), {
    open: (id) => void this.leaveRuns(id).catch((e) => this.fail(e)),
    chose: (ids) => void this.compareRuns(ids).catch((e) => this.fail(e)),
    picked: (run, row, add) => void this.pick(run, row, add).catch((e) => this.fail(e)),
  });
  films = new FilmButtons((ending) => byId(ending), () => this.startFilm(), (error) => this.fail(error));
  /** The elite that friction, mass and the buttons for files are about. */
  active: Shown | null = null;
  /** Returns of episodes under unchanged physics, by run and elite. */
  originals = new Map<string, number>();
  private opening = 0;
  /** Replays by elite and physics; those not shown are dropped. */
  private replays = new Map<string, { replay: api.Replay | null; abort: AbortController }>();
  private stopFollowing: () => void = () => {};
  private early: { id: string; archive: Promise<api.Archive> } | null = null;
  private hashTimer = 0;
  private physicsTimer = 0;
  private clicked: { key: string; at: number } | null = null;
  /** Milliseconds from the last click to the first frame of that elite that moved; for tests. */
  clickToMotion = 0;

  async start(): Promise<void> {
    document.body.classList.toggle("touch", isTouched());
    this.listen();
    // A link names its run: its archive is under way while the list of runs still is.
    if (this.state.run) this.early = { id: this.state.run, archive: api.archive(this.state.run) };
    this.early?.archive.catch(() => {});
    this.runs = await api.runs();
    select("run").replaceChildren(...this.runs.map((r) => new Option(`${r.name} · ${r.task}`, r.id)));
    const known = this.runs.find((r) => r.id === this.state.run) ?? this.runs[0];
    if (!known) throw new Error("no run was named");
    byId("runs-tab").hidden = this.runs.length < 2;
    await this.open(known.id);
    if (this.state.runs.length) await this.compareRuns(this.state.runs);
  }

  get shown(): Shown[] {
    return this.state.shown ?? [];
  }

  private summary(): api.RunSummary | undefined {
    return this.runs.find((r) => r.id === this.state.run);
  }

  /** Shows a run; elites of another run, their physics and filters on their columns are no longer of interest. */
  async open(id: string): Promise<void> {
    const opening = ++this.opening;
    if (this.state.run && this.state.run !== id) {
      Object.assign(this.state, { shown: null, filters: [], time: 0 });
      this.active = null;
      this.map.hover(null);
      this.stage.view.moved = false;
    }
    this.stopFollowing();
    // A link that names no run is about the first one.
    if (!this.state.run) this.shown.forEach((s) => (s.run ||= id));
    this.state.run = id;
    select("run").value = id;
    const archive = await (this.early?.id === id ? this.early.archive : api.archive(id));
    this.early = null;
    // Another run was opened while this one was on its way.
    if (opening !== this.opening) return;
    this.archive = archive;
    this.chooseColumns();
    this.showFacts();
    this.showMap();
    void this.refreshMetrics();
    this.offerPhysics(this.summary()?.changeable ?? true);
    if (this.state.shown === null && archive.elites) this.showFirst(archive);
    this.active ??= this.shown[0] ?? null;
    this.syncControls();
    await this.play();
    if (this.summary()?.state !== "finished") {
      this.stopFollowing = api.follow(id, (summary) => void this.changed(summary));
    }
  }

  /** The page opens with the best elite at work, and beside it those that differ most. */
  private showFirst(archive: api.Archive): void {
    const ids = archive.show.slice(0, isNarrow() ? 2 : MOST_SHOWN);
    this.state.shown = ids.map((id) => ({ run: this.state.run, id, friction: 0, mass: 0 }));
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
    this.drawCurve();
  }

  private drawCurve(): void {
    drawCurves(byId("curve"), [this.metrics], [CURVES[0]!, CURVES[2]!], 2);
  }

  /** Fills the choices of axes and colour; keeps what is there. */
  private chooseColumns(): void {
    const names = this.archive!.names.filter((name) => name !== "id" && name !== "cell");
    const measures = names.filter((name) => name.startsWith("measure "));
    const usual = { x: measures[0] ?? "objective", y: measures[1] ?? "objective", color: "objective" };
    for (const key of ["x", "y", "color"] as const) {
      if (!names.includes(this.state[key])) this.state[key] = usual[key];
      select(key).replaceChildren(...names.map((name) => new Option(label(this.archive, name), name)));
      select(key).value = this.state[key];
    }
    // Cells show every elite of a grid of two dimensions; elsewhere dots do.
    const fresh = !location.hash.includes("as=") || !this.archive!.elites;
    if (fresh && (this.archive!.measures !== 2 || !this.archive!.cells)) this.state.mode = "dots";
    select("mode").value = this.state.mode;
    select("scale").value = this.state.scale;
    this.filters.show(names, this.state.filters, (name) => label(this.archive, name));
  }

  private showFacts(): void {
    const run = this.summary();
    if (!run || !this.archive) return;
    const badge = byId("state");
    badge.textContent = run.state === "running" ? `live · iteration ${run.iteration} of ${run.iterations}` : run.state;
    badge.className = `badge ${run.state}`;
    const n = this.archive.elites;
    byId("facts").textContent = [this.archive.labels ? "before any search" : `${n.toLocaleString("en")} elites`, run.method, ...(run.seed === null ? [] : [`seed ${run.seed}`])].join(" · ");
    const outside = run.outside ?? 0;
    const note = byId("outside");
    note.hidden = outside === 0;
    note.textContent = `${(100 * outside).toFixed(0)} % of the best fifth outside the bounds (dashed frame)`;
    note.title = outside > 0.2 ? "They share the archive's border cells. Learned measures: run with --set bounds=follow; hand-designed ones: with wider bounds." : "";
    note.className = outside > 0.2 ? "warn" : "muted";
    document.title = `${run.name} · autoqd explorer`;
  }

  showMap(): void {
    if (!this.archive) return;
    this.map.show(this.archive, this.state);
    this.filters.count(this.map.rows.length, this.archive.elites);
    this.map.select(this.rowsShown());
    this.writeHash();
  }

  /** The archive of a run that is looked at or compared. */
  private archiveOf(run: string): api.Archive | undefined {
    return run === this.state.run ? (this.archive ?? undefined) : this.runsView.archive(run);
  }

  private row(shown: { run: string; id: number }): number {
    return this.archiveOf(shown.run)?.columns.get("id")?.indexOf(shown.id) ?? -1;
  }

  /** Rows of a run's elites on the stage, at the places of their colours. */
  private rowsShown(run = this.state.run): number[] {
    return this.shown.map((s) => (s.run === run ? this.row(s) : -1));
  }

  private markShown(): void {
    this.map.select(this.rowsShown());
    this.runsView.select((run) => this.rowsShown(run));
  }

  /** Shows an elite alone, or adds it to (takes it from) those shown; linked runs show theirs that are most like it. */
  async pick(run: string, row: number, add: boolean): Promise<void> {
    const archive = this.archiveOf(run)!;
    const id = archive.columns.get("id")![row]!;
    const one: Shown = { run, id, friction: 0, mass: 0 };
    this.clicked = { key: keyOf(one), at: performance.now() };
    const there = this.shown.some((s) => keyOf(s) === keyOf(one));
    if (!add) this.state.shown = [one, ...this.likeIt(run, row)];
    else if (there) this.state.shown = this.shown.filter((s) => keyOf(s) !== keyOf(one));
    else this.state.shown = [...this.shown, one].slice(-MOST_SHOWN);
    this.active = this.shown.find((s) => keyOf(s) === keyOf(one)) ?? this.shown[0] ?? null;
    if (!add || this.shown.length === 1) this.player.time = 0;
    this.player.playing = true;
    this.markShown();
    this.syncPhysics();
    byId("announce").textContent = `${add ? "Compared" : "Shown"}: ${this.describe(one)}`;
    this.writeHash();
    await this.play();
  }

  /** In the other compared runs of the same task, the elites most like one. */
  private likeIt(run: string, row: number): Shown[] {
    if (!this.state.runs.length || !this.state.linked) return [];
    const task = (id: string) => this.runs.find((r) => r.id === id)?.task;
    const from = this.archiveOf(run)!;
    const others = this.runsView.cards.filter((card) => card.id !== run && task(card.id) === task(run));
    const found = others.flatMap((card) => {
      const like = mostAlike(from, row, card.archive);
      return like === null ? [] : [{ run: card.id, id: card.archive.columns.get("id")![like]!, friction: 0, mass: 0 }];
    });
    return found.slice(0, MOST_SHOWN - 1);
  }

  describe(shown: { run: string; id: number }): string {
    const archive = this.archiveOf(shown.run);
    const row = this.row(shown);
    const name = shown.run === this.state.run ? "" : `${this.runs.find((r) => r.id === shown.run)?.name ?? shown.run} `;
    if (!archive || row < 0) return `${name}#${shown.id}`;
    const label = archive.labels?.[row];
    if (label) return `${name}${label} actions · return ${short(archive.columns.get("objective")![row]!)}`;
    return `${name}#${shown.id} · found ${short(archive.columns.get("objective")![row]!)}`;
  }

  /** Everything known about an elite, for the map's tip. */
  private tell(row: number): string {
    const archive = this.archive!;
    const column = (name: string) => archive.columns.get(name)![row]!;
    const measures = Array.from({ length: archive.measures }, (_, i) => `${archive.measureNames[i]} ${short(column(`measure ${i + 1}`))}`);
    const said = archive.labels?.[row];
    if (said) return [`${said} actions`, `return ${short(column("objective"))} in one episode`, measures.slice(0, 4).join(" · ")].join("\n");
    const lines = [`#${column("id")} · return ${short(column("objective"))}, found by the search`, measures.slice(0, 4).join(" · "), `cell ${column("cell")}`];
    if (!["objective", "id", "cell"].includes(this.state.color)) lines.push(`${label(archive, this.state.color)} ${short(column(this.state.color))}`);
    return lines.join("\n");
  }

  /** Asks for what is to be shown and not there yet; drops the rest. */
  private async play(): Promise<void> {
    if (this.state.shown) this.state.shown = this.shown.filter((s) => this.row(s) >= 0 || s.run !== this.state.run || this.replays.has(keyOf(s)));
    const wanted = this.shown.map((shown) => ({ shown, key: keyOf(shown) }));
    for (const [key, { abort }] of this.replays) {
      if (wanted.some((w) => w.key === key)) continue;
      abort.abort();
      this.replays.delete(key);
    }
    byId("hint").hidden = wanted.length > 0;
    this.offerFiles();
    const missing = wanted.filter(({ key }) => !this.replays.has(key));
    await Promise.all(missing.map(({ shown, key }) => this.fetch(shown, key)));
    await this.present();
  }

  private request({ id, friction, mass }: Shown): api.ReplayRequest {
    return { id, friction_scale: 2 ** friction, mass_scale: 2 ** mass };
  }

  private async fetch(shown: Shown, key: string): Promise<void> {
    const abort = new AbortController();
    this.replays.set(key, { replay: null, abort });
    this.showPanes();
    try {
      const replay = await api.replay(shown.run, this.request(shown), key, abort.signal, () => this.player.wake());
      const slot = this.replays.get(key);
      if (slot) slot.replay = replay;
      if (shown.friction || shown.mass) void this.fetchOriginal(shown, abort.signal);
    } catch (error) {
      this.replays.delete(key);
      if (abort.signal.aborted) return;
      this.state.shown = this.shown.filter((other) => keyOf(other) !== key);
      this.fail(error);
    }
  }

  /** What the same episode returns under unchanged physics, to stand beside the changed one. */
  private async fetchOriginal(shown: Shown, signal: AbortSignal): Promise<void> {
    const original = { ...shown, friction: 0, mass: 0 };
    const key = keyOf(original);
    if (this.originals.has(key)) return;
    try {
      const done = (replay: api.Replay) => {
        if (replay.done) this.keepOriginal(key, replay);
        this.player.wake();
      };
      done(await api.replay(shown.run, this.request(original), key, signal, done));
    } catch {
      // No longer wanted, or the server is busy: the number stays away.
    }
  }

  private keepOriginal(key: string, replay: api.Replay): void {
    this.originals.set(key, replay.returns[replay.count - 1] ?? 0);
  }

  /** Hands the replays that are there to the player, in the order in which they were picked. */
  private async present(): Promise<void> {
    const replays = this.shown.flatMap((shown) => this.replays.get(keyOf(shown))?.replay ?? []);
    if (replays[0]) await this.stage.frame(replays[0]);
    this.player.show(replays);
    this.showPanes();
    this.markShown();
  }

  /** Captions over the panes. */
  private showPanes(): void {
    const captions = this.shown.map((shown) => ({ shown, text: this.describe(shown) }));
    drawPanes(byId("stage"), byId("panes"), captions, this.active, {
      close: (shown) => void this.close(shown).catch((e) => this.fail(e)),
      activate: (shown) => this.activate(shown),
    });
    this.player.wake();
  }

  private activate(shown: Shown): void {
    this.active = shown;
    this.syncPhysics();
    this.offerFiles();
    this.showPanes();
  }

  private async close(shown: Shown): Promise<void> {
    this.state.shown = this.shown.filter((other) => keyOf(other) !== keyOf(shown));
    if (this.active && keyOf(this.active) === keyOf(shown)) this.active = this.shown[0] ?? null;
    this.syncPhysics();
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
      const shown = this.shown.find((s) => keyOf(s) === replay.key);
      if (!shown) continue;
      if (replay.done && !shown.friction && !shown.mass) this.keepOriginal(replay.key, replay);
      tellReturn(byId("panes"), replay, player.frameOf(replay), shown, this.originals.get(keyOf({ ...shown, friction: 0, mass: 0 })));
    }
    const { clicked } = this;
    if (clicked && player.replays.some((r) => r.key === clicked.key && player.frameOf(r) > 0)) {
      this.clickToMotion = performance.now() - clicked.at;
      this.clicked = null;
    }
  }

  private syncControls(): void {
    this.syncPhysics();
    input("linked").checked = this.state.linked;
    select("speed").value = String(this.state.speed);
    this.player.speed = this.state.speed;
    this.player.time = this.state.time;
    this.player.playing = this.state.time === 0;
  }

  /** The sliders show the physics of the active elite. */
  private syncPhysics(): void {
    for (const name of ["friction", "mass"] as const) {
      const value = this.active?.[name] ?? 0;
      input(name).value = String(value);
      byId(`${name}-value`).textContent = `×${short(2 ** value)}`;
    }
  }

  /** Files are about the active elite; a list holds those shown of this run. */
  private offerFiles(): void {
    const { active } = this;
    for (const [id, what] of [["gif", "film"], ["onnx", "policy"]] as const) {
      const link = byId<HTMLAnchorElement>(id);
      link.ariaDisabled = String(!active);
      if (active) link.href = api.fileOf(active.run, what, this.request(active));
      else link.removeAttribute("href");
    }
    this.films.offer(active !== null);
    byId<HTMLButtonElement>("list").disabled = !this.shown.some((s) => s.run === this.state.run);
  }

  /** Films show the stage from the start of the episodes. */
  private startFilm(): Take {
    const seconds = Math.min(LONGEST_FILM, Math.max(1, this.player.duration / this.player.speed));
    this.player.playing = true;
    this.player.seek(0);
    return { canvas: byId<HTMLCanvasElement>("view"), seconds, name: `${this.state.run}-elite-${this.active?.id ?? "film"}` };
  }

  private saveList(): void {
    const policies = this.shown.filter((s) => s.run === this.state.run).map((s) => s.id);
    const list = JSON.stringify({ run: ".", policies: [...new Set(policies)] }, null, 2);
    save(new Blob([list], { type: "application/json" }), "selected.json");
    byId("announce").textContent = "Put selected.json into the run's folder: every command takes it in place of the run.";
  }

  /** Puts runs side by side. */
  async compareRuns(ids: string[]): Promise<void> {
    const known = ids.filter((id) => this.runs.some((r) => r.id === id));
    this.state.runs = known.length ? known : this.runsView.usual(this.runs, this.state.run);
    document.body.classList.add("comparing");
    byId("runs-panel").hidden = false;
    byId("runs-tab").ariaPressed = "true";
    this.writeHash();
    await this.runsView.show(this.runs, this.state.runs, { color: "objective", scale: this.state.scale });
    this.markShown();
    await this.play();
  }

  /** Back to one run. */
  private async leaveRuns(id: string): Promise<void> {
    this.state.runs = [];
    document.body.classList.remove("comparing");
    byId("runs-panel").hidden = true;
    byId("runs-tab").ariaPressed = "false";
    this.state.shown = this.shown.filter((s) => s.run === id);
    if (!this.shown.length) this.state.shown = null;
    this.active = this.shown[0] ?? null;
    this.writeHash();
    await this.open(id);
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
    else void this.pick(this.state.run, row, input("compare").checked).catch((e) => this.fail(e));
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
      this.drawCurve();
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
    this.active = null;
    const known = this.runs.find((r) => r.id === this.state.run) ?? this.runs[0];
    if (known) await this.open(known.id).catch((e) => this.fail(e));
    if (this.state.runs.length) await this.compareRuns(this.state.runs).catch((e) => this.fail(e));
    else byId("runs-panel").hidden = true;
    document.body.classList.toggle("comparing", this.state.runs.length > 0);
  }

  private listenToMap(canvas: HTMLCanvasElement): void {
    const tip = byId("tip");
    canvas.addEventListener("pointermove", (event) => {
      const row = this.map.at(event.offsetX, event.offsetY);
      this.map.hover(row);
      tip.hidden = row === null;
      if (row === null) return;
      tip.textContent = this.tell(row);
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
      if (row !== null) void this.pick(this.state.run, row, add).catch((e) => this.fail(e));
    });
  }

  private listenToControls(): void {
    const on = (id: string, what: string, act: (event: Event) => void) => byId(id).addEventListener(what, act);
    select("speed").replaceChildren(...SPEEDS.map((s) => new Option(`×${s}`, String(s))));
    on("run", "change", () => void this.open(select("run").value).catch((e) => this.fail(e)));
    for (const key of ["x", "y", "color"] as const) {
      on(key, "change", () => {
        this.state[key] = select(key).value;
        this.showMap();
      });
    }
    on("scale", "change", () => {
      this.state.scale = select("scale").value as "even" | "rank";
      this.showMap();
    });
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
        this.changePhysics({ [name]: Math.round(Number(input(name).value) * 10) / 10 });
      });
    }
    on("reset", "click", () => this.changePhysics({ friction: 0, mass: 0 }));
    on("list", "click", () => this.saveList());
    // The address holds the view: following this link as other links are followed would lose it.
    on("skip", "click", (event) => {
      event.preventDefault();
      byId("map").focus();
    });
    on("runs-tab", "click", () => void (this.state.runs.length ? this.leaveRuns(this.state.run) : this.compareRuns([])).catch((e) => this.fail(e)));
    on("linked", "change", () => {
      this.state.linked = input("linked").checked;
      this.writeHash();
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
    for (const id of ["friction", "mass", "reset"]) (byId(id) as HTMLInputElement).disabled = !changeable;
    document.querySelector<HTMLElement>(".physics")!.title = changeable ? "" : "This task has no friction or mass";
  }

  /** Changes the physics of the active elite, or of all that are shown. */
  private changePhysics(change: { friction?: number; mass?: number }): void {
    const { active } = this;
    if (!active) return this.syncPhysics();
    const all = input("physics-all").checked;
    const was = keyOf(active);
    this.state.shown = this.shown.map((s) => (all || keyOf(s) === was ? { ...s, ...change } : s));
    this.active = { ...active, ...change };
    this.syncPhysics();
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
    if (row !== null) void this.pick(this.state.run, row, false).catch((e) => this.fail(e));
  }

  private async clear(): Promise<void> {
    this.state.shown = [];
    this.active = null;
    this.syncPhysics();
    this.writeHash();
    await this.play();
  }

  /** Arrow keys: the neighbour on the map is looked at and played. */
  private step(dx: number, dy: number): void {
    const last = this.shown.findLast((s) => s.run === this.state.run);
    const from = last ? this.row(last) : -1;
    const row = from < 0 ? this.best() : this.map.next(from, dx, dy);
    if (row !== null) void this.pick(this.state.run, row, false).catch((e) => this.fail(e));
  }

  private addHovered(): void {
    if (this.map.hovered !== null) void this.pick(this.state.run, this.map.hovered, true).catch((e) => this.fail(e));
  }
}

const app = new App();
// For tests and for the curious.
Object.assign(window, { autoqd: app });
app.start().catch((error) => app.fail(error));
