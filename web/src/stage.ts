// Up to four replays side by side on one canvas, through one camera.

import { LOOKS, paint, viewOf } from "../../crates/autoqd-view/src/report/painter.js";
import type { Box } from "../../crates/autoqd-view/src/report/painter.js";
import type { Replay } from "./api.js";
import type { ThreeDrawer } from "./three_drawer.js";

export interface View {
  azimuth: number;
  elevation: number;
  distance: number;
  /** Set once the user has turned the camera or come nearer. */
  moved: boolean;
}

export interface Drawer {
  draw(panes: { box: Box; replay: Replay; frame: number }[], view: View, size: { w: number; h: number; scale: number }): void;
  dispose(): void;
}

/** Draws with the painter: flat worlds, and solids where there is no WebGL. */
class PaintDrawer implements Drawer {
  private context: CanvasRenderingContext2D;
  constructor(canvas: HTMLCanvasElement) {
    this.context = canvas.getContext("2d")!;
  }

  draw(panes: { box: Box; replay: Replay; frame: number }[], view: View, size: { w: number; h: number; scale: number }): void {
    const look = isDark() ? LOOKS.dark : LOOKS.light;
    this.context.setTransform(size.scale, 0, 0, size.scale, 0, 0);
    this.context.clearRect(0, 0, size.w, size.h);
    for (const { box, replay, frame } of panes) paint(this.context, box, replay, frame, view, look);
  }

  dispose(): void {}
}

export const isDark = () => matchMedia("(prefers-color-scheme: dark)").matches;

export class Stage {
  view: View = { azimuth: -60, elevation: 20, distance: 5, moved: false };
  /** Which drawer is at work: three, paint or none. */
  kind: "none" | "paint" | "three" = "none";
  drawer: Drawer | null = null;
  /** Asked for when the camera or the size changed. */
  changed: () => void = () => {};
  private canvas: HTMLCanvasElement;

  constructor(
    canvas: HTMLCanvasElement,
    private box: HTMLElement,
  ) {
    this.canvas = canvas;
    this.listen(canvas);
    new ResizeObserver(() => this.changed()).observe(box);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.changed());
  }

  /** A canvas can have one kind of context only: another kind needs a new canvas. */
  private async prepare(flat: boolean): Promise<void> {
    const wanted = flat || !hasWebGl() ? "paint" : "three";
    if (wanted === this.kind) return;
    this.drawer?.dispose();
    const canvas = this.canvas.cloneNode() as HTMLCanvasElement;
    this.canvas.replaceWith(canvas);
    this.canvas = canvas;
    this.listen(canvas);
    this.kind = wanted;
    if (wanted === "paint") {
      this.drawer = new PaintDrawer(canvas);
      return;
    }
    try {
      const { ThreeDrawer } = await import("./three_drawer.js");
      this.drawer = new ThreeDrawer(canvas);
    } catch {
      // A context that was promised and not given.
      webGl = false;
      this.kind = "none";
      await this.prepare(flat);
    }
  }

  /** Frames the body of a new first replay, unless the user has chosen a view. */
  async frame(replay: Replay): Promise<void> {
    await this.prepare(replay.scene.flat);
    if (!this.view.moved && !replay.scene.flat) {
      const { azimuth, elevation, distance } = viewOf(replay);
      this.view = { azimuth, elevation, distance, moved: false };
    }
  }

  draw(panes: { replay: Replay; frame: number }[]): void {
    if (!this.drawer) return;
    const [w, h] = [this.box.clientWidth, this.box.clientHeight];
    const scale = Math.min(devicePixelRatio, 2);
    const [pw, ph] = [Math.round(w * scale), Math.round(h * scale)];
    if (this.canvas.width !== pw || this.canvas.height !== ph) {
      this.canvas.width = pw;
      this.canvas.height = ph;
    }
    const boxes = layout(panes.length, w, h);
    this.drawer.draw(panes.map((pane, i) => ({ ...pane, box: boxes[i]! })), this.view, { w, h, scale });
  }

  three(): ThreeDrawer | null {
    return this.kind === "three" ? (this.drawer as ThreeDrawer) : null;
  }

  private listen(canvas: HTMLCanvasElement): void {
    const held = new Map<number, { x: number; y: number }>();
    canvas.addEventListener("pointerdown", (event) => {
      held.set(event.pointerId, { x: event.clientX, y: event.clientY });
      canvas.setPointerCapture(event.pointerId);
    });
    const release = (event: PointerEvent) => held.delete(event.pointerId);
    canvas.addEventListener("pointerup", release);
    canvas.addEventListener("pointercancel", release);
    canvas.addEventListener("pointermove", (event) => {
      const from = held.get(event.pointerId);
      if (!from) return;
      const [dx, dy] = [event.clientX - from.x, event.clientY - from.y];
      if (held.size === 2) {
        const other = [...held].find(([id]) => id !== event.pointerId)![1];
        const before = Math.hypot(from.x - other.x, from.y - other.y);
        const after = Math.hypot(event.clientX - other.x, event.clientY - other.y);
        if (before > 0 && after > 0) this.zoom(before / after);
      } else {
        this.view.azimuth -= dx * 0.4;
        this.view.elevation = Math.min(88, Math.max(2, this.view.elevation + dy * 0.3));
        this.view.moved = true;
        this.changed();
      }
      held.set(event.pointerId, { x: event.clientX, y: event.clientY });
    });
    canvas.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        this.zoom(Math.exp(event.deltaY * 0.001));
      },
      { passive: false },
    );
  }

  private zoom(factor: number): void {
    this.view.distance = Math.min(200, Math.max(0.2, this.view.distance * factor));
    this.view.moved = true;
    this.changed();
  }
}

/** One, two beside or above each other, or two rows of two. */
export function layout(count: number, w: number, h: number): Box[] {
  const gap = 2;
  if (count <= 1) return [{ x: 0, y: 0, w, h }];
  const columns = count === 2 && w < h ? 1 : 2;
  const rows = Math.ceil(count / columns);
  const [bw, bh] = [(w - gap * (columns - 1)) / columns, (h - gap * (rows - 1)) / rows];
  return Array.from({ length: count }, (_, i) => ({
    x: (i % columns) * (bw + gap),
    y: Math.floor(i / columns) * (bh + gap),
    w: bw,
    h: bh,
  }));
}

let webGl: boolean | null = null;

/** Whether there is WebGL that is faster than drawing by hand; a link with ?draw=three takes any. */
function hasWebGl(): boolean {
  if (webGl === null) {
    const any = new URLSearchParams(location.search).get("draw") === "three";
    const context = document.createElement("canvas").getContext("webgl2", { failIfMajorPerformanceCaveat: !any });
    webGl = context !== null && (any || !isSoftware(context));
    context?.getExtension("WEBGL_lose_context")?.loseContext();
  }
  return webGl;
}

/** Browsers do not own up to every software renderer; its name does. */
function isSoftware(context: WebGL2RenderingContext): boolean {
  const details = context.getExtension("WEBGL_debug_renderer_info");
  const name = String(context.getParameter(details ? details.UNMASKED_RENDERER_WEBGL : context.RENDERER));
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}
