/** The scatter: recent points and structures of the shown snapshot, on a canvas. */

import { pageColours } from "../colours.js";
import { count, share, title } from "../words.js";
import { leftMargin, paint } from "./drawing.js";
import { geometryOf, hit, plotArea } from "./geometry.js";
import { including, neededRange, nextRange } from "./range.js";
import { Tooltip } from "./tooltip.js";

const SMALLEST = 20; // pixels of a picture in each direction
const FILE_SCALE = 2; // pixels of a saved picture for each one of the page

export class Scatter {
  #canvas;
  #context;
  #tooltip;
  #said;
  #snapshot = null;
  #range = null;
  #drawn = null; // the range with the place of the marked event
  #geometry = null;
  #colours = pageColours();
  #highlight = null; // a cluster id that a table points at
  #under = null; // what is under the pointer, or reached by keys
  #pointer = null;
  #event = null; // {event, place} to be marked
  #size = { width: 0, height: 0 };
  #waiting = false;

  /** `said` is for those who hear the page: it tells what the keys reach. */
  constructor(canvas, tooltip, said) {
    this.#said = said;
    this.#canvas = canvas;
    this.#context = canvas.getContext("2d");
    this.#tooltip = new Tooltip(tooltip);
    new ResizeObserver(() => this.#resize()).observe(canvas.parentElement);
    canvas.addEventListener("pointermove", (event) => this.#point(event));
    canvas.addEventListener("pointerdown", (event) => this.#point(event));
    canvas.addEventListener("pointerleave", () => this.#leave());
    canvas.addEventListener("keydown", (event) => this.#key(event));
    canvas.addEventListener("blur", () => this.#leave());
  }

  /** Show a snapshot; `leap` goes to its range at once. */
  show(snapshot, leap) {
    const view = this.#snapshot?.view;
    const other = !view || view.x !== snapshot.view.x || view.y !== snapshot.view.y
      || view.projection !== snapshot.view.projection;
    const needed = neededRange(snapshot);
    this.#range = leap || other || !this.#range ? needed : nextRange(this.#range, needed);
    this.#snapshot = snapshot;
    this.#draw();
  }

  /** Highlight a cluster, or none with null. */
  highlight(id) {
    this.#highlight = id;
    this.#draw();
  }

  /** Mark the place {x, y} of an event; nothing with null. */
  mark(event, place) {
    this.#event = event && place ? { event, place } : null;
    this.#draw();
  }

  /** Read the colours anew. */
  recolour() {
    this.#colours = pageColours();
    this.#draw();
  }

  /** The number of points in the picture. */
  pointsShown() {
    return this.#geometry?.points.length ?? 0;
  }

  /** The picture as a PNG file, twice as fine as the page, with a caption. */
  picture(caption) {
    const { width, height } = this.#size;
    const canvas = document.createElement("canvas");
    canvas.width = width * FILE_SCALE;
    canvas.height = height * FILE_SCALE;
    const context = canvas.getContext("2d");
    context.scale(FILE_SCALE, FILE_SCALE);
    if (this.#geometry) paint(context, width, height, { ...this.#scene(), caption });
    return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  }

  #resize() {
    const { clientWidth: width, clientHeight: height } = this.#canvas.parentElement;
    if (width < SMALLEST || height < SMALLEST) return; // the page is not laid out now
    const ratio = devicePixelRatio || 1;
    this.#size = { width, height };
    this.#canvas.width = Math.round(width * ratio);
    this.#canvas.height = Math.round(height * ratio);
    this.#context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.#paint();
  }

  /** Paint before the browser next shows the page, once for several changes. */
  #draw() {
    if (this.#waiting) return;
    this.#waiting = true;
    requestAnimationFrame(() => {
      this.#waiting = false;
      this.#paint();
    });
  }

  #paint() {
    const { width, height } = this.#size;
    if (!this.#snapshot || !width) return;
    const { place } = this.#event ?? {};
    this.#drawn = place ? including(this.#range, place) : this.#range;
    const rough = plotArea(width, height);
    const margin = leftMargin(this.#context, this.#drawn, rough, this.#colours);
    const area = plotArea(width, height, margin);
    this.#geometry = geometryOf(this.#snapshot, this.#drawn, area);
    this.#refreshTooltip();
    paint(this.#context, width, height, this.#scene());
    const { recent, structures, clusters, view } = this.#snapshot;
    this.#canvas.setAttribute(
      "aria-label",
      `Scatter of ${recent.length} recent points, ${structures} structures and ${clusters.length} `
        + `clusters; x axis ${view.x}, y axis ${view.y}. Arrow keys go from cluster to cluster.`,
    );
  }

  #scene() {
    const under = this.#under;
    const pointed = under?.cluster?.id ?? null;
    const scale = this.#geometry.scale;
    const mark = this.#event && {
      x: scale.x(this.#event.place.x),
      y: scale.y(this.#event.place.y),
      event: this.#event.event,
      title: title(this.#event.event),
    };
    return {
      geometry: this.#geometry,
      range: this.#drawn,
      view: this.#snapshot.view,
      colours: this.#colours,
      highlight: this.#highlight ?? pointed,
      mark,
    };
  }

  #point(event) {
    const box = this.#canvas.getBoundingClientRect();
    this.#pointer = { x: event.clientX - box.left, y: event.clientY - box.top };
    this.#draw();
  }

  #leave() {
    this.#pointer = null;
    this.#under = null;
    this.#tooltip.hide();
    this.#draw();
  }

  /** Arrow keys go through the clusters. */
  #key(event) {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") this.#leave();
    const clusters = this.#geometry?.clusters ?? [];
    if (!step || !clusters.length) return;
    event.preventDefault();
    const { length } = clusters;
    const now = clusters.findIndex((cluster) => cluster.id === this.#under?.cluster?.id);
    const next = now < 0 && step < 0 ? length - 1 : (now + step + length) % length;
    this.#pointer = null;
    this.#under = { cluster: clusters[next] };
    const { id, cluster } = clusters[next];
    const size = cluster ? `: ${count(cluster.count)} points, ${share(cluster.share)}` : "";
    this.#said.textContent = `Cluster ${id}${size}`;
    this.#draw();
  }

  /** What was pointed at may have moved. */
  #refreshTooltip() {
    if (this.#pointer) {
      this.#under = hit(this.#geometry, this.#pointer.x, this.#pointer.y);
    } else if (this.#under) {
      const id = this.#under.cluster?.id;
      const cluster = this.#geometry.clusters.find((other) => other.id === id);
      this.#under = cluster ? { cluster } : null;
    }
    if (!this.#under) {
      this.#tooltip.hide();
      return;
    }
    const place = this.#pointer ?? this.#under.cluster;
    this.#tooltip.show(this.#under, place, this.#snapshot, this.#size);
  }
}
