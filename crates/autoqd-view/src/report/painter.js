// Draws one frame of a replay on a two-dimensional canvas: solids seen through a camera, or a flat world.
// Used by the report as it is, and by the explorer where there is no WebGL and for flat worlds.
//
// A replay is { scene, frames: Float32Array, width, count }: `width` floats per frame, and for every shape of the
// scene twelve of them: position, then rotation row by row.

export const FIELD = 0.3; // tangent of half the vertical field of view
const LIGHT = [-0.42, -0.48, 0.77];

export const LOOKS = {
  light: { sky: "#e6f1fc", horizon: "#fafcfe", floor: "#e6e9ee", line: "#c9d0d9", shadow: "rgba(28,38,54,0.20)", flatSky: ["#dcecfb", "#fbfdff"], ground: 0.35 },
  dark: { sky: "#141a23", horizon: "#232b37", floor: "#272f3b", line: "#3b4655", shadow: "rgba(0,0,0,0.38)", flatSky: ["#10161f", "#1b2431"], ground: 0.28 },
};

const at = (replay, frame, shape) => frame * replay.width + shape * 12;

export function position(replay, frame, shape) {
  const o = at(replay, frame, shape);
  return [replay.frames[o], replay.frames[o + 1], replay.frames[o + 2]];
}

/** Whether a shape has to be in the picture: all but the floor and terrain. */
const isFramed = (shape) => shape.kind !== "plane" && !(shape.kind === "mesh" && shape.body === "world");

/** Body-relative numbers of a replay that never change: chosen from the frames that are there. */
export function viewOf(replay) {
  const { scene, count } = replay;
  const solid = scene.shapes.map(isFramed);
  let reach = 0.05;
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  const step = Math.max(1, Math.floor(count / 64));
  for (let f = 0; f < count; f += step) {
    const middle = middleOf(replay, f);
    scene.shapes.forEach((shape, s) => {
      if (!solid[s]) return;
      const p = position(replay, f, s);
      const own = shape.size[0] + (shape.kind === "capsule" ? shape.size[1] : 0);
      reach = Math.max(reach, Math.hypot(p[0] - middle[0], p[1] - middle[1], p[2] - middle[2]) + own);
      for (let i = 0; i < 3; i++) [low[i], high[i]] = [Math.min(low[i], p[i]), Math.max(high[i], p[i])];
    });
  }
  const thin = 0.02 * reach;
  let azimuth = -58;
  let elevation = 24;
  // Bodies that stay in a horizontal plane are seen from above, those in a vertical one from the side.
  if (high[2] - low[2] < thin) [azimuth, elevation] = [-80, 52];
  else if (high[1] - low[1] < thin) [azimuth, elevation] = [-78, 11];
  return { azimuth, elevation, distance: (1.2 * reach) / FIELD, reach };
}

/** What the camera looks at: the followed shape in the plane, the middle of the body in height. */
export function middleOf(replay, frame) {
  const p = position(replay, frame, replay.scene.follow);
  let low = Infinity;
  let high = -Infinity;
  replay.scene.shapes.forEach((shape, s) => {
    if (!isFramed(shape)) return;
    const z = replay.frames[at(replay, frame, s) + 2];
    low = Math.min(low, z);
    high = Math.max(high, z);
  });
  return [p[0], p[1], (low + high) / 2];
}

/** The middle, smoothed over half a second; the height over two, so that a jump is seen as a jump. */
export function targetOf(replay, frame) {
  const reach = Math.round(0.25 / replay.scene.seconds_per_step);
  const stride = Math.max(1, Math.floor(reach / 6));
  const sum = [0, 0, 0];
  let n = 0;
  for (let f = frame - reach; f <= frame + reach; f += stride) {
    const m = middleOf(replay, Math.min(Math.max(f, 0), replay.count - 1));
    sum[0] += m[0];
    sum[1] += m[1];
    n += 1;
  }
  let height = 0;
  let heights = 0;
  for (let f = frame - 4 * reach; f <= frame + 4 * reach; f += 4 * stride) {
    height += middleOf(replay, Math.min(Math.max(f, 0), replay.count - 1))[2];
    heights += 1;
  }
  return [sum[0] / n, sum[1] / n, height / heights];
}

/** Draws a frame into the rectangle (x, y, w, h) of a canvas. `view` has azimuth, elevation and distance. */
export function paint(context, box, replay, frame, view, look) {
  const f = Math.max(0, Math.min(frame, replay.count - 1));
  context.save();
  context.beginPath();
  context.rect(box.x, box.y, box.w, box.h);
  context.clip();
  context.translate(box.x, box.y);
  if (replay.scene.flat) paintFlat(context, box, replay, f, view, look);
  else paintSpace(context, box, replay, f, view, look);
  context.restore();
}

