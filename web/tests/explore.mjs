// Drives the explorer in Chromium: node explore.mjs SCENARIO URL FACTS. Started by crates/autoqd-view/tests/browser.rs.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

const [scenario, url, text] = process.argv.slice(2);
const facts = JSON.parse(text ?? "null");
const FLAGS = ["--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
// Without a GPU there is no WebGL, and the page draws by itself; the meshes of three.js need a software GPU.
const meshes = scenario === "matrices";
const GRAPHICS = meshes ? ["--enable-unsafe-swiftshader"] : ["--disable-gpu"];

const profile = mkdtempSync(join(tmpdir(), "autoqd-chromium-"));
const context = await chromium.launchPersistentContext(profile, {
  executablePath: process.env.AUTOQD_CHROMIUM ?? "/usr/bin/chromium",
  headless: true,
  args: [...FLAGS, ...GRAPHICS],
  ignoreDefaultArgs: meshes ? false : ["--enable-unsafe-swiftshader"],
  viewport: meshes ? { width: 900, height: 420 } : { width: 1280, height: 800 },
  colorScheme: process.env.AUTOQD_DARK ? "dark" : "light",
});
const problems = [];

function watch(page) {
  page.on("console", (message) => {
    // Remarks on speed that this test brings about itself: by a software GPU, and by reading the canvas.
    const remark = (meshes && message.text().includes("GPU stall")) || message.text().includes("willReadFrequently");
    if (["error", "warning"].includes(message.type()) && !remark) problems.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => problems.push(`page: ${error.stack ?? error}`));
  page.on("requestfailed", (request) => {
    const why = request.failure()?.errorText ?? "";
    // A replay that is no longer wanted and a stream that is left are stopped by the page itself.
    if (!why.includes("ERR_ABORTED")) problems.push(`request: ${request.url()} ${why}`);
  });
  page.on("request", (request) => {
    const { protocol, host } = new URL(request.url());
    if (["http:", "https:"].includes(protocol) && host !== new URL(url).host) problems.push(`went to ${request.url()}`);
  });
  return page;
}

const look = async (page, name) => {
  const folder = process.env.AUTOQD_PICTURES;
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`) });
};
/** Nothing serious found by axe. */
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const accessible = async (page) => {
  // Evaluated, not added as a script: the page's content policy allows none but its own.
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  const grave = violations.filter(({ impact }) => ["serious", "critical"].includes(impact));
  assert.deepEqual(grave.map((v) => `${v.id}: ${v.help}: ${v.nodes.map((n) => n.html).join(" ")}`), []);
};
/** Waits until a function of the page's app is true. */
const until = (page, condition, argument) =>
  page.waitForFunction(condition, argument, { timeout: 30000, polling: 30 });
const ready = (page) => until(page, () => window.autoqd?.archive && window.autoqd.map.drawn > 0);
const clickRow = async (page, row, modifiers = []) => {
  const [x, y] = await page.evaluate((r) => window.autoqd.map.placeOf(r), row);
  await page.locator("#map").click({ position: { x, y }, modifiers });
};
const frames = (page) =>
  page.evaluate(() => window.autoqd.player.replays.map((replay) => ({
    frame: window.autoqd.player.frameOf(replay),
    count: replay.count,
    seconds: replay.scene.seconds_per_step,
  })));
/** Pixels of the canvas on which behaviour is drawn. */
const pixels = (page, selector = "#view") =>
  page.evaluate((s) => {
    const canvas = document.querySelector(s);
    return Array.from(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.filter((_, i) => i % 97 === 0));
  }, selector);
const differ = (a, b) => a.length !== b.length || a.some((v, i) => Math.abs(v - b[i]) > 12);

/** A phone of its own: fingers, a small screen, and no mouse. */
async function phone() {
  const browser = await chromium.launch({ executablePath: process.env.AUTOQD_CHROMIUM ?? "/usr/bin/chromium", headless: true, args: [...FLAGS, ...GRAPHICS], ignoreDefaultArgs: ["--enable-unsafe-swiftshader"] });
  const held = await browser.newContext({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  try {
    const page = watch(await held.newPage());
    await page.goto(url);
    await ready(page);
    await until(page, () => window.autoqd.player.replays.length === 2);
    assert.match(await page.locator(".how").innerText(), /^Tap an elite/);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), 0, "nothing sticks out");
    // A tap plays an elite; with the box ticked the next tap puts another beside it.
    const tap = async (row) => {
      const box = await page.locator("#map").boundingBox();
      const [x, y] = await page.evaluate((r) => window.autoqd.map.placeOf(r), row);
      await page.touchscreen.tap(box.x + x, box.y + y);
    };
    await page.locator("#map").scrollIntoViewIfNeeded();
    const [first, second] = await page.evaluate(() => [window.autoqd.map.rows[0], window.autoqd.map.rows.at(-1)]);
    await tap(first);
    await until(page, () => window.autoqd.state.shown.length === 1 && window.autoqd.player.replays.length === 1);
    await page.locator("#compare").check();
    await page.locator("#map").scrollIntoViewIfNeeded();
    await tap(second);
    await until(page, () => window.autoqd.player.replays.length === 2);
    await look(page, "phone-touch");
  } finally {
    await browser.close();
  }
}

const scenarios = {
  async explore() {
    const page = watch(await context.newPage());
    await page.goto(url);
    await ready(page);
    const state = await page.evaluate(() => ({
      drawn: window.autoqd.map.drawn,
      elites: window.autoqd.archive.elites,
      label: document.getElementById("count").textContent,
    }));
    assert.equal(state.elites, facts.elites[0]);
    assert.equal(state.drawn, facts.elites[0], "the map shows as many elites as the archive holds");
    assert.ok(state.label.includes(`${facts.elites[0]}`));

    // The page opens with the best elite at work, and different ones beside it.
    await until(page, () => window.autoqd.player.replays.length > 1 && window.autoqd.player.frameOf(window.autoqd.player.replays[0]) > 2);
    const opened = await page.evaluate(() => {
      const { columns, show } = window.autoqd.archive;
      const objective = columns.get("objective");
      return { best: columns.get("id")[objective.indexOf(Math.max(...objective))], shown: window.autoqd.state.shown.map((s) => s.id), show };
    });
    assert.equal(opened.shown[0], opened.best);
    assert.deepEqual(opened.shown, opened.show);
    await until(page, () => /return so far/.test(document.querySelector(".pane .wait").textContent));
    assert.match(await page.locator(".pane .name").first().textContent(), /^#\d+ · found /);
    assert.equal(await page.locator("#color option").first().textContent(), "return found");
    await look(page, "opened");
    await accessible(page);

    // A click plays frames that move.
    await clickRow(page, 0);
    await until(page, () => window.autoqd.player.replays.length === 1 && window.autoqd.player.frameOf(window.autoqd.player.replays[0]) > 2);
    const before = await pixels(page);
    const first = (await frames(page))[0].frame;
    await until(page, (f) => window.autoqd.player.frameOf(window.autoqd.player.replays[0]) > f + 3, first);
    assert.ok(differ(before, await pixels(page)), "the picture moves");

    // Compare: four at most, all at the same time.
    const rows = await page.evaluate(() => [...window.autoqd.map.rows].slice(0, 6));
    for (const row of rows.slice(1)) await clickRow(page, row, ["Shift"]);
    await until(page, () => window.autoqd.player.replays.length === Math.min(4, window.autoqd.map.rows.length) && window.autoqd.player.replays.every((r) => r.done));
    for (let i = 0; i < 10; i++) {
      const shown = await frames(page);
      const times = shown.filter((s) => s.frame < s.count - 1).map((s) => s.frame * s.seconds);
      assert.ok(Math.max(...times) - Math.min(...times) < 1e-9, `out of step: ${JSON.stringify(shown)}`);
      await page.waitForTimeout(60);
    }
    assert.equal(await page.locator(".pane").count(), Math.min(4, rows.length));
    await look(page, "compare");

    // Pause, scrub, step, slow motion.
    await page.locator("#play").click();
    const held = (await frames(page))[0].frame;
    await page.waitForTimeout(150);
    assert.equal((await frames(page))[0].frame, held, "paused");
    await page.locator("#time").fill("2");
    assert.equal((await frames(page))[0].frame, Math.floor(2 / (await frames(page))[0].seconds + 1e-6), "scrubbed");
    await page.locator("#map").focus();
    await page.keyboard.press(".");
    const stepped = await page.evaluate(() => window.autoqd.player.time);
    assert.ok(Math.abs(stepped - 2 - (await frames(page))[0].seconds) < 1e-6, "one frame on");
    await page.keyboard.press("[");
    assert.equal(await page.evaluate(() => window.autoqd.player.speed), 0.5);

    // A link restores the view.
    await page.locator("#color").selectOption("iteration");
    await page.waitForTimeout(300);
    const link = page.url();
    const wanted = await page.evaluate(() => ({ shown: window.autoqd.state.shown.map((s) => s.id), color: window.autoqd.state.color, time: window.autoqd.player.time, speed: window.autoqd.player.speed }));
    const other = watch(await context.newPage());
    await other.goto(link);
    await until(other, (n) => window.autoqd?.player.replays.length === n, wanted.shown.length);
    const got = await other.evaluate(() => ({ shown: window.autoqd.state.shown.map((s) => s.id), color: window.autoqd.state.color, time: window.autoqd.player.time, speed: window.autoqd.player.speed }));
    assert.deepEqual({ ...got, time: got.time.toFixed(2) }, { ...wanted, time: wanted.time.toFixed(2) });
    await other.close();

    // Keyboard: clear, best elite, neighbour.
    await page.locator("#map").focus();
    await page.keyboard.press("Escape");
    await until(page, () => window.autoqd.player.replays.length === 0);
    await page.keyboard.press("b");
    await until(page, () => window.autoqd.player.replays.length === 1);
    const best = await page.evaluate(() => {
      const { columns } = window.autoqd.archive;
      const objective = columns.get("objective");
      return columns.get("id")[objective.indexOf(Math.max(...objective))] === window.autoqd.state.shown[0].id;
    });
    assert.ok(best, "b shows the best elite");
    const alone = await page.evaluate(() => window.autoqd.state.shown[0].id);
    // The best elite may be at the edge, where an arrow leads nowhere: the first arrow that moves is enough.
    let moved = false;
    for (const arrow of ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"]) {
      await page.keyboard.press(arrow);
      moved = await page.evaluate((id) => window.autoqd.state.shown.length === 1 && window.autoqd.state.shown[0].id !== id, alone);
      if (moved) break;
    }
    assert.ok(moved, "an arrow shows a neighbour");
    await page.keyboard.press("Space");
    assert.equal(await page.evaluate(() => window.autoqd.player.playing), false, "space pauses");
    await page.keyboard.press("Space");
    await page.keyboard.press("b");
    await until(page, (id) => window.autoqd.state.shown[0].id === id && window.autoqd.player.replays.length === 1, alone);

    // What is picked is said to those who do not see it, the first key leads past the header, and ? lists the keys.
    assert.match(await page.locator("#announce").textContent(), /^Shown: #\d+ · found /);
    await page.locator(".skip").focus();
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement.id), "map");
    assert.equal(await page.evaluate(() => window.autoqd.state.shown.length), 1, "skipping to the map keeps the view");
    await page.keyboard.press("?");
    await until(page, () => document.getElementById("keys").open);
    await accessible(page);
    await page.keyboard.press("Escape");
    await until(page, () => !document.getElementById("keys").open);
    assert.equal(await page.evaluate(() => window.autoqd.state.shown.length), 1, "Escape closed the list, not the comparison");
    const nameless = await page.evaluate(() =>
      [...document.querySelectorAll("button, a, input, select")]
        .filter((e) => e.checkVisibility() && !(e.textContent.trim() || e.ariaLabel || e.title || e.labels?.length))
        .map((e) => e.outerHTML));
    assert.deepEqual(nameless, [], "everything that can be pressed has a name");

    // Changed physics: the same policy does something else.
    await until(page, () => window.autoqd.player.replays[0].done);
    const usual = await page.evaluate(() => Array.from(window.autoqd.player.replays[0].frames.slice(-200)));
    await page.locator("#mass").fill("1");
    await until(page, () => window.autoqd.player.replays[0]?.key.endsWith("/1") && window.autoqd.player.replays[0].done);
    const heavy = await page.evaluate(() => Array.from(window.autoqd.player.replays[0].frames.slice(-200)));
    assert.notDeepEqual(usual, heavy);
    // Its return stands beside that of the unchanged episode, and the link holds the physics of each elite.
    await until(page, () => /mass ×2.*unchanged physics [−\d]/.test(document.querySelector(".pane .wait").textContent));
    const second = await page.evaluate(() => window.autoqd.map.rows.find((row) => window.autoqd.archive.columns.get("id")[row] !== window.autoqd.state.shown[0].id));
    await clickRow(page, second, ["Shift"]);
    await until(page, () => window.autoqd.player.replays.length === 2);
    await page.waitForTimeout(300);
    assert.match(decodeURIComponent(page.url()), /e=\d+_0_1!\d+&/, "one elite is heavy, the other is not");
    const sliders = () => page.evaluate(() => document.getElementById("mass").value);
    assert.equal(await sliders(), "0", "the sliders are those of the elite added last");
    await page.locator(".pane .name").first().click();
    assert.equal(await sliders(), "1", "and of the one that is marked");
    await look(page, "physics");
    const heavyLink = watch(await context.newPage());
    await heavyLink.goto(page.url());
    await until(heavyLink, () => window.autoqd?.player.replays.length === 2);
    assert.deepEqual(await heavyLink.evaluate(() => window.autoqd.state.shown.map((s) => s.mass)), [1, 0]);
    await heavyLink.close();

    // Files: a film from the server, one recorded here, the policy, and a list.
    const file = async (act) => {
      const [download] = await Promise.all([page.waitForEvent("download", { timeout: 60000 }), act()]);
      const content = readFileSync(await download.path());
      return { name: download.suggestedFilename(), content };
    };
    const gif = await file(() => page.locator("#gif").click());
    assert.match(gif.name, /elite-\d+\.gif$/);
    assert.equal(gif.content.subarray(0, 4).toString(), "GIF8");
    const onnx = await file(() => page.locator("#onnx").click());
    assert.ok(onnx.name.endsWith(".onnx") && onnx.content.length > 200);
    const list = JSON.parse((await file(() => page.locator("#list").click())).content.toString());
    assert.deepEqual(list, { run: ".", policies: await page.evaluate(() => window.autoqd.state.shown.map((s) => s.id)) });
    await page.locator("#speed").selectOption("4");
    const films = { webm: (bytes) => bytes.readUInt32BE(0) === 0x1a45dfa3, mp4: (bytes) => bytes.subarray(4, 8).toString() === "ftyp" };
    let made = 0;
    for (const [ending, isFilm] of Object.entries(films)) {
      // Which of the two there is depends on the browser.
      if (!(await page.locator(`#${ending}`).isVisible())) continue;
      const film = await file(() => page.locator(`#${ending}`).click());
      assert.match(film.name, new RegExp(`elite-\\d+\\.${ending}$`));
      assert.ok(isFilm(film.content) && film.content.length > 5000, `a ${ending} of ${film.content.length} bytes`);
      made += 1;
    }
    assert.ok(made > 0, "every browser records some kind of film");
    await page.locator("#speed").selectOption("1");
    await page.locator("#reset").click();

    // Colours by rank: the brightest and the darkest stay, the rest spreads evenly.
    await page.locator("#scale").selectOption("rank");
    await until(page, () => document.getElementById("legend-name").textContent.endsWith("by rank"));
    const ranked = await pixels(page, "#map-base");
    await page.locator("#scale").selectOption("even");
    await until(page, () => !document.getElementById("legend-name").textContent.endsWith("by rank"));
    assert.ok(differ(ranked, await pixels(page, "#map-base")), "shades by rank are other shades");

    // Filter and find.
    const middle = await page.evaluate(() => [...window.autoqd.archive.columns.get("objective")].sort((a, b) => a - b).at(-2));
    await page.locator("#add-filter").click();
    await page.locator(".filter input").first().fill(String(middle));
    await until(page, () => window.autoqd.map.rows.length === 2);
    await page.locator(".filter button").click();
    await until(page, () => window.autoqd.map.rows.length === window.autoqd.archive.elites);
    const cell = await page.evaluate(() => [window.autoqd.archive.columns.get("cell")[1], window.autoqd.archive.columns.get("id")[1]]);
    await page.locator("#find").fill(String(cell[0]));
    await page.keyboard.press("Enter");
    await until(page, (id) => window.autoqd.state.shown[0].id === id, cell[1]);
    await page.locator("#find").fill("99999999");
    await page.keyboard.press("Enter");
    await until(page, () => !document.getElementById("failure").hidden);

    // The flat world of the other run: nothing of the first one is left.
    await page.locator("#mass").fill("1");
    await until(page, () => window.autoqd.state.shown[0].mass === 1);
    await page.locator("#run").selectOption({ index: 1 });
    await until(page, () => window.autoqd.state.shown?.length > 1 && window.autoqd.state.shown.every((s) => s.run === window.autoqd.state.run && !s.mass));
    assert.equal(await page.evaluate(() => document.getElementById("mass").value), "0", "no mass factor is left over");
    await until(page, (n) => window.autoqd.archive.elites === n && window.autoqd.map.drawn === n, facts.elites[1]);
    await page.locator("#map").focus();
    await page.keyboard.press("b");
    await until(page, () => window.autoqd.player.replays[0]?.scene.flat && window.autoqd.player.frameOf(window.autoqd.player.replays[0]) > 5);
    assert.equal(await page.evaluate(() => window.autoqd.stage.kind), "paint");
    await look(page, "flat");

    // On a phone everything is still there and nothing sticks out.
    await page.setViewportSize({ width: 390, height: 844 });
    await page.waitForTimeout(300);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `sticks out by ${wide} pixels`);
    for (const id of ["play", "time", "map", "friction", "compare"]) assert.ok(await page.locator(`#${id}`).isVisible(), id);
    const [map, stage] = [await page.locator("#map").boundingBox(), await page.locator("#stage").boundingBox()];
    assert.ok(map.y < stage.y && stage.y + stage.height < 844, `map at ${map.y}, stage at ${stage.y} to ${stage.y + stage.height}: both on the first screen`);
    await accessible(page);
    await look(page, "phone");
    await page.close();
    await phone();
  },

  async outside() {
    const page = watch(await context.newPage());
    await page.goto(url);
    await ready(page);
    const found = await page.evaluate(() => {
      const { archive, map, state } = window.autoqd;
      const [xs, ys] = [archive.columns.get(state.x), archive.columns.get(state.y)];
      const [bx, by] = archive.bounds;
      const { frame } = map;
      const rows = Array.from({ length: archive.elites }, (_, i) => i);
      const out = rows.filter((i) => xs[i] < bx[0] || xs[i] > bx[1] || ys[i] < by[0] || ys[i] > by[1]);
      const beyond = (i) => {
        const [x, y] = map.placeOf(i);
        return x < frame.x || x > frame.x + frame.w || y < frame.y || y > frame.y + frame.h;
      };
      return { drawn: map.drawn, frame, out: out.length, beyond: rows.filter(beyond).length, wrong: out.filter((i) => !beyond(i)).length, note: document.getElementById("outside").textContent };
    });
    assert.ok(found.frame && found.out > 0, "the run has elites outside its bounds");
    assert.equal(found.drawn, facts.elites, "every elite has a place of its own");
    assert.equal(found.wrong, 0, "what is outside is drawn outside");
    assert.equal(found.beyond, found.out);
    assert.match(found.note, /^\d+ % of the best fifth outside/);
    await look(page, "outside");
  },

  async runs() {
    const page = watch(await context.newPage());
    await page.goto(url);
    await ready(page);
    await page.locator("#runs-tab").click();
    await until(page, () => window.autoqd.runsView.cards.length === 2 && window.autoqd.runsView.cards.every((c) => c.map.drawn > 0));
    assert.equal(await page.locator("#runs-table tbody tr").count(), facts.runs);
    assert.equal(await page.locator("#runs-table input:checked").count(), 2, "runs of the same task at first");
    // The list has the numbers of every run, compared or not.
    await until(page, () => [...document.querySelectorAll("#runs-table tbody tr")].every((row) => !row.textContent.includes("–")));
    // An elite picked in one run shows the one most like it in the other.
    const [x, y] = await page.evaluate(() => window.autoqd.runsView.cards[1].map.placeOf(3));
    await page.locator(".run-card canvas[role=img]").nth(1).click({ position: { x, y } });
    await until(page, () => window.autoqd.player.replays.length === 2);
    const picked = await page.evaluate(() => window.autoqd.state.shown.map((s) => s.run));
    assert.deepEqual([...picked].sort(), await page.evaluate(() => window.autoqd.runsView.cards.map((c) => c.id).sort()));
    await accessible(page);
    await look(page, "runs");
    await page.waitForTimeout(300);
    const other = watch(await context.newPage());
    await other.goto(page.url());
    await until(other, () => window.autoqd?.runsView.cards.length === 2 && window.autoqd.player.replays.length === 2);
    await other.close();
    // Without the link, the elite is shown alone.
    await page.locator("#linked").uncheck();
    await page.locator(".run-card canvas[role=img]").nth(1).click({ position: { x, y } });
    await until(page, () => window.autoqd.state.shown.length === 1);
    // One run is left out, then one is looked at alone.
    await page.locator("#runs-table input").nth(1).uncheck();
    await until(page, () => window.autoqd.runsView.cards.length === 1);
    await page.locator("#runs-table button").nth(1).click();
    await until(page, () => document.getElementById("runs-panel").hidden && window.autoqd.state.run === window.autoqd.runs[1].id && window.autoqd.player.replays.length > 0);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.locator("#runs-tab").click();
    await until(page, () => window.autoqd.runsView.cards.length === 2);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `sticks out by ${wide} pixels`);
    await look(page, "runs-phone");
    // A run that is the only one of its task is compared with the others.
    await page.locator("#runs-tab").click();
    await page.locator("#run").selectOption({ index: 2 });
    await until(page, () => window.autoqd.state.run === window.autoqd.runs[2].id && window.autoqd.player.replays.length > 0);
    await page.locator("#runs-tab").click();
    await until(page, () => window.autoqd.runsView.cards.length === 3);
  },

  async live() {
    const page = watch(await context.newPage());
    await page.goto(url);
    await until(page, () => window.autoqd?.archive);
    const start = await page.evaluate(() => window.autoqd.runs[0].iteration);
    await until(page, (i) => window.autoqd.runs[0].iteration >= i + 3, start);
    await until(page, () => window.autoqd.archive.elites > 0 && window.autoqd.map.drawn === window.autoqd.archive.elites);
    const axes = await page.evaluate(() => [window.autoqd.state.x, window.autoqd.state.y, window.autoqd.state.mode]);
    assert.deepEqual(axes, ["measure 1", "measure 2", "cells"], "a page opened before the first elites shows the usual map");
    const label = await page.locator("#state").textContent();
    assert.match(label, /live · iteration \d+ of 1000/);
    const version = await page.evaluate(() => window.autoqd.archive.version);
    await until(page, (v) => window.autoqd.archive.version !== v, version);
    assert.ok((await page.evaluate(() => window.autoqd.metrics.iteration.length)) >= 3);
    await look(page, "live");
    // The server has one place for a page that follows; a closed page leaves it to the next.
    await page.close();
    const next = watch(await context.newPage());
    await next.goto(url);
    await until(next, () => window.autoqd?.archive);
    const from = await next.evaluate(() => window.autoqd.runs[0].iteration);
    await until(next, (i) => window.autoqd.runs[0].iteration >= i + 2, from);
  },

  async many() {
    const page = watch(await context.newPage());
    // The limits are those of a machine that does nothing else; where others compute too, they grow with the load, up to a point.
    const busy = Math.min(2.5, Math.max(1, loadavg()[0] / availableParallelism()));
    let paint = Infinity;
    let map = Infinity;
    let motion = Infinity;
    // The best of three: what is measured is the page, not what else the machine does.
    for (let attempt = 0; attempt < 3 && (map >= 1000 || motion >= 500); attempt++) {
      await page.goto("about:blank");
      await page.goto(url);
      await ready(page);
      const times = await page.evaluate(() => ({
        paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Infinity,
        map: window.autoqd.map.firstDrawn,
        drawn: window.autoqd.map.drawn,
      }));
      assert.equal(times.drawn, facts.elites);
      paint = Math.min(paint, times.paint);
      map = Math.min(map, times.map);
      const clicks = [];
      for (const row of [17, 4321, 8765]) {
        await page.evaluate(() => (window.autoqd.clickToMotion = 0));
        await clickRow(page, row);
        await until(page, () => window.autoqd.clickToMotion > 0);
        clicks.push(await page.evaluate(() => window.autoqd.clickToMotion));
      }
      motion = Math.min(motion, Math.max(...clicks));
    }
    console.log(`first paint ${paint.toFixed(0)} ms, map of ${facts.elites} elites after ${map.toFixed(0)} ms, click to motion ${motion.toFixed(0)} ms, load per core ${busy.toFixed(1)}`);
    await look(page, "many");
    assert.ok(map < 1000 * busy, `the map took ${map} ms at a load of ${busy} per core`);
    assert.ok(motion < 500 * busy, `motion took ${motion} ms at a load of ${busy} per core`);
    const draw = await page.evaluate(() => {
      const start = performance.now();
      for (let i = 0; i < 5; i++) window.autoqd.map.redraw();
      return (performance.now() - start) / 5;
    });
    console.log(`a redraw takes ${draw.toFixed(1)} ms`);
    assert.ok(draw < 150 * busy);
  },

  async matrices() {
    const page = watch(await context.newPage());
    await page.goto(`${url}?draw=three#e=${facts.id}&t=${facts.time.toFixed(2)}`);
    await until(page, () => window.autoqd?.player.replays[0]?.done && window.autoqd.stage.kind === "three");
    await page.evaluate((t) => window.autoqd.player.seek(t), facts.time + 1e-4);
    await until(page, (f) => window.autoqd.player.frameOf(window.autoqd.player.replays[0]) === f, facts.frame);
    await page.waitForTimeout(300);
    const matrices = await page.evaluate(() => window.autoqd.stage.three().matrices(window.autoqd.player.replays[0].key));
    assert.equal(matrices.length, facts.poses.length);
    let compared = 0;
    matrices.forEach((m, i) => {
      if (!m) return;
      const [position, r] = facts.poses[i];
      for (let row = 0; row < 3; row++) {
        const got = [m[row], m[4 + row], m[8 + row], m[12 + row]];
        const want = [r[3 * row], r[3 * row + 1], r[3 * row + 2], position[row]];
        got.forEach((value, k) => assert.ok(Math.abs(value - want[k]) < 1e-5, `mesh ${i}: ${value} is not ${want[k]}`));
        compared += 4;
      }
    });
    // All but the floor.
    assert.ok(compared >= 12 * (facts.poses.length - 1), `${compared} entries of ${facts.poses.length} geoms`);
    await look(page, `matrices-${new URL(page.url()).hash.match(/run=([^&]*)/)?.[1] ?? facts.poses.length}`);
    console.log(`${compared} entries of mesh matrices agree to 1e-5`);
  },

  async report() {
    const page = watch(await context.newPage());
    await page.goto(url);
    assert.equal(await page.locator("canvas[data-replay]").count(), facts.behaviours);
    const canvas = page.locator("canvas[data-replay]").first();
    await canvas.scrollIntoViewIfNeeded();
    await page.waitForTimeout(500);
    const before = await pixels(page, "canvas[data-replay]");
    await page.waitForTimeout(700);
    assert.ok(differ(before, await pixels(page, "canvas[data-replay]")), "the animation moves");
    await canvas.click();
    await page.waitForTimeout(100);
    const held = await pixels(page, "canvas[data-replay]");
    await page.waitForTimeout(300);
    assert.ok(!differ(held, await pixels(page, "canvas[data-replay]")), "a click pauses it");
    await accessible(page);
    const picture = async (name) => {
      if (!process.env.AUTOQD_PICTURES) return;
      mkdirSync(process.env.AUTOQD_PICTURES, { recursive: true });
      await page.screenshot({ path: join(process.env.AUTOQD_PICTURES, `${name}.png`), fullPage: true });
    };
    await picture("report");
    await page.emulateMedia({ colorScheme: "dark" });
    await accessible(page);
    await picture("report-dark");
    await page.emulateMedia({ colorScheme: "light" });
    await page.setViewportSize({ width: 390, height: 844 });
    await page.waitForTimeout(200);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `sticks out by ${wide} pixels`);
    await picture("report-phone");
    // The table of contents leads to every run.
    for (const link of await page.locator(".contents a").all()) {
      const target = (await link.getAttribute("href")).slice(1);
      assert.equal(await page.locator(`[id="${target}"]`).count(), 1, `the contents lead to ${target}`);
    }
    const pdf = await page.pdf({ format: "A4", preferCSSPageSize: true });
    assert.equal(pdf.subarray(0, 4).toString(), "%PDF");
    if (process.env.AUTOQD_PICTURES) writeFileSync(join(process.env.AUTOQD_PICTURES, "report.pdf"), pdf);
    // On paper: light, whatever the screen; pictures in place of films, nothing that is there to be clicked.
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    const paper = await page.evaluate(() => ({
      background: getComputedStyle(document.documentElement).backgroundColor,
      films: [...document.querySelectorAll("canvas[data-replay]")].filter((c) => c.checkVisibility()).length,
      pictures: [...document.querySelectorAll(".screen img")].filter((i) => i.checkVisibility() && i.naturalWidth > 0).length,
      clicks: [...document.querySelectorAll(".on-screen")].filter((e) => e.checkVisibility()).length,
    }));
    assert.deepEqual(paper, { background: "rgb(255, 255, 255)", films: 0, pictures: facts.behaviours, clicks: 0 });
  },
};

let failed = null;
try {
  await scenarios[scenario]();
  assert.deepEqual(problems, [], "no console errors and no failed requests");
} catch (error) {
  failed = error;
}
await context.close();
rmSync(profile, { recursive: true, force: true });
if (failed) {
  console.error(failed.stack ?? failed, problems.length ? `\nproblems: ${problems.join("\n")}` : "");
  process.exit(1);
}
console.log(`${scenario}: ok`);
