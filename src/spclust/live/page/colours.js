/** Colours and styles of clusters. An id has the same ones for ever, also after a reload. */

import { theme } from "./theme.js";

// Eight hues that also readers with a colour vision deficiency tell apart, for each theme.
const PALETTES = {
  light: ["#2b4bd8", "#dc9a0c", "#0a8f5c", "#a13a7c", "#7a3420", "#2a9fdc", "#6b6612", "#5a1ea8"],
  dark: ["#2f80cc", "#f58f1c", "#16bd88", "#f298e6", "#b06c3c", "#aee8ff", "#f6e640", "#b26bff"],
};
const NOISE = { light: "#8d959f", dark: "#6b7480" };

// When the hues are used up, the next round of ids has another outline and another marker.
const DASHES = [[], [5, 3], [2, 2]];
const MARKERS = ["circle", "square", "triangle"];

const hues = PALETTES.light.length;

const roundOf = (id) => Math.floor(id / hues) % MARKERS.length;

/** The colour of a cluster id; below 0 it is noise. */
export function clusterColour(id) {
  if (!(id >= 0)) return NOISE[theme()];
  return PALETTES[theme()][id % hues];
}

/** The dashes of a cluster's outlines. */
export const dashesOf = (id) => (id >= 0 ? DASHES[roundOf(id)] : [2, 3]);

/** The marker of a cluster's points. */
export const markerOf = (id) => (id >= 0 ? MARKERS[roundOf(id)] : "cross");

/** The colour of a cluster with an opacity. */
export function faded(colour, opacity) {
  const part = (from) => parseInt(colour.slice(from, from + 2), 16);
  return `rgba(${part(1)}, ${part(3)}, ${part(5)}, ${opacity})`;
}

/** Black or white, whichever is read better on a colour. */
export function inkOn(colour) {
  const [red, green, blue] = [1, 3, 5].map((from) => {
    const part = parseInt(colour.slice(from, from + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  const luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  return luminance > 0.2 ? "#10131a" : "#ffffff";
}

/** The colours of the page itself, from the style sheet. */
export function pageColours() {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(`--${name}`).trim();
  return {
    panel: read("panel"),
    text: read("text"),
    muted: read("muted"),
    line: read("line"),
    faint: read("faint"),
    accent: read("accent"),
    font: getComputedStyle(document.body).fontFamily,
  };
}