// ---------------------------------------------------------------- three dimensions

/** From farther away where the picture is taller than wide, so that nothing is cut off at the sides. */
export const distanceIn = (view, box) => view.distance * Math.max(1, box.h / box.w);

function cameraOf(target, view, box) {
  const distance = distanceIn(view, box);
  const [a, e] = [(view.azimuth * Math.PI) / 180, (view.elevation * Math.PI) / 180];
  const back = [Math.cos(e) * Math.cos(a), Math.cos(e) * Math.sin(a), Math.sin(e)];
  const eye = [0, 1, 2].map((i) => target[i] + back[i] * distance);
  const forward = back.map((x) => -x);
  const right = unit([forward[1], -forward[0], 0]);
  const up = cross(right, forward);
  const scale = box.h / 2 / FIELD;
  const project = (p) => {
    const d = [p[0] - eye[0], p[1] - eye[1], p[2] - eye[2]];
    const depth = Math.max(dot(d, forward), 0.01 * distance);
    return { x: box.w / 2 + (dot(d, right) / depth) * scale, y: box.h / 2 - (dot(d, up) / depth) * scale, depth, scale: scale / depth };
  };
  return { eye, forward, up, project, scale };
}

function paintSpace(context, box, replay, frame, view, look) {
  const target = targetOf(replay, frame);
  const camera = cameraOf(target, view, box);
  const floor = replay.scene.shapes.findIndex((s) => s.kind === "plane");
  const height = floor >= 0 ? position(replay, frame, floor)[2] : null;
  paintBackdrop(context, box, camera, look, floor >= 0);
  if (height !== null) paintGrid(context, camera, target, height, view, look);
  const solids = [];
  replay.scene.shapes.forEach((shape, s) => {
    if (shape.kind === "plane" || shape.rgba[3] < 0.02) return;
    const o = at(replay, frame, s);
    const p = position(replay, frame, s);
    const r = replay.frames.subarray(o + 3, o + 12);
    solids.push({ shape, p, r, depth: camera.project(p).depth });
  });
  if (height !== null) paintShadows(context, camera, solids, height, look);
  solids.sort((a, b) => b.depth - a.depth);
  solids.forEach((s) => paintSolid(context, camera, s));
}

function paintBackdrop(context, box, camera, look, floor) {
  const horizon = box.h / 2 + (camera.forward[2] / Math.max(camera.up[2], 0.05)) * camera.scale;
  const line = Math.max(-box.h, Math.min(2 * box.h, horizon));
  const sky = context.createLinearGradient(0, line - box.h, 0, line);
  sky.addColorStop(0, look.sky);
  sky.addColorStop(1, look.horizon);
  context.fillStyle = sky;
  context.fillRect(0, 0, box.w, box.h);
  if (!floor) return;
  const ground = context.createLinearGradient(0, line, 0, line + box.h * 0.45);
  ground.addColorStop(0, look.horizon);
  ground.addColorStop(1, look.floor);
  context.fillStyle = ground;
  context.fillRect(0, line, box.w, box.h - line);
}

function paintGrid(context, camera, target, height, view, look) {
  const reach = Math.ceil(view.distance * 1.6);
  const [cx, cy] = [Math.round(target[0]), Math.round(target[1])];
  const near = 0.12 * view.distance;
  const segment = (a, b, wide, fade) => {
    // Cut off what lies behind the eye.
    const ahead = (p) => dot([p[0] - camera.eye[0], p[1] - camera.eye[1], p[2] - camera.eye[2]], camera.forward);
    let [da, db] = [ahead(a), ahead(b)];
    if (da < near && db < near) return;
    if (da < near) a = mix(a, b, (near - da) / (db - da));
    else if (db < near) b = mix(b, a, (near - db) / (da - db));
    const [p, q] = [camera.project(a), camera.project(b)];
    context.globalAlpha = fade;
    context.lineWidth = wide;
    context.beginPath();
    context.moveTo(p.x, p.y);
    context.lineTo(q.x, q.y);
    context.stroke();
  };
  context.strokeStyle = look.line;
  for (let i = -reach; i <= reach; i++) {
    const fade = Math.max(0, 1 - Math.abs(i) / reach);
    for (const [x, y, along] of [[cx + i, cy, 1], [cx, cy + i, 0]]) {
      const wide = (along ? x : y) % 5 === 0 ? 2 : 1;
      const end = (sign) => (along ? [x, cy + sign * reach, height] : [cx + sign * reach, y, height]);
      const middle = along ? [x, cy, height] : [cx, y, height];
      segment(middle, end(-1), wide, fade * 0.8);
      segment(middle, end(1), wide, fade * 0.8);
    }
  }
  context.globalAlpha = 1;
}

