// The animations of the report: every canvas on the screen plays its own replay.

const number16 = (text) => {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return new Int16Array(bytes.buffer);
};

function decode(canvas) {
  const { scene, largest, count } = JSON.parse(canvas.dataset.replay);
  const packed = number16(canvas.dataset.frames);
  const width = scene.shapes.length * 12;
  const frames = Float32Array.from(packed, (v, i) => (v / 32767) * (i % 12 < 3 ? largest : 1));
  return { scene, frames, width, count };
}

function start(canvas) {
  const replay = decode(canvas);
  const view = replay.scene.flat ? {} : viewOf(replay);
  const context = canvas.getContext("2d");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const player = { visible: false, playing: !matchMedia("(prefers-reduced-motion: reduce)").matches, time: 0, frame: -1 };
  const draw = () => {
    const [w, h] = [canvas.clientWidth, canvas.clientHeight];
    // On paper a picture stands in its place; and before its first frame there is nothing to draw.
    if (!w || !h || player.frame < 0) return;
    const scale = Math.min(devicePixelRatio, 2);
    if (canvas.width !== Math.round(w * scale)) {
      canvas.width = Math.round(w * scale);
      canvas.height = Math.round(h * scale);
    }
    context.setTransform(scale, 0, 0, scale, 0, 0);
    paint(context, { x: 0, y: 0, w, h }, replay, player.frame, view, dark.matches ? LOOKS.dark : LOOKS.light);
  };
  const toggle = () => (player.playing = !player.playing);
  canvas.addEventListener("click", toggle);
  canvas.addEventListener("keydown", (event) => {
    if (event.key !== " " && event.key !== "Enter") return;
    event.preventDefault();
    toggle();
  });
  dark.addEventListener("change", draw);
  new ResizeObserver(draw).observe(canvas);
  const length = (replay.count - 1) * replay.scene.seconds_per_step;
  player.tick = (seconds) => {
    if (!player.visible || (!player.playing && player.frame >= 0)) return;
    player.time = player.time > length + 0.6 ? 0 : player.time + seconds;
    const frame = Math.min(replay.count - 1, Math.floor(player.time / replay.scene.seconds_per_step));
    if (frame === player.frame) return;
    player.frame = frame;
    draw();
  };
  return player;
}

const players = new Map();
const watcher = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    // Decoded when first seen.
    if (isIntersecting && !players.has(target)) players.set(target, start(target));
    const player = players.get(target);
    if (player) player.visible = isIntersecting;
  }
});
document.querySelectorAll("canvas[data-replay]").forEach((canvas) => watcher.observe(canvas));

let last = performance.now();
function tick(now) {
  const seconds = Math.min(0.1, (now - last) / 1000);
  last = now;
  players.forEach((player) => player.tick(seconds));
  requestAnimationFrame(tick);
}
requestAnimationFrame(tick);
