/** Numbers, times and events in words. All of it is plain text, for textContent. */

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const significant = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
const three = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
const two = new Intl.NumberFormat("en", {
  minimumSignificantDigits: 2, maximumSignificantDigits: 2,
});
const clock = new Intl.DateTimeFormat("en-GB", {
  hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false,
});
const shortClock = new Intl.DateTimeFormat("en-GB", {
  hour: "2-digit", minute: "2-digit", hour12: false,
});

export const UNKNOWN = "–";
const FEATURES_IN_A_SENTENCE = 3;

export const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

const signed = (text) => text.replace(/^-/, "−").replace("e-", "e−").replace("e+", "e");

/** A count with thousands separators. */
export const count = (value) => (isNumber(value) ? signed(whole.format(value)) : UNKNOWN);

/** A measured value with four significant digits. */
export function measure(value) {
  if (!isNumber(value)) return UNKNOWN;
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e7 || size < 1e-4)) return signed(value.toExponential(2));
  return signed(size >= 1e4 ? whole.format(value) : significant.format(value));
}

/** A mean and a standard deviation, to the two leading digits of the latter. */
export function meanText(mean, deviation) {
  if (!isNumber(mean) || !(deviation > 0)) return measure(mean);
  const decimals = 1 - Math.floor(Math.log10(deviation));
  if (decimals > 6 || Math.abs(mean) >= 1e7) return measure(mean);
  const shown = Math.max(0, decimals);
  const digits = { minimumFractionDigits: shown, maximumFractionDigits: shown };
  const text = signed(mean.toLocaleString("en", digits));
  return /[1-9]/.test(text) ? text : text.replace("−", "");
}

/** A standard deviation with two significant digits. */
export function deviationText(deviation) {
  if (!isNumber(deviation)) return UNKNOWN;
  if (deviation === 0) return "0";
  if (deviation >= 1e7 || deviation < 1e-4) return signed(deviation.toExponential(1));
  return deviation >= 100 ? whole.format(deviation) : two.format(deviation);
}

/** A large number in a short form: 51.2 k. */
export function short(value) {
  if (!isNumber(value)) return UNKNOWN;
  const size = Math.abs(value);
  if (size >= 1e9) return `${signed(three.format(value / 1e9))} G`;
  if (size >= 1e6) return `${signed(three.format(value / 1e6))} M`;
  if (size >= 1e4) return `${signed(three.format(value / 1e3))} k`;
  return signed(size >= 100 ? whole.format(value) : three.format(value));
}

/** A share from 0 to 1 in per cent. */
export function share(value) {
  if (!isNumber(value)) return UNKNOWN;
  const percent = 100 * value;
  if (percent > 0 && percent < 0.01) return "< 0.01 %";
  return `${percent.toFixed(percent < 1 ? 2 : 1)} %`;
}

/** A number of bytes in units of 1000. */
export function bytes(value) {
  if (!isNumber(value)) return UNKNOWN;
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value >= 100 ? whole.format(value) : three.format(value)} ${units[unit]}`;
}

/** Rows in a second. */
export function rate(value) {
  if (!isNumber(value)) return UNKNOWN;
  return value >= 100 ? count(value) : three.format(value);
}

/** Local time of day of a time in Unix seconds. */
export const timeOfDay = (time) => (isNumber(time) ? clock.format(time * 1000) : UNKNOWN);
export const hourAndMinute = (time) => (isNumber(time) ? shortClock.format(time * 1000) : UNKNOWN);

/** A length of time: 1 min 23 s. */
export function duration(seconds) {
  const all = Math.max(0, Math.round(seconds));
  const minutes = Math.floor(all / 60);
  return minutes ? `${minutes} min ${all % 60} s` : `${all} s`;
}

/** "2", "2 and 5", "2, 5 and 7". */
function list(items) {
  if (items.length < 2) return items.join("");
  return `${items.slice(0, -1).join(", ")} and ${items[items.length - 1]}`;
}

const clusters = (ids) => `${ids.length === 1 ? "Cluster" : "Clusters"} ${list(ids)}`;

/** A place in words, with the features of the view first. */
export function place(centre, view) {
  const names = Object.keys(centre ?? {}).filter((name) => isNumber(centre[name]));
  const seen = view && !view.projection ? [view.x, view.y] : [];
  names.sort((a, b) => Number(seen.includes(b)) - Number(seen.includes(a)));
  const told = names.slice(0, FEATURES_IN_A_SENTENCE);
  const more = names.length - told.length;
  const text = told.map((name) => `${name} = ${measure(centre[name])}`).join(", ");
  return more > 0 ? `${text}, …` : text;
}

/** What happened, in a sentence. */
export function sentence(event, view) {
  const where = place(event.centre, view);
  const at = where ? ` at ${where}` : "";
  const after = ` after ${count(event.after_rows)} rows.`;
  const before = event.before ?? [];
  const now = event.after ?? [];
  switch (event.event) {
    case "birth":
      return `${clusters(now)} was born${at}${after}`;
    case "death":
      return `${clusters(before)} died${at}${after}`;
    case "merge":
      return `${clusters(before)} merged into ${list(now)}${at}${after}`;
    case "split":
      return `${clusters(before)} split into ${list(now)}${at}${after}`;
    case "move":
      return `${clusters(now)} moved${where ? ` to ${where}` : ""}${after}`;
    default:
      return `${event.event}: ${list(before)} to ${list(now)}${at}${after}`;
  }
}

/** A few words about an event, for a mark. */
export function title(event) {
  const before = list(event.before ?? []);
  const after = list(event.after ?? []);
  switch (event.event) {
    case "birth":
      return `Birth of ${after}`;
    case "death":
      return `Death of ${before}`;
    case "merge":
      return `Merge of ${before}`;
    case "split":
      return `Split of ${before}`;
    case "move":
      return `Move of ${after}`;
    default:
      return event.event;
  }
}
