/** The head of the page: source, state and figures; the notice; and the findings. */

import { setText } from "./elements.js";
import { NEEDS_TOKEN } from "./feed.js";
import { bytes, count, rate, share } from "./words.js";

const STATES = { learning: "Learning", waiting: "Waiting for data", ended: "Ended" };

export class Header {
  #elements;
  #state = null;
  #connection = "connecting";

  /** `figures` are elements by the name of what they show. */
  constructor(elements) {
    this.#elements = elements;
  }

  update(snapshot) {
    const { source, figures } = this.#elements;
    setText(source, snapshot.source);
    source.title = snapshot.source;
    document.title = `${snapshot.source} – spclust`;
    this.#state = snapshot.state;
    setText(figures.points, count(snapshot.points));
    setText(figures.rate, rate(snapshot.rate));
    setText(figures.clusters, count(snapshot.clusters.length));
    setText(figures.structures, count(snapshot.structures));
    setText(figures.outliers, share(snapshot.outlier_share));
    setText(figures.memory, bytes(snapshot.memory));
    setText(figures.queue, count(snapshot.queue));
    this.#showState();
  }

  /** Show the status of the feed: see `Feed`. */
  connection(status) {
    this.#connection = status;
    const { notice } = this.#elements;
    notice.hidden = status !== "refused";
    setText(notice, status === "refused" ? NEEDS_TOKEN : "");
    this.#showState();
  }

  #showState() {
    const { state } = this.#elements;
    const open = this.#connection === "open";
    const [kind, text] = open && this.#state
      ? [this.#state, STATES[this.#state] ?? this.#state]
      : { reconnecting: ["broken", "Reconnecting…"], refused: ["broken", "Not connected"] }[
          this.#connection
        ] ?? ["waiting", "Connecting…"];
    state.dataset.kind = kind;
    setText(state, text);
  }
}

/** What diagnose() says about the model. */
export class Findings {
  #list;
  #shown = null;

  constructor(list) {
    this.#list = list;
  }

  update({ findings }) {
    const text = JSON.stringify(findings);
    if (text === this.#shown) return;
    this.#shown = text;
    const line = (kind) => (words) => {
      const item = document.createElement("li");
      item.className = kind;
      item.textContent = words;
      return item;
    };
    const items = findings === null || findings === undefined
      ? [line("unknown")("Not examined yet.")]
      : findings.length ? findings.map(line("problem")) : [line("fine")("No problems found.")];
    this.#list.replaceChildren(...items);
  }
}
