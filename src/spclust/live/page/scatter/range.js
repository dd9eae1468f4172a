/** The part of the plane that the scatter shows, and the numbers along its axes. */

const DEVIATIONS = 2; // of an ellipse that should be seen whole
const NEAR = 0.2; // of the extent of the clusters: points so far outside them are seen, too
const PADDING = 0.06;
const LOOSE = 1.2; // times the needed extent from which on the range shrinks
const GROW = 0.55; // of the way in one snapshot
const SHRINK = 0.12;

/** The range {x: [low, high], y: [low, high]} that a snapshot needs. */
export function neededRange(snapshot) {
  return { x: axisRange(snapshot, 0), y: axisRange(snapshot, 1) };
}

function axisRange(snapshot, axis) {
  const variance = axis === 0 ? 2 : 4;
  const spans = snapshot.ellipses.map((ellipse) => {
    const reach = DEVIATIONS * Math.sqrt(Math.max(ellipse[variance], 0));
    return [ellipse[axis] - reach, ellipse[axis] + reach, ellipse[6] >= 0];
  });
  const values = snapshot.recent.map((point) => point[axis]).filter(Number.isFinite);
  const clusters = spans.filter(([low, high, inside]) => inside && Number.isFinite(high - low));
  let [low, high] = clusters.length ? outermost(clusters) : middle(values);
  if (!(high >= low)) return [-1, 1];
  const extent = high - low || Math.abs(high) * 0.1 || 1;
  const [from, to] = [low - NEAR * extent, high + NEAR * extent];
  for (const [a, b] of [...spans, ...values.map((value) => [value, value])]) {
    if (a >= from && b <= to) {
      low = Math.min(low, a);
      high = Math.max(high, b);
    }
  }
  const padding = PADDING * (high - low) || 0.1 * Math.abs(high) || 1;
  return [low - padding, high + padding];
}

function outermost(spans) {
  return [Math.min(...spans.map((span) => span[0])), Math.max(...spans.map((span) => span[1]))];
}

/** The range of most values, without those far out. */
function middle(values) {
  if (!values.length) return [Infinity, -Infinity];
  const sorted = [...values].sort((a, b) => a - b);
  const at = (q) => sorted[Math.round(q * (sorted.length - 1))];
  return [at(0.02), at(0.98)];
}

/** A step from the present range to the needed one: quick outward, slow inward. */
export function nextRange(now, needed) {
  return { x: nextAxis(now.x, needed.x), y: nextAxis(now.y, needed.y) };
}

function nextAxis([low, high], [toLow, toHigh]) {
  const extent = toHigh - toLow;
  const loose = high - low > LOOSE * extent;
  const step = (from, to, outward) => from + (to - from) * (outward ? GROW : loose ? SHRINK : 0);
  const next = [step(low, toLow, toLow < low), step(high, toHigh, toHigh > high)];
  return next[1] > next[0] ? next : [toLow, toHigh];
}

/** A range that is as much larger as is needed to show a place. */
export function including(range, place) {
  return { x: wider(range.x, place.x), y: wider(range.y, place.y) };
}

function wider([low, high], value) {
  const padding = PADDING * (Math.max(high, value) - Math.min(low, value));
  return [value < low ? value - padding : low, value > high ? value + padding : high];
}

/** Round numbers in a range, about so many at most, but three at least, with their texts. */
export function ticks([low, high], most) {
  const raw = (high - low) / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(raw));
  const steps = [0.5, 1, 2, 5, 10].map((k) => k * power);
  const fits = Math.max(1, steps.findIndex((step) => step >= raw));
  const few = Math.floor(high / steps[fits]) - Math.ceil(low / steps[fits]) < 2;
  const step = steps[few ? fits - 1 : fits];
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high && found.length < 50; k += 1) {
    found.push({ value: k * step, text: tickText(k * step, step) });
  }
  return found;
}

function tickText(value, step) {
  const size = Math.abs(value);
  if (size < step / 2) return "0";
  if (size >= 1e6 || step < 1e-5) {
    const order = (number) => Math.floor(Math.log10(number) + 1e-9);
    const digits = Math.min(15, Math.max(0, order(size) - order(step)));
    return value.toExponential(digits).replace("e+", "e").replaceAll("-", "−");
  }
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const text = value.toLocaleString("en", {
    minimumFractionDigits: decimals, maximumFractionDigits: decimals,
  });
  return text.replace("-", "−");
}
