/** The table of clusters, sortable by every column, and the table of the last outliers. */

import { setText } from "./elements.js";
import { colourSwatch, swatch } from "./symbols.js";
import { count, deviationText, isNumber, meanText, measure, share, timeOfDay } from "./words.js";

/** Calls `onPoint(id)` when a cluster is pointed at, with null when none is. */
export class ClusterTable {
  #table;
  #empty;
  #rows = new Map(); // id: {row, cells, mark}
  #columns = [];
  #names = null; // of the features, as text
  #sort = { key: "id", down: false };
  #clusters = [];
  #pinned = null;
  #onPoint;

  constructor(table, empty, { onPoint }) {
    this.#table = table;
    this.#empty = empty;
    this.#onPoint = onPoint;
    const body = table.tBodies[0];
    const idOf = (event) => event.target.closest("tr")?.dataset.clusterId;
    body.addEventListener("pointerover", (event) => this.#point(idOf(event)));
    body.addEventListener("pointerleave", () => this.#point());
    body.addEventListener("focusin", (event) => this.#point(idOf(event)));
    body.addEventListener("focusout", () => this.#point());
    body.addEventListener("click", (event) => idOf(event) && this.#pin(Number(idOf(event))));
    table.tHead.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button) this.#sortBy(button.dataset.key);
    });
  }

  update(snapshot) {
    this.#setColumns(snapshot.columns);
    this.#clusters = snapshot.clusters;
    const present = new Set(snapshot.clusters.map((cluster) => cluster.id));
    for (const [id, { row }] of this.#rows) {
      if (present.has(id)) continue;
      row.remove();
      this.#rows.delete(id);
    }
    if (this.#pinned !== null && !present.has(this.#pinned)) this.#pin(this.#pinned);
    const largest = Math.max(0, ...snapshot.clusters.map((cluster) => cluster.share ?? 0));
    for (const cluster of snapshot.clusters) this.#fill(cluster, largest);
    this.#arrange();
    this.#empty.hidden = snapshot.clusters.length > 0;
    this.#table.hidden = !this.#empty.hidden;
  }

  /** Give the markers the colours of the present theme. */
  recolour() {
    for (const [id, { mark }] of this.#rows) colourSwatch(mark, id);
  }

  #setColumns(names) {
    const text = JSON.stringify(names);
    if (text === this.#names) return;
    this.#names = text;
    this.#columns = [
      { key: "id", label: "Cluster", value: (c) => c.id, text: (c) => String(c.id) },
      { key: "count", label: "Points", value: (c) => c.count, text: (c) => count(c.count) },
      { key: "share", label: "Share", value: (c) => c.share, text: (c) => share(c.share) },
      {
        key: "structures", label: "Structures", value: (c) => c.structures,
        text: (c) => count(c.structures),
      },
      ...names.map((name, i) => ({
        key: `centre ${i}`, label: name, value: (c) => c.centre[i],
        text: (c) => meanText(c.centre[i], c.spread[i]),
        more: (c) => ` ± ${deviationText(c.spread[i])}`,
      })),
    ];
    const known = this.#columns.some(({ key }) => key === this.#sort.key);
    if (!known) this.#sort = { key: "id", down: false };
    for (const { row } of this.#rows.values()) row.remove();
    this.#rows.clear();
    this.#table.tHead.rows[0].replaceChildren(...this.#columns.map(heading));
    this.#showSort();
  }

  #sortBy(key) {
    const largestFirst = ["count", "share", "structures"].includes(key);
    this.#sort = { key, down: this.#sort.key === key ? !this.#sort.down : largestFirst };
    this.#showSort();
    this.#arrange();
  }

  #showSort() {
    for (const cell of this.#table.tHead.rows[0].cells) {
      const mine = cell.dataset.key === this.#sort.key;
      if (mine) cell.setAttribute("aria-sort", this.#sort.down ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    }
  }

  #fill(cluster, largest) {
    const made = this.#rows.get(cluster.id) ?? this.#newRow(cluster.id);
    this.#columns.forEach((column, i) => {
      const { text, more } = made.cells[i];
      setText(text, column.text(cluster));
      if (more) setText(more, column.more(cluster));
    });
    const part = largest > 0 ? Math.min(1, (cluster.share ?? 0) / largest) : 0;
    made.bar.style.transform = `scaleX(${part.toFixed(3)})`;
  }

  #newRow(id) {
    const row = this.#table.tBodies[0].insertRow();
    row.dataset.clusterId = String(id);
    const made = { row, cells: [], mark: swatch(id), bar: null };
    for (const { key, more } of this.#columns) {
      const cell = row.insertCell();
      let holder = cell;
      if (key === "id") {
        holder = document.createElement("button");
        holder.type = "button";
        holder.className = "cluster";
        holder.title = "Highlight this cluster in the scatter";
        holder.setAttribute("aria-pressed", "false");
        holder.append(made.mark);
        cell.append(holder);
      }
      if (key === "share") {
        made.bar = cell.appendChild(document.createElement("span"));
        made.bar.className = "bar";
      }
      const text = holder.appendChild(document.createElement("span"));
      const rest = more ? holder.appendChild(document.createElement("span")) : null;
      if (rest) rest.className = "quiet";
      made.cells.push({ text, more: rest });
    }
    this.#rows.set(id, made);
    return made;
  }

