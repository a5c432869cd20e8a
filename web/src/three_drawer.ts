// Solids with three.js: one renderer, one scene per replay, the poses written straight into the matrices.

import {
  AmbientLight,
  BoxGeometry,
  BufferGeometry,
  CanvasTexture,
  CapsuleGeometry,
  Color,
  CylinderGeometry,
  DirectionalLight,
  EqualStencilFunc,
  Float32BufferAttribute,
  Fog,
  HemisphereLight,
  IncrementStencilOp,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  MeshStandardMaterial,
  PerspectiveCamera,
  PlaneGeometry,
  RepeatWrapping,
  Scene,
  SRGBColorSpace,
  SphereGeometry,
  WebGLRenderer,
} from "three";
import { FIELD, LOOKS, distanceIn, targetOf } from "../../crates/autoqd-view/src/report/painter.js";
import type { Box, PainterShape } from "../../crates/autoqd-view/src/report/painter.js";
import type { Replay } from "./api.js";
import { isDark, type Drawer, type View } from "./stage.js";

const LIGHT = [-0.42, -0.48, 0.77] as const;

/** Geometry of a shape in MuJoCo's frame: z along the axis of capsules and cylinders. */
function geometryOf(shape: PainterShape): BufferGeometry | null {
  const [a, b, c] = shape.size;
  switch (shape.kind) {
    case "sphere":
      return new SphereGeometry(a, 32, 20);
    case "capsule":
      return new CapsuleGeometry(a, 2 * b, 10, 24).rotateX(Math.PI / 2);
    case "cylinder":
      return new CylinderGeometry(a, a, 2 * b, 32).rotateX(Math.PI / 2);
    case "ellipsoid":
      return new SphereGeometry(1, 32, 20).scale(a, b, c);
    case "box":
      return new BoxGeometry(2 * a, 2 * b, 2 * c);
    case "mesh":
      return shape.mesh ? meshGeometry(shape.mesh) : null;
    default:
      return null;
  }
}

/** Triangles with a normal of their own each: simplified meshes have few, and shared normals would blur their edges. */
function meshGeometry(mesh: NonNullable<PainterShape["mesh"]>): BufferGeometry {
  const corners = mesh.faces.flatMap((face) => face.flatMap((k) => mesh.vertices[k]!));
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new Float32BufferAttribute(corners, 3));
  geometry.computeVertexNormals();
  return geometry;
}

/** Metres that one copy of the floor's picture covers. */
const TILE = 5;

/** A line per metre and a stronger one per five. */
function floorTexture(dark: boolean): CanvasTexture {
  const canvas = document.createElement("canvas");
  const size = (canvas.width = canvas.height = 640);
  const context = canvas.getContext("2d")!;
  context.fillStyle = dark ? LOOKS.dark.floor : LOOKS.light.floor;
  context.fillRect(0, 0, size, size);
  context.fillStyle = dark ? LOOKS.dark.line : LOOKS.light.line;
  for (let i = 0; i < TILE; i++) {
    const wide = i === 0 ? 4 : 2;
    const at = (i * size) / TILE - wide / 2;
    context.fillRect(at, 0, wide, size);
    context.fillRect(0, at, size, wide);
    if (i === 0) {
      context.fillRect(size + at, 0, wide, size);
      context.fillRect(0, size + at, size, wide);
    }
  }
  const texture = new CanvasTexture(canvas);
  texture.colorSpace = SRGBColorSpace;
  texture.wrapS = texture.wrapT = RepeatWrapping;
  texture.repeat.set(80, 80);
  texture.anisotropy = 8;
  return texture;
}

/** One replay's scene. */
class World {
  scene = new Scene();
  /** One per shape; null for the floor. */
  meshes: (Mesh | null)[] = [];
  private shadows: (Mesh | null)[] = [];
  private floor: Mesh | null = null;
  private floorHeight = 0;
  private toFloor = new Matrix4();
  private lamp: DirectionalLight;

  constructor(replay: Replay, dark: boolean) {
    const horizon = new Color(dark ? 0x232b37 : 0xfafcfe);
    this.scene.background = horizon;
    this.scene.fog = new Fog(horizon, 1, 60);
    this.scene.add(new HemisphereLight(0xeaf2ff, dark ? 0x30343c : 0xb9b2a8, 1.5), new AmbientLight(0xffffff, 0.35));
    this.lamp = new DirectionalLight(0xffffff, 2.2);
    this.scene.add(this.lamp, this.lamp.target);
    for (const shape of replay.scene.shapes) this.addShape(shape, dark);
    const plane = replay.scene.shapes.findIndex((s) => s.kind === "plane");
    if (plane >= 0) {
      this.floorHeight = replay.frames[plane * 12 + 2]!;
      this.addFloor(dark);
    }
  }

  private addShape(shape: PainterShape, dark: boolean): void {
    const geometry = geometryOf(shape);
    if (!geometry || shape.rgba[3] < 0.02) {
      this.meshes.push(null);
      this.shadows.push(null);
      return;
    }
    const [r, g, b, opacity] = shape.rgba;
    const material = new MeshStandardMaterial({ color: new Color().setRGB(r, g, b, "srgb"), roughness: 0.55, metalness: 0.02, transparent: opacity < 1, opacity });
    const mesh = new Mesh(geometry, material);
    mesh.matrixAutoUpdate = false;
    mesh.frustumCulled = false;
    this.meshes.push(mesh);
    // The same solid pressed onto the floor along the light; the stencil keeps overlaps from adding up.
    const shade = new MeshBasicMaterial({
      color: 0x000000,
      transparent: true,
      opacity: dark ? 0.4 : 0.2,
      depthWrite: false,
      stencilWrite: true,
      stencilFunc: EqualStencilFunc,
      stencilRef: 0,
      stencilZPass: IncrementStencilOp,
    });
    const shadow = new Mesh(geometry, shade);
    shadow.matrixAutoUpdate = false;
    shadow.frustumCulled = false;
    shadow.renderOrder = 2;
    this.shadows.push(shadow);
    this.scene.add(mesh, shadow);
  }

