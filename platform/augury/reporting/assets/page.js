"use strict";
const figures = JSON.parse(document.getElementById("figures").textContent);
const dark = matchMedia("(prefers-color-scheme: dark)");

function colours() {
  const style = getComputedStyle(document.documentElement);
  const [ink, line] = ["--ink", "--line"].map((name) => style.getPropertyValue(name).trim());
  return { "font.color": ink, "font.family": getComputedStyle(document.body).fontFamily,
           "xaxis.gridcolor": line, "yaxis.gridcolor": line };
}

const drawn = Object.entries(figures).map(([name, figure]) =>
  Plotly.newPlot(name, figure.data, figure.layout, { responsive: true, displayModeBar: false })
    .then((chart) => Plotly.relayout(chart, colours())));
// Not only windows change their size: a chart may be unfolded, or a phone turned.
const fitted = new ResizeObserver((entries) => entries.forEach(({ target }) => target.clientWidth && Plotly.Plots.resize(target)));
Object.keys(figures).forEach((name) => fitted.observe(document.getElementById(name)));
dark.addEventListener("change", () => {
  for (const name of Object.keys(figures)) Plotly.relayout(name, colours());
});

// What a reader has done to this page, which outlives its being loaded again.
const place = (name) => `${location.pathname} ${name}`;
const kept = {
  get: (name) => { try { return JSON.parse(sessionStorage.getItem(place(name))); } catch { return null; } },
  set: (name, value) => { try { sessionStorage.setItem(place(name), JSON.stringify(value)); } catch { /* not allowed here */ } },
};

function sort(table, column, descending) {
  const key = (row) => row.cells[column].dataset.sort;
  const numeric = [...table.tBodies[0].rows].every((row) => key(row) === "" || !Number.isNaN(Number(key(row))));
  const compare = (left, right) => (numeric ? key(left) - key(right) : key(left).localeCompare(key(right)));
  const rows = [...table.tBodies[0].rows].sort((left, right) =>
    (key(left) === "") - (key(right) === "") || (descending ? -1 : 1) * compare(left, right));
  table.tBodies[0].append(...rows);
  [...table.tHead.rows[0].cells].forEach((cell, index) =>
    cell.setAttribute("aria-sort", index !== column ? "none" : descending ? "descending" : "ascending"));
}

document.querySelectorAll("table.sortable").forEach((table, number) => {
  const name = `sorted-${number}`;
  [...table.tHead.rows[0].cells].forEach((cell, column) => {
    if (!cell.textContent) return;
    const button = document.createElement("button");
    button.append(cell.textContent);
    cell.replaceChildren(button);
    button.addEventListener("click", () => {
      const descending = cell.getAttribute("aria-sort") === "ascending";
      sort(table, column, descending);
      kept.set(name, [column, descending]);
    });
  });
  const [column, descending] = kept.get(name) ?? [Infinity];
  if (column < table.tHead.rows[0].cells.length) sort(table, column, descending);
  if (table.tBodies[0].rows.length > 11) addFilter(table, `filter-${number}`);
});

function addFilter(table, name) {
  const input = document.createElement("input");
  Object.assign(input, { type: "search", className: "filter", placeholder: "filter rows: words that they hold", value: kept.get(name) ?? "" });
  input.setAttribute("aria-label", "filter rows");
  const apply = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of table.tBodies[0].rows) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
    kept.set(name, input.value);
  };
  input.addEventListener("input", apply);
  table.closest(".scroll").before(input);
  apply();
}

document.querySelectorAll("details").forEach((details, number) => {
  details.open = kept.get(`open-${number}`) ?? false;
  details.addEventListener("toggle", () => kept.set(`open-${number}`, details.open));
});

const refresh = document.getElementById("refresh");
if (refresh) {
  const silent = document.getElementById("silent");
  const age = Date.now() / 1000 - refresh.dataset.updated;
  if (silent && age > Math.max(180, 5 * refresh.dataset.seconds)) {
    const since = age < 7200 ? `${Math.round(age / 60)} minutes` : `${Math.round(age / 3600)} hours`;
    silent.textContent = `Nothing was heard of the sweep for ${since}: if it was stopped, the same command continues it.`;
    silent.hidden = false;
  }
  refresh.checked = kept.get("refresh") ?? true;
  refresh.addEventListener("change", () => kept.set("refresh", refresh.checked));
  setInterval(() => {
    if (!refresh.checked || document.hidden || !getSelection().isCollapsed) return;
    kept.set("scroll", scrollY);
    location.reload();
  }, 1000 * refresh.dataset.seconds);
  history.scrollRestoration = "manual";
  Promise.allSettled(drawn).then(() => scrollTo(0, kept.get("scroll") ?? 0));
}