  /** Put the rows in order; those that are in place are not touched, so that focus stays. */
  #arrange() {
    const column = this.#columns.find(({ key }) => key === this.#sort.key);
    const sign = this.#sort.down ? -1 : 1;
    const value = (cluster) => {
      const own = column.value(cluster);
      return isNumber(own) ? own : -Infinity;
    };
    const sorted = [...this.#clusters].sort(
      (a, b) => sign * (value(a) - value(b) || 0) || a.id - b.id,
    );
    const body = this.#table.tBodies[0];
    const focused = document.activeElement;
    sorted.forEach(({ id }, i) => {
      const { row } = this.#rows.get(id);
      if (body.rows[i] !== row) body.insertBefore(row, body.rows[i] ?? null);
    });
    if (focused !== document.activeElement && body.contains(focused)) focused.focus();
  }

  #point(id) {
    this.#onPoint(id === undefined ? this.#pinned : Number(id));
  }

  /** A click keeps a cluster highlighted until the next one. */
  #pin(id) {
    this.#pinned = this.#pinned === id ? null : id;
    for (const [its, { row }] of this.#rows) {
      row.classList.toggle("pinned", its === this.#pinned);
      row.querySelector("button").setAttribute("aria-pressed", String(its === this.#pinned));
    }
    this.#onPoint(this.#pinned);
  }
}

/** A heading that sorts the table of clusters. */
function heading({ key, label, more }) {
  const cell = document.createElement("th");
  cell.scope = "col";
  cell.dataset.key = key;
  const button = document.createElement("button");
  button.type = "button";
  button.dataset.key = key;
  button.textContent = label;
  button.title = more
    ? `Centre and standard deviation of ${label}; sort by centre`
    : `Sort by ${label.toLowerCase()}`;
  cell.append(button);
  return cell;
}

/** The last outliers, newest first. */
export class OutlierTable {
  #table;
  #empty;
  #shown = "";

  constructor(table, empty) {
    this.#table = table;
    this.#empty = empty;
  }

  update({ outliers, columns }) {
    const text = JSON.stringify([columns, outliers]);
    if (text === this.#shown) return;
    this.#shown = text;
    const labels = ["Row", "Time", "Typicality", ...columns];
    this.#table.tHead.rows[0].replaceChildren(...labels.map(plainHeading));
    this.#table.tBodies[0].replaceChildren(...outliers.map(outlierRow));
    this.#empty.hidden = outliers.length > 0;
    this.#table.hidden = !this.#empty.hidden;
  }
}

function plainHeading(label) {
  const cell = document.createElement("th");
  cell.scope = "col";
  cell.textContent = label;
  return cell;
}

function outlierRow({ row, time, typicality, values }) {
  const line = document.createElement("tr");
  line.dataset.row = String(row);
  const texts = [count(row), timeOfDay(time), measure(typicality), ...values.map(measure)];
  for (const text of texts) line.insertCell().textContent = text;
  return line;
}
