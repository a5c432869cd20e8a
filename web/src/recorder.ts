// Films of what is on the stage, made by the browser itself.

/** What this browser can record, best first. */
const KINDS = ["video/webm;codecs=vp9", "video/webm", "video/mp4"];

export const canRecord = (): boolean => typeof MediaRecorder !== "undefined" && KINDS.some((kind) => MediaRecorder.isTypeSupported(kind));

/** Records a canvas for some seconds of real time. */
export async function record(canvas: HTMLCanvasElement, seconds: number): Promise<{ blob: Blob; ending: string }> {
  const kind = KINDS.find((k) => MediaRecorder.isTypeSupported(k));
  if (!kind) throw new Error("this browser cannot record films; take the GIF");
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
  return { blob: new Blob(parts, { type: kind }), ending: kind.startsWith("video/mp4") ? "mp4" : "webm" };
}

/** Hands a file to the user. */
export function save(content: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
