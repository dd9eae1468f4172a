/** Small helpers for elements of the page. */

/** Change a text only if it differs, so that the browser need not lay it out again. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
