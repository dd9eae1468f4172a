/** What is under the pointer, in words. */

import { swatch } from "../symbols.js";
import { count, deviationText, meanText, measure, share } from "../words.js";

const AWAY = 14; // pixels from the pointer

export class Tooltip {
  #box;
  #text = "";

  constructor(box) {
    this.#box = box;
  }

  hide() {
    this.#box.hidden = true;
    this.#text = "";
  }

  /** Show {cluster} or {point, ellipse} at a place in a picture of a size. */
  show(under, place, snapshot, size) {
    const parts = partsOf(under, snapshot);
    const text = JSON.stringify(parts);
    if (text !== this.#text) {
      this.#text = text;
      this.#box.replaceChildren(...parts.map(partElement));
    }
    this.#box.hidden = false;
    const { offsetWidth: width, offsetHeight: height } = this.#box;
    const right = place.x + AWAY + width < size.width;
    const left = right ? place.x + AWAY : place.x - AWAY - width;
    const top = Math.min(Math.max(4, place.y + AWAY), size.height - height - 4);
    this.#box.style.transform = `translate(${Math.max(4, left)}px, ${top}px)`;
  }
}

function partsOf({ cluster, point, ellipse }, snapshot) {
  const { view } = snapshot;
  const parts = [];
  if (cluster) parts.push(clusterPart(cluster, snapshot));
  if (point) {
    const [x, y, id, typicality] = point.values;
    parts.push({
      id,
      title: id >= 0 ? `Point of cluster ${id}` : "Point of no cluster",
      lines: [[view.x, measure(x)], [view.y, measure(y)], ["Typicality", measure(typicality)]],
    });
  }
  if (ellipse) {
    const [x, y, vxx, , vyy, part, id] = ellipse.values;
    const deviation = (variance) => Math.sqrt(Math.max(variance, 0));
    parts.push({
      id,
      title: id >= 0 ? `Structure of cluster ${id}` : "Structure of no cluster",
      lines: [
        [view.x, spreadText(x, deviation(vxx))],
        [view.y, spreadText(y, deviation(vyy))],
        ["Share of the mass", share(part)],
      ],
    });
  }
  return parts;
}

function spreadText(mean, deviation) {
  return `${meanText(mean, deviation)} ± ${deviationText(deviation)}`;
}

function clusterPart({ id, cluster }, snapshot) {
  const lines = [];
  if (cluster) {
    lines.push(["Points", count(cluster.count)], ["Share of the mass", share(cluster.share)]);
    lines.push(["Structures", count(cluster.structures)]);
    snapshot.columns.slice(0, 4).forEach((name, i) => {
      lines.push([name, spreadText(cluster.centre[i], cluster.spread[i])]);
    });
    if (snapshot.columns.length > 4) lines.push([`${snapshot.columns.length - 4} more`, "…"]);
  }
  return { id, title: `Cluster ${id}`, lines };
}

function partElement({ id, title, lines }) {
  const part = document.createElement("div");
  const heading = document.createElement("strong");
  heading.append(swatch(id), title);
  const list = document.createElement("dl");
  for (const [name, value] of lines) {
    if (name === null || name === undefined) continue;
    const term = document.createElement("dt");
    const text = document.createElement("dd");
    term.textContent = name;
    text.textContent = value;
    list.append(term, text);
  }
  part.append(heading, list);
  return part;
}