  private addFloor(dark: boolean): void {
    const side = 80 * TILE;
    const floor = new Mesh(new PlaneGeometry(side, side), new MeshBasicMaterial({ map: floorTexture(dark), depthWrite: false }));
    floor.renderOrder = -1;
    this.floor = floor;
    this.scene.add(floor);
    const [lx, ly, lz] = LIGHT;
    const h = this.floorHeight;
    // x - lx/lz (z - h), y - ly/lz (z - h), a hair above the floor.
    this.toFloor.set(1, 0, -lx / lz, (lx / lz) * h, 0, 1, -ly / lz, (ly / lz) * h, 0, 0, 0, h + 0.002, 0, 0, 0, 1);
  }

  /** Writes the poses of a frame into the matrices. */
  pose(replay: Replay, frame: number): void {
    const m = replay.frames;
    this.meshes.forEach((mesh, s) => {
      if (!mesh) return;
      const o = frame * replay.width + 12 * s;
      mesh.matrix.set(
        m[o + 3]!, m[o + 4]!, m[o + 5]!, m[o]!,
        m[o + 6]!, m[o + 7]!, m[o + 8]!, m[o + 1]!,
        m[o + 9]!, m[o + 10]!, m[o + 11]!, m[o + 2]!,
        0, 0, 0, 1,
      );
      mesh.matrixWorldNeedsUpdate = true;
      const shadow = this.shadows[s];
      if (shadow) {
        shadow.visible = this.floor !== null;
        shadow.matrix.multiplyMatrices(this.toFloor, mesh.matrix);
        shadow.matrixWorldNeedsUpdate = true;
      }
    });
  }

  look(target: readonly [number, number, number], view: View): void {
    const fog = this.scene.fog as Fog;
    fog.near = view.distance * 1.6;
    fog.far = view.distance * 7;
    this.lamp.target.position.set(...target);
    this.lamp.position.set(target[0] + 10 * LIGHT[0], target[1] + 10 * LIGHT[1], target[2] + 10 * LIGHT[2]);
    // In whole tiles, so that the lines stay where they are in the world.
    const snap = (x: number) => Math.round(x / TILE) * TILE;
    this.floor?.position.set(snap(target[0]), snap(target[1]), this.floorHeight - 0.001);
  }

  dispose(): void {
    this.scene.traverse((object) => {
      if (!(object instanceof Mesh)) return;
      object.geometry.dispose();
      for (const material of [object.material].flat()) {
        (material as MeshBasicMaterial).map?.dispose();
        material.dispose();
      }
    });
  }
}

export class ThreeDrawer implements Drawer {
  private renderer: WebGLRenderer;
  private camera = new PerspectiveCamera((2 * Math.atan(FIELD) * 180) / Math.PI, 1, 0.01, 500);
  private worlds = new Map<string, World>();
  private dark = isDark();

  constructor(canvas: HTMLCanvasElement) {
    this.renderer = new WebGLRenderer({ canvas, antialias: true, stencil: true, powerPreference: "low-power" });
    this.renderer.autoClear = false;
    this.camera.up.set(0, 0, 1);
  }

  draw(panes: { box: Box; replay: Replay; frame: number }[], view: View, size: { w: number; h: number; scale: number }): void {
    this.keep(panes.map((pane) => pane.replay));
    const { renderer, camera } = this;
    renderer.setPixelRatio(size.scale);
    renderer.setSize(size.w, size.h, false);
    renderer.setScissorTest(true);
    for (const { box, replay, frame } of panes) {
      const world = this.worlds.get(replay.key)!;
      const target = targetOf(replay, frame);
      world.pose(replay, frame);
      world.look(target, view);
      const distance = distanceIn(view, box);
      const [a, e] = [(view.azimuth * Math.PI) / 180, (view.elevation * Math.PI) / 180];
      camera.position.set(
        target[0] + distance * Math.cos(e) * Math.cos(a),
        target[1] + distance * Math.cos(e) * Math.sin(a),
        target[2] + distance * Math.sin(e),
      );
      camera.lookAt(...target);
      camera.aspect = box.w / box.h;
      camera.updateProjectionMatrix();
      const bottom = size.h - box.y - box.h;
      renderer.setViewport(box.x, bottom, box.w, box.h);
      renderer.setScissor(box.x, bottom, box.w, box.h);
      renderer.clear();
      renderer.render(world.scene, camera);
    }
  }

  /** World matrices of the meshes of a replay as last drawn, column by column; null for the floor. */
  matrices(key: string): (number[] | null)[] {
    return (this.worlds.get(key)?.meshes ?? []).map((mesh) => mesh && [...mesh.matrixWorld.elements]);
  }

  /** Makes worlds for these replays and drops all others. */
  private keep(replays: Replay[]): void {
    if (this.dark !== isDark()) {
      this.dark = isDark();
      this.drop(() => true);
    }
    this.drop((key) => !replays.some((replay) => replay.key === key));
    for (const replay of replays) {
      if (!this.worlds.has(replay.key)) this.worlds.set(replay.key, new World(replay, this.dark));
    }
  }

  private drop(which: (key: string) => boolean): void {
    for (const [key, world] of this.worlds) {
      if (!which(key)) continue;
      world.dispose();
      this.worlds.delete(key);
    }
  }

  dispose(): void {
    this.drop(() => true);
    this.renderer.dispose();
    this.renderer.forceContextLoss();
  }
}