/** Ends and radius of a solid as a ball swept along its z axis, or along the longest one of a box or ellipsoid. */
function swept({ shape, p, r }) {
  const { kind, size } = shape;
  let [along, radius] = [2, size[0]];
  let half = kind === "capsule" ? size[1] : kind === "cylinder" ? Math.max(0, size[1] - size[0]) : 0;
  if (kind === "box" || kind === "ellipsoid" || kind === "mesh") {
    along = size.indexOf(Math.max(...size));
    radius = (size[0] + size[1] + size[2] - size[along]) / 2;
    half = size[along] - radius;
  }
  const axis = [r[along] * half, r[3 + along] * half, r[6 + along] * half];
  return { a: [p[0] - axis[0], p[1] - axis[1], p[2] - axis[2]], b: [p[0] + axis[0], p[1] + axis[1], p[2] + axis[2]], radius };
}

/** All shadows as one outline, so that overlaps do not darken. */
function paintShadows(context, camera, solids, height, look) {
  const fall = (q) => {
    const t = (q[2] - height) / LIGHT[2];
    return camera.project([q[0] - LIGHT[0] * t, q[1] - LIGHT[1] * t, height]);
  };
  context.fillStyle = look.shadow;
  // Fainter towards the edge.
  for (const part of [1.3, 1.1, 0.9, 0.7]) {
    context.beginPath();
    for (const solid of solids) {
      const { a, b, radius } = swept(solid);
      const [p, q] = [fall(a), fall(b)];
      tube(context, p, q, radius * p.scale * part, radius * q.scale * part);
    }
    context.globalAlpha = 0.36;
    context.fill("nonzero");
  }
  context.globalAlpha = 1;
}

/** Adds the outline of a ball swept from p to q to the path. */
function tube(context, p, q, rp, rq) {
  const turn = Math.atan2(q.y - p.y, q.x - p.x);
  context.moveTo(p.x + rp * Math.cos(turn + Math.PI / 2), p.y + rp * Math.sin(turn + Math.PI / 2));
  context.arc(p.x, p.y, rp, turn + Math.PI / 2, turn - Math.PI / 2);
  context.arc(q.x, q.y, rq, turn - Math.PI / 2, turn + Math.PI / 2);
  context.closePath();
}

function paintSolid(context, camera, solid) {
  if (solid.shape.kind === "box") return paintBox(context, camera, solid);
  if (solid.shape.kind === "mesh" && solid.shape.mesh) return paintMesh(context, camera, solid);
  const { a, b, radius } = swept(solid);
  const [p, q] = [camera.project(a), camera.project(b)];
  const [rp, rq] = [radius * p.scale, radius * q.scale];
  const [red, green, blue] = solid.shape.rgba;
  const shade = (k, add) => `rgb(${[red, green, blue].map((c) => Math.round(255 * Math.min(1, c * k + add))).join(",")})`;
  if (Math.hypot(p.x - q.x, p.y - q.y) < 0.5) {
    const glow = context.createRadialGradient(p.x - 0.35 * rp, p.y - 0.45 * rp, 0.1 * rp, p.x, p.y, rp);
    glow.addColorStop(0, shade(1.15, 0.22));
    glow.addColorStop(0.45, shade(1, 0.03));
    glow.addColorStop(1, shade(0.58, 0));
    context.fillStyle = glow;
    context.beginPath();
    context.arc(p.x, p.y, rp, 0, 2 * Math.PI);
    context.fill();
    return;
  }
  // A tube lit from above: the shade runs across it.
  const [dx, dy] = [q.x - p.x, q.y - p.y];
  const length = Math.hypot(dx, dy);
  let [nx, ny] = [dy / length, -dx / length];
  if (ny > 0 || (ny === 0 && nx > 0)) [nx, ny] = [-nx, -ny];
  const r = Math.max(rp, rq);
  const [mx, my] = [(p.x + q.x) / 2, (p.y + q.y) / 2];
  const across = context.createLinearGradient(mx + nx * r, my + ny * r, mx - nx * r, my - ny * r);
  across.addColorStop(0, shade(0.92, 0.04));
  across.addColorStop(0.28, shade(1.1, 0.16));
  across.addColorStop(0.55, shade(0.95, 0));
  across.addColorStop(1, shade(0.5, 0));
  context.fillStyle = across;
  context.beginPath();
  tube(context, p, q, rp, rq);
  context.fill();
}

