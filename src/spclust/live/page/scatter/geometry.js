/** A snapshot in pixels: where its points, ellipses and clusters are in the picture. */

const MARGIN = { top: 26, right: 14, bottom: 38, left: 46 };
const ARROW = 7; // pixels from the edge at which points outside are shown
const SMALLEST = 1.5; // pixels, radius of an ellipse
const TOUCH = 9; // pixels from a point that count as on it

/** The inner rectangle of a picture, without axes. */
export function plotArea(width, height, leftMargin = MARGIN.left) {
  return {
    left: leftMargin,
    top: MARGIN.top,
    right: Math.max(leftMargin + 10, width - MARGIN.right),
    bottom: Math.max(MARGIN.top + 10, height - MARGIN.bottom),
  };
}

/** Functions from the range to pixels of an area. */
export function scales(range, area) {
  const kx = (area.right - area.left) / (range.x[1] - range.x[0]);
  const ky = (area.bottom - area.top) / (range.y[1] - range.y[0]);
  return {
    kx,
    ky,
    x: (value) => area.left + (value - range.x[0]) * kx,
    y: (value) => area.bottom - (value - range.y[0]) * ky,
  };
}

/** Points, ellipses and clusters of a snapshot in pixels. */
export function geometryOf(snapshot, range, area) {
  const scale = scales(range, area);
  const ellipses = snapshot.ellipses
    .filter((ellipse) => ellipse.slice(0, 5).every(Number.isFinite))
    .map((ellipse) => ellipseOf(ellipse, scale))
    .sort((a, b) => b.a * b.b - a.a * a.b);
  const points = snapshot.recent
    .filter((point) => Number.isFinite(point[0]) && Number.isFinite(point[1]))
    .map((point, i, all) => pointOf(point, (i + 1) / all.length, scale, area));
  return { area, scale, ellipses, points, clusters: clustersOf(ellipses, snapshot) };
}

function ellipseOf(values, scale) {
  const [x, y, vxx, vxy, vyy, share, id] = values;
  const [sxx, syy] = [vxx * scale.kx ** 2, vyy * scale.ky ** 2];
  const sxy = -vxy * scale.kx * scale.ky; // pixels count downward
  const mean = (sxx + syy) / 2;
  const difference = Math.hypot((sxx - syy) / 2, sxy);
  const radius = (square) => Math.max(Math.sqrt(Math.max(square, 0)), SMALLEST);
  return {
    x: scale.x(x),
    y: scale.y(y),
    a: radius(mean + difference),
    b: radius(mean - difference),
    angle: Math.atan2(2 * sxy, sxx - syy) / 2,
    share,
    id,
    values,
  };
}

function pointOf(values, freshness, scale, area) {
  let x = scale.x(values[0]);
  let y = scale.y(values[1]);
  const outside = x < area.left || x > area.right || y < area.top || y > area.bottom;
  let direction = 0;
  if (outside) {
    const [insideX, insideY] = [clamp(x, area.left, area.right), clamp(y, area.top, area.bottom)];
    direction = Math.atan2(y - insideY, x - insideX);
    x = clamp(x, area.left + ARROW, area.right - ARROW);
    y = clamp(y, area.top + ARROW, area.bottom - ARROW);
  }
  return { x, y, id: values[2], freshness, outside, direction, values };
}

const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

/** The centre of each cluster: the mean of its structures by their shares. */
function clustersOf(ellipses, snapshot) {
  const sums = new Map();
  for (const { x, y, share, id } of ellipses) {
    if (id < 0) continue;
    const weight = share > 0 ? share : 1e-12;
    const sum = sums.get(id) ?? { id, x: 0, y: 0, weight: 0 };
    sum.x += weight * x;
    sum.y += weight * y;
    sum.weight += weight;
    sums.set(id, sum);
  }
  const rows = new Map(snapshot.clusters.map((cluster) => [cluster.id, cluster]));
  return [...sums.values()]
    .map((sum) => ({
      id: sum.id, x: sum.x / sum.weight, y: sum.y / sum.weight, cluster: rows.get(sum.id) ?? null,
    }))
    .sort((a, b) => a.id - b.id);
}

/** What is at a place in the picture: {point, ellipse, cluster}, or null. */
export function hit(geometry, x, y) {
  const label = nearest(geometry.clusters, x, y, 12);
  if (label) return { cluster: label };
  const point = nearest(geometry.points, x, y, TOUCH);
  const ellipse = innermost(geometry.ellipses, x, y);
  return point || ellipse ? { point, ellipse } : null;
}

function nearest(items, x, y, limit) {
  let best = null;
  let least = limit ** 2;
  for (const item of items) {
    const square = (item.x - x) ** 2 + (item.y - y) ** 2;
    if (square <= least) [best, least] = [item, square];
  }
  return best;
}

/** The ellipse of two standard deviations that a place is deepest in. */
function innermost(ellipses, x, y) {
  let best = null;
  let least = 4;
  for (const ellipse of ellipses) {
    const [dx, dy] = [x - ellipse.x, y - ellipse.y];
    const [cos, sin] = [Math.cos(ellipse.angle), Math.sin(ellipse.angle)];
    const square =
      ((dx * cos + dy * sin) / ellipse.a) ** 2 + ((dy * cos - dx * sin) / ellipse.b) ** 2;
    if (square <= least) [best, least] = [ellipse, square];
  }
  return best;
}
