// Films of what is on the stage, made by the browser itself.

type Ending = "webm" | "mp4";
const ENDINGS: Ending[] = ["webm", "mp4"];

/** What browsers record, best first. */
const KINDS: Record<Ending, string[]> = {
  webm: ["video/webm;codecs=vp9", "video/webm"],
  mp4: ["video/mp4;codecs=avc1.640028", "video/mp4;codecs=avc1.42E01F", "video/mp4"],
};

const kindOf = (ending: Ending): string | undefined =>
  typeof MediaRecorder === "undefined" ? undefined : KINDS[ending].find((kind) => MediaRecorder.isTypeSupported(kind));

/** Whether this browser records such films: most record WebM, Safari MP4, and some both. */
const canRecord = (ending: Ending): boolean => kindOf(ending) !== undefined;

/** Records a canvas for some seconds of real time. */
async function record(canvas: HTMLCanvasElement, seconds: number, ending: Ending): Promise<Blob> {
  const kind = kindOf(ending);
  if (!kind) throw new Error("this browser cannot record such films; take the GIF");
  const stream = canvas.captureStream(50);
  const recorder = new MediaRecorder(stream, { mimeType: kind, videoBitsPerSecond: 6e6 });
  const parts: Blob[] = [];
  recorder.ondataavailable = (event) => parts.push(event.data);
  const stopped = new Promise((done) => (recorder.onstop = done));
  recorder.start(500);
  await new Promise((done) => setTimeout(done, 1000 * seconds));
  recorder.stop();
  await stopped;
  stream.getTracks().forEach((track) => track.stop());
  return new Blob(parts, { type: kind });
}

/** What is recorded, for how long, and what the film is called. */
export interface Take {
  canvas: HTMLCanvasElement;
  seconds: number;
  name: string;
}

/** The buttons that record films, one for each ending that this browser can make. */
export class FilmButtons {
  private wanted = false;
  private recording = false;

  constructor(
    private button: (ending: Ending) => HTMLButtonElement,
    private start: () => Take,
    failed: (error: unknown) => void,
  ) {
    for (const ending of ENDINGS) {
      button(ending).hidden = !canRecord(ending);
      button(ending).onclick = () => void this.film(ending).catch(failed);
    }
  }

  /** Whether there is something to record; while a film is made, no other is begun. */
  offer(wanted: boolean): void {
    this.wanted = wanted;
    for (const ending of ENDINGS) this.button(ending).disabled = !wanted || this.recording;
  }

  private async film(ending: Ending): Promise<void> {
    const button = this.button(ending);
    const name = button.textContent;
    const take = this.start();
    this.recording = true;
    this.offer(this.wanted);
    button.textContent = `Recording ${take.seconds.toFixed(0)} s …`;
    try {
      save(await record(take.canvas, take.seconds, ending), `${take.name}.${ending}`);
    } finally {
      button.textContent = name;
      this.recording = false;
      this.offer(this.wanted);
    }
  }
}

/** Hands a file to the user. */
export function save(content: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
