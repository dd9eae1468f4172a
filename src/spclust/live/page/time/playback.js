/** Pause, look back by a slider, and go on live. */

import { setText } from "../elements.js";
import { duration, timeOfDay } from "../words.js";

const AT_ONCE = 0.2; // seconds before the pause that are not worth telling
const SHORT = 60; // seconds of the shortest window
const MANY = 150; // events in a window

/**
 * Calls `onPause()`, `onLive()`, `onSeek(time)` and `onSpan(seconds)`.
 *
 * The slider counts seconds back from the end of the window, so that it is aligned with the
 * timeline below it.
 */
export class Playback {
  #elements;
  #end = 0;
  #dragged = false;

  constructor(elements, { onPause, onLive, onSeek, onSpan }) {
    this.#elements = elements;
    const { pause, live, slider, span } = elements;
    pause.addEventListener("click", () => (pause.dataset.paused === "true" ? onLive() : onPause()));
    live.addEventListener("click", onLive);
    slider.addEventListener("pointerdown", () => (this.#dragged = true));
    for (const end of ["pointerup", "pointercancel"]) {
      slider.addEventListener(end, () => (this.#dragged = false));
    }
    slider.addEventListener("input", () => onSeek(this.#end + Number(slider.value)));
    slider.addEventListener("change", () => {
      this.#dragged = false;
      if (Number(slider.value) >= 0) onLive(); // at the right end
    });
    span.addEventListener("change", () => onSpan(Number(span.value)));
  }

  /** The length of the window in seconds; 0 for all that is known. */
  get span() {
    return Number(this.#elements.span.value);
  }

  /** Begin with a shorter window if events come so fast that their marks would hide each other. */
  suit(events, now) {
    const within = (seconds) => events.filter((event) => event.time > now - seconds).length;
    if (within(this.span) > MANY && within(SHORT) > 0) this.#elements.span.value = String(SHORT);
  }

  /**
   * Show where the page is: `window` [start, end], the time that was asked for and the one that is
   * shown, the oldest one that can be shown, and whether the page is live.
   */
  update({ window: [start, end], wanted, shown, oldest, live }) {
    const { pause, live: liveButton, slider, status } = this.#elements;
    this.#end = end;
    slider.min = String(Math.round(start - end));
    if (!this.#dragged) slider.value = String(live ? 0 : wanted - end);
    const part = (time) => 100 * Math.min(1, Math.max(0, (time - start) / (end - start)));
    slider.style.setProperty("--kept-from", `${part(oldest ?? end)}%`);
    slider.style.setProperty("--shown-at", `${part(live ? end : wanted)}%`);
    const text = momentText(shown, end, live);
    slider.setAttribute("aria-valuetext", live ? `Live, ${text}` : text);
    setText(status, text);
    status.classList.toggle("past", !live);
    pause.dataset.paused = String(!live);
    const label = live ? "Pause" : "Go on";
    if (pause.getAttribute("aria-label") !== label) {
      pause.setAttribute("aria-label", label);
      pause.title = `${label} (space bar)`;
    }
    liveButton.setAttribute("aria-pressed", String(live));
  }
}

function momentText(shown, end, live) {
  if (live) return timeOfDay(shown);
  if (end - shown < AT_ONCE) return `Paused at ${timeOfDay(shown)}`;
  return `${timeOfDay(shown)}, ${duration(end - shown)} back`;
}