/** The triangles that face the camera, the farthest first. */
function paintMesh(context, camera, { shape, p, r }) {
  const turn = (v) => [0, 1, 2].map((i) => r[3 * i] * v[0] + r[3 * i + 1] * v[1] + r[3 * i + 2] * v[2]);
  const corners = shape.mesh.vertices.map((v) => turn(v).map((x, i) => x + p[i]));
  const seen = corners.map((c) => camera.project(c));
  const facing = [];
  for (const [a, b, c] of shape.mesh.faces) {
    const [u, v] = [b, c].map((k) => [0, 1, 2].map((i) => corners[k][i] - corners[a][i]));
    const normal = unit(cross(u, v));
    const towards = [0, 1, 2].map((i) => camera.eye[i] - corners[a][i]);
    if (dot(normal, towards) > 0) facing.push({ face: [a, b, c], normal, depth: seen[a].depth + seen[b].depth + seen[c].depth });
  }
  facing.sort((one, other) => other.depth - one.depth);
  for (const { face, normal } of facing) {
    const light = 0.55 + 0.5 * Math.max(0, dot(normal, LIGHT));
    const color = `rgb(${shape.rgba.slice(0, 3).map((c) => Math.round(255 * Math.min(1, c * light + 0.06 * light))).join(",")})`;
    // A line as well, so that no seam shows between triangles.
    context.fillStyle = context.strokeStyle = color;
    context.lineWidth = 0.7;
    context.beginPath();
    for (const k of face) context.lineTo(seen[k].x, seen[k].y);
    context.closePath();
    context.fill();
    context.stroke();
  }
}

function paintBox(context, camera, { shape, p, r }) {
  const [sx, sy, sz] = shape.size;
  const corner = (x, y, z) => [0, 1, 2].map((i) => p[i] + r[3 * i] * x * sx + r[3 * i + 1] * y * sy + r[3 * i + 2] * z * sz);
  const sides = [[0, 1, 2], [1, 2, 0], [2, 0, 1]];
  for (const [axis, u, v] of sides) {
    for (const sign of [-1, 1]) {
      const normal = [r[axis] * sign, r[3 + axis] * sign, r[6 + axis] * sign];
      const middle = [0, 1, 2].map((i) => p[i] + normal[i] * shape.size[axis]);
      if (dot(normal, [camera.eye[0] - middle[0], camera.eye[1] - middle[1], camera.eye[2] - middle[2]]) <= 0) continue;
      const light = 0.55 + 0.5 * Math.max(0, dot(normal, LIGHT));
      context.fillStyle = `rgb(${shape.rgba.slice(0, 3).map((c) => Math.round(255 * Math.min(1, c * light))).join(",")})`;
      context.beginPath();
      for (const [a, b] of [[-1, -1], [1, -1], [1, 1], [-1, 1]]) {
        const place = [0, 0, 0];
        place[axis] = sign;
        place[u] = a;
        place[v] = b;
        const q = camera.project(corner(place[0], place[1], place[2]));
        context.lineTo(q.x, q.y);
      }
      context.closePath();
      context.fill();
    }
  }
}

const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const unit = (a) => {
  const n = Math.hypot(a[0], a[1], a[2]) || 1;
  return [a[0] / n, a[1] / n, a[2] / n];
};
const mix = (a, b, t) => [0, 1, 2].map((i) => a[i] + (b[i] - a[i]) * t);

// ---------------------------------------------------------------- two dimensions

const isOpenLine = (shape) => {
  if (shape.kind !== "polyline" || shape.points.length < 2) return false;
  const [a, b] = [shape.points[0], shape.points[shape.points.length - 1]];
  return a[0] !== b[0] || a[1] !== b[1];
};

