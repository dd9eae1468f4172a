/** What the page remembers, all of it bounded: snapshots, curves and events. */

const MINUTES = 5;
const KEPT = 60 * MINUTES; // seconds of snapshots
const DENSE = 60; // seconds in which every snapshot is kept; before, one in SPARSE seconds
const SPARSE = 1;
const RECENT = 20; // seconds that count as one age when snapshots must be left out
const MOST_BYTES = 60e6;
const THINNED_EVERY = 16; // snapshots

const CURVES = ["rate", "memory", "clusters", "outlier_share"];
const CURVE_SECONDS = 600;
const CURVE_STEP = 0.9; // seconds between two points of a curve, at least
const GAP = 5; // seconds without a point that interrupt a curve

const MOST_EVENTS = 1000;

/** The snapshots of the last minutes, as text: small, and its size is known. */
export class Snapshots {
  #entries = []; // {time, text, size}, oldest first
  #held = null; // while the page is paused: the time from which to go back
  #added = 0;
  #bytes = 0;
  #last = { entry: null, snapshot: null };

  get oldest() {
    return this.#entries[0]?.time ?? null;
  }

  get newest() {
    return this.#entries[this.#entries.length - 1]?.time ?? null;
  }

  get bytes() {
    return this.#bytes;
  }

  get length() {
    return this.#entries.length;
  }

  add(time, text) {
    if (this.newest !== null && time < this.newest) this.clear(); // the clock was set back
    // Engines store text of Latin letters with one byte each, other text with two.
    const size = /[^\u0000-\u00ff]/.test(text) ? 2 * text.length : text.length;
    this.#entries.push({ time, text, size });
    this.#bytes += size;
    this.#added += 1;
    if (this.#added % THINNED_EVERY === 0 || this.#bytes > MOST_BYTES) this.#thin();
  }

  /** The last snapshot at a time or before it; the oldest one if there is none. */
  at(time) {
    let low = 0;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#entries[middle].time <= time + 1e-6) low = middle + 1;
      else high = middle;
    }
    const entry = this.#entries[Math.max(0, low - 1)];
    if (!entry) return null;
    if (this.#last.entry !== entry) this.#last = { entry, snapshot: JSON.parse(entry.text) };
    return this.#last.snapshot;
  }

  /** Keep the minutes before a time, too, until `release`. */
  hold(time) {
    this.#held = time;
  }

  release() {
    this.#held = null;
    this.#thin();
  }

  clear() {
    this.#entries = [];
    this.#bytes = 0;
    this.#held = null;
    this.#last = { entry: null, snapshot: null };
  }

  /** Forget what is too old, or too dense for its age; and what is too much. */
  #thin() {
    let last = -Infinity;
    const newest = this.#entries.length - 1;
    this.#entries = this.#entries.filter((entry, i) => {
      const age = this.#age(entry);
      const wanted = age <= KEPT && (age <= DENSE || entry.time - last >= SPARSE);
      if (wanted) last = entry.time;
      else if (i < newest) this.#bytes -= entry.size;
      return wanted || i === newest;
    });
    while (this.#bytes > MOST_BYTES && this.#entries.length > 1) {
      const [entry] = this.#entries.splice(this.#leastMissed(), 1);
      this.#bytes -= entry.size;
    }
  }

  /** Seconds before the pause, or before now. */
  #age(entry) {
    const held = this.#held !== null && entry.time <= this.#held;
    return (held ? this.#held : this.newest) - entry.time;
  }

  /** The entry without which the gap is smallest, for its age. */
  #leastMissed() {
    let found = 0;
    let least = Infinity;
    for (let i = 1; i < this.#entries.length - 1; i += 1) {
      const gap = this.#entries[i + 1].time - this.#entries[i - 1].time;
      const missed = gap / (RECENT + this.#age(this.#entries[i]));
      if (missed < least) [found, least] = [i, missed];
    }
    return found;
  }
}

/** The curves of the last ten minutes, about one point a second. */
export class Curves {
  time = [];

  constructor() {
    this.replace({ time: [] });
  }

  /** Forget all and begin with what the service remembers. */
  replace(history) {
    this.time = [];
    for (const name of CURVES) this[name] = [];
    (history.time ?? []).forEach((time, i) => {
      this.#push(time, Object.fromEntries(CURVES.map((name) => [name, history[name]?.[i]])));
    });
  }

  add(snapshot) {
    const last = this.time[this.time.length - 1] ?? -Infinity;
    if (snapshot.time - last < CURVE_STEP) return;
    this.#push(snapshot.time, { ...snapshot, clusters: snapshot.clusters.length });
  }

  /** The curves as they are now. */
  copy() {
    return Object.fromEntries(["time", ...CURVES].map((name) => [name, [...this[name]]]));
  }

  #push(time, values) {
    const last = this.time[this.time.length - 1];
    if (last !== undefined && time <= last) return;
    if (last !== undefined && time - last > GAP) this.#append(last + CURVE_STEP, {});
    this.#append(time, values);
    const old = this.time.findIndex((then) => then >= time - CURVE_SECONDS);
    if (old > 0) for (const name of ["time", ...CURVES]) this[name].splice(0, old);
  }

  #append(time, values) {
    this.time.push(time);
    for (const name of CURVES) this[name].push(values[name] ?? null);
  }
}

/** The events by their numbers, each once. */
export class Events {
  all = []; // oldest first

  get last() {
    return this.all[this.all.length - 1] ?? null;
  }

  find(number) {
    return this.all.find((event) => event.number === number) ?? null;
  }

  /** Add those that are new. */
  add(events) {
    const newest = this.last?.number ?? -Infinity;
    const fresh = (events ?? []).filter((event) => event.number > newest);
    if (!fresh.length) return;
    fresh.sort((a, b) => a.number - b.number);
    this.all = this.all.concat(fresh).slice(-MOST_EVENTS);
  }

  /** True if these events cannot follow those that are known: the service was started anew. */
  contradict(events) {
    if (!this.all.length) return false;
    const numbers = new Map(events.map((event) => [event.number, event]));
    if (!numbers.size || Math.max(...numbers.keys()) < this.last.number) return true;
    return this.all.some((event) => {
      const other = numbers.get(event.number);
      return other && (other.event !== event.event || other.after_rows !== event.after_rows);
    });
  }

  clear() {
    this.all = [];
  }
}
