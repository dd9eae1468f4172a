/** Painting of the scatter on a canvas, on the page or for a file. */

import { clusterColour, dashesOf, faded, markerOf } from "../colours.js";
import { MARKERS, eventPath } from "../symbols.js";
import { ticks } from "./range.js";

const POINT = 6.4; // pixels across a marker
const OLDEST = 0.1; // opacity of the oldest and of the newest point
const NEWEST = 0.95;
const SMALL = 500; // pixels of a picture in which ids are written smaller
const DIMMED = 0.2; // of what is not highlighted
const markers = Object.fromEntries(
  Object.entries(MARKERS).map(([name, path]) => [name, new Path2D(path)]),
);

/**
 * Paint a scene: {geometry, range, view, colours, highlight, mark, caption}.
 *
 * `highlight` is a cluster id or null, `mark` a place of an event {x, y, event, title} or null.
 */
export function paint(context, width, height, scene) {
  const { geometry, colours, mark } = scene;
  context.fillStyle = colours.panel;
  context.fillRect(0, 0, width, height);
  if (!geometry.points.length && !geometry.ellipses.length) return;
  paintAxes(context, width, height, scene);
  context.save();
  const { left, top, right, bottom } = geometry.area;
  context.beginPath();
  context.rect(left, top, right - left, bottom - top);
  context.clip();
  for (const ellipse of geometry.ellipses) paintEllipse(context, ellipse, scene);
  for (const point of geometry.points) paintPoint(context, point, scene);
  for (const cluster of geometry.clusters) paintLabel(context, cluster, scene);
  if (mark) paintMark(context, mark, scene);
  context.restore();
}

const font = (colours, size, weight = 400) => `${weight} ${size}px ${colours.font}`;

/** Ticks of both axes of an area. */
export function axisTicks(range, area) {
  return {
    x: ticks(range.x, Math.max(4, (area.right - area.left) / 84)),
    y: ticks(range.y, Math.max(4, (area.bottom - area.top) / 52)),
  };
}

/** The width that the numbers of the upward axis need. */
export function leftMargin(context, range, area, colours) {
  context.font = font(colours, 11);
  const widths = axisTicks(range, area).y.map((tick) => context.measureText(tick.text).width);
  return Math.ceil(Math.max(24, ...widths)) + 18;
}

function paintAxes(context, width, height, { geometry, range, view, colours, caption }) {
  const { area, scale } = geometry;
  const { x, y } = axisTicks(range, area);
  context.lineWidth = 1;
  context.strokeStyle = colours.faint;
  context.beginPath();
  const columns = x.map((tick) => scale.x(tick.value));
  const rows = y.map((tick) => scale.y(tick.value));
  for (const at of columns) line(context, at, area.top, at, area.bottom);
  for (const at of rows) line(context, area.left, at, area.right, at);
  context.stroke();
  context.strokeStyle = colours.line;
  context.strokeRect(
    Math.round(area.left) + 0.5, Math.round(area.top) + 0.5,
    Math.round(area.right - area.left) - 1, Math.round(area.bottom - area.top) - 1,
  );
  context.fillStyle = colours.muted;
  context.font = font(colours, 11);
  context.textAlign = "center";
  context.textBaseline = "top";
  for (const tick of x) context.fillText(tick.text, scale.x(tick.value), area.bottom + 6);
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const tick of y) context.fillText(tick.text, area.left - 7, scale.y(tick.value));
  context.fillStyle = colours.text;
  context.font = font(colours, 12, 600);
  context.textBaseline = "alphabetic";
  context.fillText(view.x ?? "", area.right, height - 6, area.right - area.left);
  context.textAlign = "left";
  context.fillText(view.y ?? "", area.left, 17, (area.right - area.left) / (caption ? 3 : 1));
  if (caption) {
    context.font = font(colours, 11);
    context.fillStyle = colours.muted;
    context.textAlign = "right";
    context.fillText(caption, area.right, 17, ((area.right - area.left) * 2) / 3);
  }
}

function line(context, x1, y1, x2, y2) {
  context.moveTo(Math.round(x1) + 0.5, Math.round(y1) + 0.5);
  context.lineTo(Math.round(x2) + 0.5, Math.round(y2) + 0.5);
}

