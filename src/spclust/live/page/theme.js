/** Light and dark: as the system prefers, unless the reader chose otherwise. */

const KEY = "spclust.theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const listeners = [];

function stored() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null; // storage may be forbidden
  }
}

function store(theme) {
  try {
    if (theme) localStorage.setItem(KEY, theme);
    else localStorage.removeItem(KEY);
  } catch {
    // The choice then lasts until the page is closed.
  }
}

let chosen = ["light", "dark"].includes(stored()) ? stored() : null;

const preferred = () => (system.matches ? "dark" : "light");

/** The theme that is shown: "light" or "dark". */
export const theme = () => chosen ?? preferred();

function apply() {
  document.documentElement.dataset.theme = theme();
  for (const listener of listeners) listener(theme());
}

/** Change to the other theme; what the system prefers is not stored. */
export function toggleTheme() {
  const other = theme() === "dark" ? "light" : "dark";
  chosen = other === preferred() ? null : other;
  store(chosen);
  apply();
}

/** Call a function at every change of the theme. */
export function onTheme(listener) {
  listeners.push(listener);
}

system.addEventListener("change", apply);
apply();
