/** The feed of the service: server-sent events, and what to do when the connection breaks. */

const FIRST_WAIT = 500; // milliseconds before the first new attempt; doubled each time
const LONGEST_WAIT = 5000;
const SILENCE = 15000; // after so long without a message a connection counts as broken
const CHECK_TIME = 4000; // milliseconds in which the service must answer a question

export const NEEDS_TOKEN = "This service needs a token: open it as /?token=...";

/**
 * Receives `past` and `snapshot` and connects again by itself.
 *
 * Calls `onPast(past)`, `onSnapshot(snapshot, text)` and `onStatus(status)` with a status of
 * "connecting", "open", "reconnecting" or "refused".
 */
export class Feed {
  #source = null;
  #query = "";
  #wait = FIRST_WAIT;
  #timer = 0;
  #heard = 0; // when the last message came
  #ended = false; // an ended stream may be silent
  #attempt = 0; // answers to older attempts are ignored

  constructor({ onPast, onSnapshot, onStatus }) {
    this.onPast = onPast;
    this.onSnapshot = onSnapshot;
    this.onStatus = onStatus;
    setInterval(() => this.#checkSilence(), SILENCE / 5);
    addEventListener("online", () => this.#again());
    addEventListener("pagehide", () => this.#close());
    addEventListener("pageshow", (event) => event.persisted && this.connect(this.#query));
  }

  /** Connect with a query such as "x=a&y=b"; an older connection is closed. */
  connect(query) {
    this.#query = query;
    this.#wait = FIRST_WAIT;
    this.onStatus("connecting");
    this.#open();
  }

  #open() {
    this.#close();
    this.#attempt += 1;
    this.#heard = Date.now();
    const source = new EventSource(this.#query ? `/live?${this.#query}` : "/live");
    source.addEventListener("open", () => {
      this.#heard = Date.now();
      this.#wait = FIRST_WAIT;
      this.onStatus("open");
    });
    source.addEventListener("past", (event) => this.#receive(event, this.onPast));
    source.addEventListener("snapshot", (event) => this.#receive(event, this.onSnapshot));
    source.addEventListener("error", () => this.#broken());
    this.#source = source;
  }

  #close() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.#source?.close();
    this.#source = null;
  }

  #receive(event, listener) {
    this.#heard = Date.now();
    let message;
    try {
      message = JSON.parse(event.data);
    } catch {
      console.warn("spclust: a message of the service was not JSON and is left out.");
      return;
    }
    this.#ended = message.state === "ended";
    listener(message, event.data);
  }

  #checkSilence() {
    if (this.#source && !this.#ended && Date.now() - this.#heard > SILENCE) this.#broken();
  }

  /** The connection is broken: find out why, tell, and try again later. */
  async #broken() {
    this.#close();
    const attempt = this.#attempt;
    this.onStatus("reconnecting");
    const refused = await isRefused("/healthz") || await isRefused("/live");
    if (attempt !== this.#attempt || this.#source) return;
    if (refused) this.onStatus("refused");
    this.#timer = setTimeout(() => this.#open(), refused ? LONGEST_WAIT : this.#wait);
    this.#wait = Math.min(2 * this.#wait, LONGEST_WAIT);
  }

  #again() {
    if (this.#timer) this.#open();
  }
}

/** True if the service answers that a token is missing; false if it says nothing. */
async function isRefused(address) {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), CHECK_TIME);
  try {
    const answer = await fetch(address, { signal: limit.signal, cache: "no-store" });
    return answer.status === 401 || answer.status === 403;
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
    limit.abort(); // the rest of an endless answer
  }
}
