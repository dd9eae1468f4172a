/** The timeline: a lane for each kind of event, a mark for each event. */

import { setText } from "../elements.js";
import { clusterColour, inkOn } from "../colours.js";
import { KINDS, clusterOf, eventSymbol } from "../symbols.js";
import { hourAndMinute, sentence, timeOfDay, title } from "../words.js";

const INSET = 8; // pixels at both ends, half of the slider's thumb
const EDGE = 3; // pixels of a mark that another one over it leaves visible
const SHIFT = 24; // pixels that a mark is moved for that, at most
const SOON = 0.3; // seconds after a snapshot in which an event belongs to it
const MOST_MARKS = 500;
// Seconds between two times on the axis.
const STEPS = [5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 10800, 43200, 86400];
const LABEL_WIDTH = 76; // pixels that a time on the axis needs

/** Calls `onChoose(event)` when an event is chosen, with null when none is any more. */
export class Timeline {
  #elements;
  #onChoose;
  #marks = new Map(); // number: button
  #events = []; // those that have a mark, oldest first
  #chosen = null; // number of the chosen event
  #window = [0, 1];
  #view = null;

  constructor(elements, { onChoose, onMoment }) {
    this.#elements = elements;
    this.#onChoose = onChoose;
    const { marks, detail } = elements;
    marks.addEventListener("click", (event) => {
      const mark = event.target.closest("[data-event-number]");
      if (mark) this.choose(Number(mark.dataset.eventNumber));
    });
    marks.addEventListener("keydown", (event) => this.#key(event));
    detail.before.addEventListener("click", () => this.#step(-1));
    detail.next.addEventListener("click", () => this.#step(1));
    detail.close.addEventListener("click", () => this.choose(null));
    detail.moment.addEventListener("click", () => onMoment(this.chosen.time));
    new ResizeObserver(() => this.#place()).observe(marks);
  }

  /** The chosen event, or null. */
  get chosen() {
    return this.#events.find((event) => event.number === this.#chosen) ?? null;
  }

  /** Show events of a window of time; those after the shown time are dimmed. */
  update({ events, window, shown, oldest, view }) {
    const [start, end] = window;
    this.#window = window;
    this.#view = view;
    const seen = events.filter((event) => event.time >= start && event.time <= end + 1);
    this.#events = seen.slice(-MOST_MARKS);
    const chosen = events.find((event) => event.number === this.#chosen);
    if (chosen && !this.#events.includes(chosen)) this.#events.unshift(chosen);
    this.#renew(shown);
    this.#place();
    this.#tell(events.filter((event) => event.time <= shown + SOON), oldest);
    this.#countLanes();
  }

  /** Choose an event by its number, or none with null. */
  choose(number) {
    this.#chosen = number === this.#chosen ? null : number;
    for (const [its, mark] of this.#marks) {
      mark.setAttribute("aria-pressed", String(its === this.#chosen));
    }
    this.#rove();
    this.#onChoose(this.chosen);
  }

  /** Give the marks the colours of the present theme. */
  recolour() {
    for (const event of this.#events) colour(this.#marks.get(event.number), event);
  }

  /** Forget all marks: the service was started anew. */
  clear() {
    for (const mark of this.#marks.values()) mark.remove();
    this.#marks.clear();
    this.#events = [];
    if (this.#chosen !== null) this.choose(null);
  }

  #renew(shown) {
    const wanted = new Set(this.#events.map((event) => event.number));
    for (const [number, mark] of this.#marks) {
      if (wanted.has(number)) continue;
      if (mark === document.activeElement) this.#focusNearest(number);
      mark.remove();
      this.#marks.delete(number);
    }
    for (const event of this.#events) {
      if (!this.#marks.has(event.number)) this.#add(event);
      this.#marks.get(event.number).classList.toggle("later", event.time > shown + SOON);
    }
    this.#rove();
  }

  #add(event) {
    const mark = document.createElement("button");
    mark.type = "button";
    mark.className = "mark";
    mark.dataset.eventNumber = String(event.number);
    mark.dataset.kind = event.event;
    const text = `${title(event)} at ${timeOfDay(event.time)}`;
    mark.title = text;
    mark.setAttribute("aria-label", text);
    mark.setAttribute("aria-pressed", String(event.number === this.#chosen));
    mark.style.top = `${Math.max(0, KINDS.indexOf(event.event)) * 20}%`;
    mark.append(eventSymbol(event.event));
    colour(mark, event);
    this.#marks.set(event.number, mark);
    this.#elements.marks.append(mark);
  }

  #place() {
    const [start, end] = this.#window;
    const width = this.#elements.marks.clientWidth - 2 * INSET;
    if (width <= 0) return; // the page is not laid out now
    const x = (time) => INSET + (width * (time - start)) / (end - start);
    const last = {}; // place of the next mark in each lane
    for (const event of this.#events.slice().reverse()) {
      const mark = this.#marks.get(event.number);
      if (!mark) continue;
      const exact = x(event.time);
      const next = last[event.event] ?? Infinity;
      const here = Math.max(exact - SHIFT, Math.min(exact, next - EDGE));
      last[event.event] = here;
      mark.style.transform = `translateX(${here.toFixed(1)}px)`;
      mark.hidden = event.time < start || event.time > end + 1;
    }
    this.#placeTimes(x, width);
  }

  /** Times below the lanes. */
  #placeTimes(x, width) {
    const [start, end] = this.#window;
    const most = Math.max(1, width / LABEL_WIDTH);
    const step = STEPS.find((seconds) => (end - start) / seconds <= most) ?? end - start;
    const { axis } = this.#elements;
    let used = 0;
    const inset = (LABEL_WIDTH / 3) * ((end - start) / width); // seconds at both ends
    for (let time = Math.ceil((start + inset) / step) * step; time <= end - inset; time += step) {
      const label = axis.children[used] ?? axis.appendChild(document.createElement("span"));
      const text = step % 60 === 0 ? hourAndMinute(time) : timeOfDay(time);
      if (label.textContent !== text) label.textContent = text;
      label.style.transform = `translateX(${x(time).toFixed(1)}px) translateX(-50%)`;
      used += 1;
    }
    while (axis.children.length > used) axis.lastChild.remove();
  }

  #countLanes() {
    const counts = Object.fromEntries(KINDS.map((kind) => [kind, 0]));
    for (const event of this.#events) counts[event.event] += 1;
    for (const lane of this.#elements.lanes) {
      const text = String(counts[lane.dataset.lane]);
      if (lane.textContent !== text) lane.textContent = text;
    }
  }

  /** The chosen event in words, else the last one that the shown snapshot knows. */
  #tell(events, oldest) {
    const { detail } = this.#elements;
    const chosen = this.chosen;
    const event = chosen ?? events[events.length - 1] ?? null;
    detail.box.classList.toggle("chosen", chosen !== null);
    detail.box.hidden = false;
    for (const button of [detail.before, detail.next, detail.close]) button.hidden = !chosen;
    detail.moment.hidden = !chosen || oldest === null || chosen.time < oldest;
    if (chosen) {
      const i = this.#events.indexOf(chosen);
      detail.before.disabled = i <= 0;
      detail.next.disabled = i >= this.#events.length - 1;
    }
    const words = event ? sentence(event, this.#view) : "No events yet.";
    detail.text.setAttribute("aria-live", chosen ? "polite" : "off"); // not of every event
    setText(detail.text, words);
    setText(detail.time, event ? `${chosen ? "" : "Last event, "}${timeOfDay(event.time)}` : "");
  }

  /** One mark can be reached by the tabulator key; arrow keys go from it to the others. */
  #rove() {
    const focused = Number(document.activeElement?.dataset.eventNumber);
    const last = this.#events[this.#events.length - 1]?.number;
    const one = this.#marks.has(focused) ? focused : this.#chosen ?? last;
    for (const [number, mark] of this.#marks) mark.tabIndex = number === one ? 0 : -1;
  }

  #key(event) {
    const number = Number(event.target.dataset.eventNumber);
    const now = this.#events.findIndex((one) => one.number === number);
    const last = this.#events.length - 1;
    const next = { ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: last }[event.key];
    if (next === undefined || now < 0) return;
    event.preventDefault();
    const target = this.#events[Math.min(Math.max(next, 0), last)];
    this.#marks.get(target.number)?.focus();
    this.#rove();
  }

  #step(way) {
    const now = this.#events.indexOf(this.chosen);
    const next = this.#events[now + way];
    if (next) this.choose(next.number);
  }

  #focusNearest(number) {
    const next = this.#events.find((event) => event.number > number);
    if (next) this.#marks.get(next.number)?.focus();
  }
}

function colour(mark, event) {
  const background = clusterColour(clusterOf(event));
  mark.style.backgroundColor = background;
  mark.style.color = inkOn(background);
}
