// One clock for all shown replays: they keep step because they share it.

import type { Replay } from "./api.js";
import type { Stage } from "./stage.js";

/** Rest at the end before everything starts again, in seconds of the clock. */
const REST = 0.7;

export class Player {
  time = 0;
  speed = 1;
  playing = true;
  /** Frames drawn since the page was opened. */
  painted = 0;
  replays: Replay[] = [];
  /** Called after every drawn frame. */
  ticked: () => void = () => {};
  private last: number | null = null;
  private pending = false;

  constructor(private stage: Stage) {
    stage.changed = () => this.wake();
    // A page in the background costs nothing.
    document.addEventListener("visibilitychange", () => this.wake());
  }

  show(replays: Replay[]): void {
    this.replays = replays;
    this.wake();
  }

  /** Seconds that are known of a replay. */
  private known(replay: Replay): number {
    return Math.max(0, replay.count - 1) * replay.scene.seconds_per_step;
  }

  get duration(): number {
    return Math.max(0, ...this.replays.map((replay) => this.known(replay)));
  }

  frameOf(replay: Replay): number {
    const frame = Math.floor(this.time / replay.scene.seconds_per_step + 1e-6);
    return Math.min(Math.max(0, frame), replay.count - 1);
  }

  seek(time: number): void {
    this.time = Math.max(0, time);
    this.wake();
  }

  toggle(): void {
    this.playing = !this.playing;
    if (this.playing && this.time >= this.duration) this.time = 0;
    this.wake();
  }

  /** Moves by whole frames of the first replay. */
  nudge(frames: number): void {
    this.playing = false;
    const step = this.replays[0]?.scene.seconds_per_step ?? 0.05;
    this.seek(Math.min(this.duration, (Math.round(this.time / step) + frames) * step));
  }

  wake(): void {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame((now) => this.tick(now));
  }

  private tick(now: number): void {
    this.pending = false;
    const passed = this.last === null ? 0 : Math.min(0.1, (now - this.last) / 1000);
    this.last = null;
    if (this.playing && this.replays.length && document.visibilityState === "visible") {
      this.advance(passed * this.speed);
      this.last = now;
      this.wake();
    }
    this.stage.draw(this.replays.map((replay) => ({ replay, frame: this.frameOf(replay) })));
    this.painted += 1;
    this.ticked();
  }

  private advance(seconds: number): void {
    this.time += seconds;
    // Nobody runs ahead of a replay whose frames are still arriving.
    const arriving = this.replays.filter((replay) => !replay.done);
    if (arriving.length) this.time = Math.min(this.time, ...arriving.map((replay) => this.known(replay)));
    else if (this.time > this.duration + REST) this.time = 0;
  }
}