/** Middle and height of the part of the plane that is shown. */
function window2d(replay, frame, box) {
  const { shapes, follow } = replay.scene;
  if (shapes.some(isOpenLine)) {
    const far = (s) => s.points.reduce((m, [x, y]) => Math.max(m, Math.hypot(x, y)), Math.max(s.size[0], s.size[1]));
    const reach = Math.max(0.1, ...shapes.filter((s) => !isOpenLine(s)).map(far));
    const height = 5.2 * reach;
    const p = position(replay, frame, follow);
    return { x: p[0], y: smoothHeight(replay, frame) - 0.03 * height, height };
  }
  replay.window2d ??= wholeWindow(replay);
  const { low, high } = replay.window2d;
  const height = Math.max((high[1] - low[1]) * 1.12, ((high[0] - low[0]) * 1.12 * box.h) / box.w, 1e-3);
  return { x: (low[0] + high[0]) / 2, y: (low[1] + high[1]) / 2, height };
}

function smoothHeight(replay, frame) {
  let sum = 0;
  let n = 0;
  for (let f = frame - 50; f <= frame + 50; f += 10) {
    sum += position(replay, Math.min(Math.max(f, 0), replay.count - 1), replay.scene.follow)[1];
    n += 1;
  }
  return sum / n;
}

function wholeWindow(replay) {
  const low = [Infinity, Infinity];
  const high = [-Infinity, -Infinity];
  for (let f = 0; f < replay.count; f += Math.max(1, Math.floor(replay.count / 100))) {
    replay.scene.shapes.forEach((shape, s) => {
      const around = shape.points.length ? 0 : shape.size[0];
      for (const [x, y] of placed(replay, f, s, shape.points.length ? shape.points : [[0, 0]])) {
        low[0] = Math.min(low[0], x - around);
        low[1] = Math.min(low[1], y - around);
        high[0] = Math.max(high[0], x + around);
        high[1] = Math.max(high[1], y + around);
      }
    });
  }
  return { low, high };
}

function placed(replay, frame, shape, points) {
  const o = at(replay, frame, shape);
  const m = replay.frames;
  return points.map(([x, y]) => [m[o] + m[o + 3] * x + m[o + 4] * y, m[o + 1] + m[o + 6] * x + m[o + 7] * y]);
}

function paintFlat(context, box, replay, frame, view, look) {
  const seen = window2d(replay, frame, box);
  const scale = (box.h / seen.height) * (view.zoom ?? 1);
  const place = ([x, y]) => [box.w / 2 + (x - seen.x) * scale, box.h / 2 - (y - seen.y) * scale];
  const sky = context.createLinearGradient(0, 0, 0, box.h);
  sky.addColorStop(0, look.flatSky[0]);
  sky.addColorStop(1, look.flatSky[1]);
  context.fillStyle = sky;
  context.fillRect(0, 0, box.w, box.h);
  context.lineJoin = "round";
  replay.scene.shapes.forEach((shape, s) => {
    const color = shape.rgba.slice(0, 3).map((c) => Math.round(255 * c));
    const css = `rgb(${color.join(",")})`;
    const points = placed(replay, frame, s, shape.points).map(place);
    if (isOpenLine(shape)) return paintGround(context, box, points, css, look);
    context.beginPath();
    if (!points.length) {
      const [x, y] = place(position(replay, frame, s));
      context.arc(x, y, shape.size[0] * scale, 0, 2 * Math.PI);
    }
    points.forEach(([x, y]) => context.lineTo(x, y));
    if (shape.kind === "polyline") {
      context.strokeStyle = css;
      context.lineWidth = 3;
      context.stroke();
      return;
    }
    context.closePath();
    context.fillStyle = css;
    context.fill();
    context.strokeStyle = `rgb(${color.map((c) => Math.round(c * 0.6)).join(",")})`;
    context.lineWidth = 1.5;
    context.stroke();
  });
}

function paintGround(context, box, points, css, look) {
  const seen = points.filter(([x], i) => (points[i + 1] ?? [x])[0] >= 0 && (points[i - 1] ?? [x])[0] <= box.w);
  if (!seen.length) return;
  context.beginPath();
  context.moveTo(seen[0][0], box.h);
  seen.forEach(([x, y]) => context.lineTo(x, y));
  context.lineTo(seen[seen.length - 1][0], box.h);
  context.fillStyle = css;
  context.globalAlpha = look.ground;
  context.fill();
  context.globalAlpha = 1;
  context.beginPath();
  seen.forEach(([x, y]) => context.lineTo(x, y));
  context.strokeStyle = css;
  context.lineWidth = 3;
  context.stroke();
  context.lineWidth = 1.5;
  points.forEach(([x, y], i) => {
    if (i % 5 || x < 0 || x > box.w) return;
    context.beginPath();
    context.moveTo(x, y + 3);
    context.lineTo(x, y + 3 + (i % 25 ? 9 : 18));
    context.stroke();
  });
}