const dimming = (id, highlight) => (highlight === null || id === highlight ? 1 : DIMMED);

function paintEllipse(context, { x, y, a, b, angle, share, id }, { highlight }) {
  const colour = clusterColour(id);
  const strength = dimming(id, highlight) * (id < 0 ? 0.7 : 1);
  const heavy = Math.min(1, 0.45 + 5 * Math.sqrt(Math.max(share, 0)) / 2);
  context.setLineDash(dashesOf(id));
  context.beginPath();
  context.ellipse(x, y, 2 * a, 2 * b, angle, 0, 2 * Math.PI);
  context.fillStyle = faded(colour, 0.05 * strength);
  context.fill();
  context.lineWidth = 0.8;
  context.strokeStyle = faded(colour, 0.42 * strength);
  context.stroke();
  context.beginPath();
  context.ellipse(x, y, a, b, angle, 0, 2 * Math.PI);
  context.fillStyle = faded(colour, 0.08 * strength);
  context.fill();
  context.lineWidth = 1.3;
  context.strokeStyle = faded(colour, heavy * strength * 0.9);
  context.stroke();
  context.setLineDash([]);
}

function paintPoint(context, { x, y, id, freshness, outside, direction }, { highlight }) {
  const opacity = (OLDEST + (NEWEST - OLDEST) * freshness ** 1.6) * dimming(id, highlight);
  const colour = faded(clusterColour(id), opacity);
  context.save();
  context.translate(x, y);
  if (outside) {
    context.rotate(direction);
    context.fillStyle = colour;
    context.fill(new Path2D("M5 0L-3 4.5V-4.5z"));
  } else {
    const size = POINT / 10;
    context.scale(size, size);
    context.translate(-8, -8);
    const marker = markerOf(id);
    if (marker === "cross") {
      context.lineWidth = 2;
      context.strokeStyle = colour;
      context.stroke(markers.cross);
    } else {
      context.fillStyle = colour;
      context.fill(markers[marker]);
    }
  }
  context.restore();
}

/** The id of a cluster at its centre, with a halo so that it is read on anything. */
function paintLabel(context, { x, y, id }, { geometry, colours, highlight }) {
  const text = String(id);
  context.font = font(colours, geometry.area.right < SMALL ? 11 : 13, 700);
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.globalAlpha = dimming(id, highlight) === 1 ? 1 : 0.35;
  context.lineJoin = "round";
  context.lineWidth = 4;
  context.strokeStyle = colours.panel;
  context.strokeText(text, x, y + 0.5);
  context.fillStyle = colours.text;
  context.fillText(text, x, y + 0.5);
  context.globalAlpha = 1;
}

/** A cross-hair with the symbol of the event and a few words. */
function paintMark(context, { x, y, event, title }, { geometry, colours }) {
  const { area } = geometry;
  context.strokeStyle = colours.text;
  context.lineWidth = 1;
  context.setLineDash([3, 3]);
  context.beginPath();
  line(context, area.left, y, x - 16, y);
  line(context, x + 16, y, area.right, y);
  line(context, x, area.top, x, y - 16);
  line(context, x, y + 16, x, area.bottom);
  context.globalAlpha = 0.5;
  context.stroke();
  context.globalAlpha = 1;
  context.setLineDash([]);
  context.lineWidth = 4.5;
  context.strokeStyle = colours.panel;
  circle(context, x, y, 15);
  context.lineWidth = 2;
  context.strokeStyle = colours.text;
  circle(context, x, y, 15);
  context.font = font(colours, 12, 600);
  const width = context.measureText(title).width + 34;
  const left = x + 22 + width < area.right ? x + 22 : x - 22 - width;
  const middle = y - 26 > area.top + 12 ? y - 26 : y + 26;
  context.beginPath();
  context.roundRect(left, middle - 12, width, 24, 6);
  context.fillStyle = colours.text;
  context.fill();
  context.fillStyle = colours.panel;
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.fillText(title, left + 25, middle + 0.5);
  context.translate(left + 6, middle - 8);
  context.strokeStyle = colours.panel;
  context.lineWidth = 1.8;
  context.lineCap = "round";
  context.stroke(new Path2D(eventPath(event.event)));
}

function circle(context, x, y, radius) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.stroke();
}
