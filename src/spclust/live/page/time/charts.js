/** Small charts over time, by uPlot: rate, memory, clusters and outliers. */

import { pageColours, faded } from "../colours.js";
import { setText } from "../elements.js";
import { bytes, count, hourAndMinute, rate, share, short, timeOfDay } from "../words.js";

const { uPlot } = window;
const isPointed = (u) => Number.isInteger(u?.cursor.idx);

const FONT_SIZE = 10;
const X_AXIS = 20; // pixels
const Y_AXIS = 46;
const WHOLE_STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
const TIME_STEPS = [5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 10800, 43200, 86400]; // seconds

const CHARTS = [
  { name: "rate", value: (v) => `${rate(v)} rows/s`, tick: short, least: 10 },
  { name: "memory", value: bytes, tick: bytes, least: 1e6 },
  { name: "clusters", value: count, tick: count, least: 4, whole: true },
  { name: "outlier_share", value: share, tick: percent, least: 0.01 },
];

/** A short form of a share for an axis. */
function percent(value) {
  return `${Number((100 * value).toPrecision(2))} %`;
}

export class Charts {
  #charts;
  #window = [0, 1];
  #moment = null; // shown while the page looks back
  #colours = pageColours();

  /** Elements have data-chart="rate" and so on, each with a .chart-value and a .chart-plot. */
  constructor(elements) {
    this.#charts = CHARTS.map((chart) => {
      const element = elements.find((one) => one.dataset.chart === chart.name);
      const output = element.querySelector(".chart-value");
      const plot = element.querySelector(".chart-plot");
      const made = { ...chart, output, plot, u: null, now: null };
      new ResizeObserver(() => this.#resize(made)).observe(plot);
      return made;
    });
  }

  /** Show curves in a window of time [start, end]; `moment` is marked by a line. */
  update(curves, window, moment, snapshot) {
    this.#window = window;
    this.#moment = moment;
    for (const chart of this.#charts) {
      chart.data = [curves.time, curves[chart.name]];
      const now = snapshot[chart.name];
      chart.now = chart.name === "clusters" ? now.length : now;
      if (chart.u) chart.u.setData(chart.data);
      else this.#resize(chart);
      if (!isPointed(chart.u)) setText(chart.output, chart.value(chart.now));
    }
  }

  /** Make the charts anew in the present colours. */
  recolour() {
    this.#colours = pageColours();
    for (const chart of this.#charts) {
      chart.u?.destroy();
      chart.u = null;
      this.#resize(chart);
    }
  }

  #resize(chart) {
    const { clientWidth: width, clientHeight: height } = chart.plot;
    if (!chart.data || width < 40 || height < 30) return;
    if (chart.u) chart.u.setSize({ width, height });
    else chart.u = new uPlot(this.#options(chart, width, height), chart.data, chart.plot);
  }

  #options(chart, width, height) {
    const colours = this.#colours;
    const font = `${FONT_SIZE}px ${colours.font}`;
    const grid = { stroke: colours.faint, width: 1 };
    const axis = { stroke: colours.muted, font, grid, ticks: { show: false } };
    return {
      width,
      height,
      padding: [6, 6, 0, 0],
      legend: { show: false },
      cursor: {
        y: false,
        drag: { x: false, y: false, setScale: false },
        sync: { key: "spclust" },
        points: { size: 6, fill: colours.accent },
      },
      scales: {
        x: { time: true, range: () => this.#window },
        y: { range: (u, low, high) => [0, Math.max(chart.least, 1.15 * (high ?? 0))] },
      },
      axes: [
        {
          ...axis,
          size: X_AXIS,
          gap: 4,
          incrs: TIME_STEPS,
          space: () => this.#labelSpace(),
          values: (u, splits) => this.#clocks(u, splits),
        },
        {
          ...axis,
          size: Y_AXIS,
          gap: 4,
          space: 22,
          values: (u, splits) => splits.map(chart.tick),
          ...(chart.whole ? { incrs: WHOLE_STEPS } : {}),
        },
      ],
      series: [
        {},
        {
          stroke: colours.accent,
          fill: faded(colours.accent, 0.1),
          width: 1.4,
          points: { show: false },
          ...(chart.whole ? { paths: uPlot.paths.stepped({ align: 1 }) } : {}),
        },
      ],
      hooks: {
        draw: [(u) => this.#drawMoment(u)],
        setCursor: [(u) => this.#tell(chart, u)],
      },
    };
  }

  /** Pixels between two times: with seconds they are longer. */
  #labelSpace() {
    return this.#window[1] - this.#window[0] < 120 ? 60 : 44;
  }

  /** Times of day; none so near the right end that it would be cut off. */
  #clocks(u, splits) {
    const [start, end] = this.#window;
    const limit = end - ((end - start) * this.#labelSpace()) / 2 / Math.max(1, u.width - Y_AXIS);
    const text = (time) => (time % 60 === 0 ? hourAndMinute(time) : timeOfDay(time));
    return splits.map((time) => (time <= limit ? text(time) : ""));
  }

  /** The value under the pointer, or the present one. */
  #tell(chart, u) {
    const i = u.cursor.idx;
    const pointed = isPointed(u);
    chart.output.textContent = pointed
      ? `${chart.value(u.data[1][i])} at ${timeOfDay(u.data[0][i])}`
      : chart.value(chart.now);
    chart.output.classList.toggle("pointed", pointed);
  }

  #drawMoment(u) {
    if (this.#moment === null) return;
    const x = Math.round(u.valToPos(this.#moment, "x", true)) + 0.5;
    const { left, top, width, height } = u.bbox;
    if (x < left || x > left + width) return;
    const { ctx } = u;
    ctx.save();
    ctx.strokeStyle = this.#colours.text;
    ctx.lineWidth = devicePixelRatio || 1;
    ctx.beginPath();
    ctx.moveTo(x, top);
    ctx.lineTo(x, top + height);
    ctx.stroke();
    ctx.restore();
  }
}
