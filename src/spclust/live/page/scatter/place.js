/** Where an event happened, in the coordinates of a view. */

const isPair = (x, y) => Number.isFinite(x) && Number.isFinite(y);

/** Place {x, y} of an event in the view of a snapshot, or null if it is not known. */
export function placeOf(event, snapshot, snapshots) {
  const { view } = snapshot;
  if (!view.projection) {
    const [x, y] = [event.centre?.[view.x], event.centre?.[view.y]];
    return isPair(x, y) ? { x, y } : null;
  }
  const [x, y] = event.place ?? [];
  if (isPair(x, y)) return { x, y };
  const then = snapshots.oldest !== null && event.time >= snapshots.oldest
    ? snapshots.at(event.time) : null;
  const seen = [then, snapshot].filter((one) => one?.view.projection);
  for (const one of seen) {
    for (const id of [...(event.after ?? []), ...(event.before ?? [])]) {
      const centre = centreOf(one.ellipses.filter((ellipse) => ellipse[6] === id));
      if (centre) return centre;
    }
  }
  return null;
}

/** The mean of ellipses by their shares. */
function centreOf(ellipses) {
  const total = ellipses.reduce((sum, ellipse) => sum + ellipse[5], 0);
  if (!(total > 0)) return null;
  const mean = (k) => ellipses.reduce((sum, ellipse) => sum + ellipse[5] * ellipse[k], 0) / total;
  return { x: mean(0), y: mean(1) };
}
