// Captions over the stage: which elite, which return, under which physics.

import type { Replay } from "./api.js";
import { MARKS, short } from "./colors.js";
import { layout } from "./stage.js";
import { keyOf, type Shown } from "./state.js";

export interface Caption {
  shown: Shown;
  text: string;
}

export interface PaneActs {
  close(shown: Shown): void;
  activate(shown: Shown): void;
}

/** `friction ×2, mass ×0.5`, or nothing. */
export function physicsText({ friction, mass }: Shown): string {
  const parts = [friction ? `friction ×${short(2 ** friction)}` : "", mass ? `mass ×${short(2 ** mass)}` : ""];
  return parts.filter(Boolean).join(", ");
}

export function drawPanes(stage: HTMLElement, holder: HTMLElement, captions: Caption[], active: Shown | null, acts: PaneActs): void {
  const boxes = layout(captions.length, stage.clientWidth, stage.clientHeight);
  const panes = captions.map(({ shown, text }, i) => {
    const pane = document.createElement("div");
    pane.className = "pane";
    Object.assign(pane.style, { left: `${boxes[i]!.x}px`, top: `${boxes[i]!.y}px`, width: `${boxes[i]!.w}px` });
    const caption = document.createElement("div");
    const dot = document.createElement("span");
    dot.className = "dot";
    dot.style.background = MARKS[i % MARKS.length]!;
    const name = document.createElement("button");
    name.type = "button";
    name.className = "name";
    name.textContent = text;
    name.title = "Friction, mass, film and policy are those of this elite";
    name.ariaPressed = String(active !== null && keyOf(active) === keyOf(shown));
    name.onclick = () => acts.activate(shown);
    const now = document.createElement("span");
    now.className = "wait";
    now.dataset["key"] = keyOf(shown);
    const close = document.createElement("button");
    close.type = "button";
    close.textContent = "✕";
    close.ariaLabel = `Close elite ${shown.id}`;
    close.onclick = () => acts.close(shown);
    const words = document.createElement("span");
    words.append(name, now);
    caption.append(dot, words, close);
    pane.append(caption);
    return pane;
  });
  holder.replaceChildren(...panes);
}

/** Says in a pane how its episode goes; `usual` is the return of the same episode under unchanged physics. */
export function tellReturn(holder: HTMLElement, replay: Replay, frame: number, shown: Shown, usual: number | undefined): void {
  const place = holder.querySelector<HTMLElement>(`[data-key="${CSS.escape(keyOf(shown))}"]`);
  if (!place) return;
  const over = replay.done && frame >= replay.count - 1;
  const how = over ? (replay.mark & 1 ? " · fell or failed" : replay.mark & 4 ? " · cut off" : "") : "";
  const physics = physicsText(shown);
  const beside = physics ? ` · ${physics}; unchanged physics ${usual === undefined ? "…" : short(usual)}` : "";
  place.textContent = `${over ? "this episode" : "return so far"} ${short(replay.returns[frame] ?? 0)}${how}${beside}`;
}
