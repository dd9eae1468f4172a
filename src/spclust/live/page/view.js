/** The choice of what the scatter shows: two features or the projection. */

/** Calls `onChange(query)` with a query for the feed. */
export class ViewChoice {
  #elements;
  #features = null; // as text
  #pending = false; // a choice has been made, but no snapshot shows it yet
  #onChange;

  constructor(elements, { onChange }) {
    this.#elements = elements;
    this.#onChange = onChange;
    for (const select of [elements.kind, elements.x, elements.y]) {
      select.addEventListener("change", () => this.#changed());
    }
  }

  /** The query that the address of the page asks for; empty if the service may choose. */
  get query() {
    return queryOf(new URLSearchParams(location.hash.slice(1)));
  }

  /** From now on snapshots show what was chosen. */
  settle() {
    this.#pending = false;
  }

  /** Offer the features of a snapshot and show which of them it has. */
  update({ features, view }) {
    const { kind, x, y, box, pair } = this.#elements;
    const text = JSON.stringify(features);
    if (text !== this.#features) {
      this.#features = text;
      for (const select of [x, y]) {
        select.replaceChildren(...features.map((name) => new Option(name, name)));
      }
      y.selectedIndex = Math.min(1, features.length - 1);
      box.hidden = features.length < 2;
    }
    if (this.#pending) return;
    kind.value = view.projection ? "projection" : "features";
    pair.hidden = view.projection;
    if (!view.projection) {
      x.value = view.x;
      y.value = view.y;
    }
  }

  #changed() {
    const { kind, x, y, pair } = this.#elements;
    const projection = kind.value === "projection";
    this.#pending = true;
    pair.hidden = projection;
    const parts = projection ? { view: "projection" } : { x: x.value, y: y.value };
    const query = queryOf(new URLSearchParams(parts));
    history.replaceState(null, "", `#${query}`);
    this.#onChange(query);
  }
}

function queryOf(parts) {
  if (parts.get("view") === "projection") return "view=projection";
  if (!parts.has("x") || !parts.has("y")) return "";
  return new URLSearchParams({ x: parts.get("x"), y: parts.get("y") }).toString();
}
