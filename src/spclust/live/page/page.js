/** The start of the page: connects the feed with all that shows it. */

import { clusterColour } from "./colours.js";
import { Feed } from "./feed.js";
import { Findings, Header } from "./header.js";
import { Curves, Events, Snapshots } from "./past.js";
import { Scatter } from "./scatter/scatter.js";
import { placeOf } from "./scatter/place.js";
import { ClusterTable, OutlierTable } from "./tables.js";
import { onTheme, toggleTheme } from "./theme.js";
import { Charts } from "./time/charts.js";
import { Playback } from "./time/playback.js";
import { Timeline } from "./time/timeline.js";
import { ViewChoice } from "./view.js";
import { count, timeOfDay } from "./words.js";

const get = (id) => document.getElementById(id);
const all = (selector) => [...document.querySelectorAll(selector)];
const CALM = 450; // milliseconds between two states of the tables, which are to be read
const SHORTEST = 60; // seconds of a window that shows all
const hook = document.documentElement.dataset; // for tests

const snapshots = new Snapshots();
const curves = new Curves();
const events = new Events();
let told = null; // what the service remembers, until the first snapshot comes
let latest = null; // snapshot
let shown = null;
let paused = null; // or {end, wanted, events, curves}: what there was when the page was paused
let tabulated = -Infinity; // when the tables were last renewed
let leap = true; // the scatter is to go to its range at once

const header = new Header({
  source: get("source"),
  state: get("state"),
  notice: get("notice"),
  figures: Object.fromEntries(all("[data-figure]").map((one) => [one.dataset.figure, one])),
});
const findings = new Findings(get("findings"));
const scatter = new Scatter(get("scatter"), get("tooltip"), get("said"));
const charts = new Charts(all("[data-chart]"));
const clusterTable = new ClusterTable(get("clusters"), get("no-clusters"), {
  onPoint: (id) => scatter.highlight(id),
});
const outlierTable = new OutlierTable(get("outliers"), get("no-outliers"));
const view = new ViewChoice(
  {
    box: get("view"), kind: get("view-kind"), pair: get("view-pair"), x: get("view-x"),
    y: get("view-y"),
  },
  { onChange: changeView },
);
const playback = new Playback(
  {
    pause: get("pause"), live: get("live"), slider: get("slider"), status: get("moment"),
    span: get("span"),
  },
  { onPause: pause, onLive: goLive, onSeek: seek, onSpan: render },
);
const timeline = new Timeline(
  {
    marks: get("marks"),
    axis: get("times"),
    lanes: all("[data-lane]"),
    detail: {
      box: get("event"), text: get("event-text"), time: get("event-time"),
      before: get("event-before"), next: get("event-next"), moment: get("event-moment"),
      close: get("event-close"),
    },
  },
  { onChoose: render, onMoment: (time) => seek(time) },
);
const feed = new Feed({
  onPast: (past) => (told = past),
  onSnapshot: receive,
  onStatus: connection,
});

function connection(status) {
  hook.connection = status === "open" ? "open" : "closed";
  header.connection(status);
}

/** After each connection the service first tells what it remembers. */
function begin({ history, events: past }, snapshot) {
  const other = latest && snapshot.points < latest.points;
  if (other || events.contradict(past ?? [])) startAnew();
  events.add(past);
  curves.replace(history ?? {});
  if (!latest) playback.suit(events.all, snapshot.time);
  told = null;
  view.settle();
}

/** The service was started anew: what was before is of another stream. */
function startAnew() {
  snapshots.clear();
  events.clear();
  timeline.clear();
  paused = null;
}

function receive(snapshot, text) {
  if (told) begin(told, snapshot);
  latest = snapshot;
  snapshots.add(snapshot.time, text);
  events.add(snapshot.events);
  curves.add(snapshot);
  if (paused) return;
  shown = snapshot;
  if (!document.hidden) render();
}

/** Ask the service for other coordinates. */
function changeView(query) {
  goLive();
  feed.connect(query);
}

function pause() {
  if (!latest || paused) return;
  const end = latest.time; // of the window of time
  paused = { end, wanted: end, events: events.all, curves: curves.copy() };
  snapshots.hold(end);
  render();
}

function goLive() {
  if (!latest) return;
  leap = paused !== null;
  paused = null;
  snapshots.release();
  shown = latest;
  render();
}

/** Show the moment of a time in the past. */
function seek(time) {
  pause();
  const snapshot = snapshots.at(time);
  if (!snapshot) return;
  shown = snapshot;
  paused.wanted = Math.max(time, snapshots.oldest); // the snapshot may be a little older
  leap = true;
  render();
}

function render() {
  if (!shown) return;
  const live = paused === null;
  const end = live ? latest.time : paused.end;
  const known = live ? { events: events.all, curves } : paused;
  const { oldest } = snapshots;
  const span = [end - (playback.span || sinceFirst(known, end)), end];
  header.update(shown);
  view.update(live ? shown : latest);
  scatter.show(shown, leap);
  get("no-points").hidden = shown.recent.length + shown.ellipses.length > 0;
  leap = false;
  const { time } = shown;
  timeline.update({ events: known.events, window: span, shown: time, oldest, view: shown.view });
  const chosen = timeline.chosen;
  const place = chosen && placeOf(chosen, shown, snapshots);
  scatter.mark(chosen, place);
  get("event-note").hidden = !chosen || place !== null;
  const wanted = live ? end : paused.wanted;
  playback.update({ window: span, wanted, shown: time, oldest, live });
  charts.update(known.curves, span, live ? null : time, shown);
  if (!live || performance.now() - tabulated > CALM) renderTables();
  Object.assign(hook, { state: shown.state, points: shown.points, snapshot: shown.number });
  hook.mode = live ? "live" : "paused";
}

/** Seconds since the first event or point of a curve. */
function sinceFirst(known, end) {
  const first = Math.min(known.events[0]?.time ?? end, known.curves.time[0] ?? end);
  return Math.max(end - first, SHORTEST);
}

function renderTables() {
  tabulated = performance.now();
  clusterTable.update(shown);
  outlierTable.update(shown);
  findings.update(shown);
}

async function savePicture() {
  if (!shown) return;
  const moment = timeOfDay(shown.time);
  const caption = `${shown.source}, ${count(shown.points)} points, ${moment}`;
  const picture = await scatter.picture(caption);
  if (!picture) return;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(picture);
  link.download = `spclust-${moment.replaceAll(":", "-")}.png`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

const BUSY = "input, select, button, a, textarea, summary";

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === " " && !(event.target instanceof Element && event.target.matches(BUSY))) {
    event.preventDefault();
    if (paused) goLive();
    else pause();
  }
  if (event.key === "Escape" && timeline.chosen) timeline.choose(null);
});
document.addEventListener("visibilitychange", () => document.hidden || render());
get("theme").addEventListener("click", toggleTheme);
get("save").addEventListener("click", savePicture);
onTheme(() => {
  for (const part of [scatter, charts, timeline, clusterTable]) part.recolour();
});

window.spclust = { clusterColour, pointsShown: () => scatter.pointsShown() };
hook.connection = "closed";
feed.connect(view.query);
