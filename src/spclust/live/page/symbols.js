/** Symbols of events and markers of clusters, as paths in a square of 16 units. */

import { clusterColour, markerOf } from "./colours.js";

const SVG = "http://www.w3.org/2000/svg";

export const KINDS = ["birth", "split", "move", "merge", "death"];

const EVENTS = {
  birth: "M8 3.5v9M3.5 8h9",
  death: "M4.5 4.5l7 7M11.5 4.5l-7 7",
  merge: "M3.5 4l4.5 4h5M3.5 12l4.5-4",
  split: "M3 8h5l4.5-4M8 8l4.5 4",
  move: "M3 8h9.5M9 4.5L12.5 8 9 11.5",
};
const OTHER = "M8 6v4";

export const MARKERS = {
  circle: "M8 3a5 5 0 1 0 0 10a5 5 0 1 0 0-10z",
  square: "M3.6 3.6h8.8v8.8h-8.8z",
  triangle: "M8 2.8l5.4 9.6h-10.8z",
  cross: "M4.5 4.5l7 7M11.5 4.5l-7 7",
};

/** The path of an event's symbol. */
export const eventPath = (kind) => EVENTS[kind] ?? OTHER;

function svg(path, name) {
  const picture = document.createElementNS(SVG, "svg");
  picture.setAttribute("viewBox", "0 0 16 16");
  picture.setAttribute("class", name);
  picture.setAttribute("aria-hidden", "true");
  const line = document.createElementNS(SVG, "path");
  line.setAttribute("d", path);
  picture.append(line);
  return picture;
}

/** The symbol of a kind of event. */
export const eventSymbol = (kind) => svg(eventPath(kind), "symbol");

/** The marker of a cluster in its colour, for tables and texts. */
export function swatch(id) {
  const marker = markerOf(id);
  const picture = svg(MARKERS[marker], marker === "cross" ? "swatch open" : "swatch");
  colourSwatch(picture, id);
  return picture;
}

/** Give a swatch the colour that its cluster has in the present theme. */
export function colourSwatch(picture, id) {
  picture.style.color = clusterColour(id);
}

/** The cluster whose colour an event has: the one that is there after it, or was before. */
export function clusterOf(event) {
  const before = event.before ?? [];
  const after = event.after ?? [];
  return (event.event === "split" ? before[0] : after[0]) ?? before[0] ?? after[0] ?? -1;
}
