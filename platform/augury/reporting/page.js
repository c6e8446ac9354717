"use strict";
const figures = JSON.parse(document.getElementById("figures").textContent);
const dark = matchMedia("(prefers-color-scheme: dark)");

function colours() {
  const style = getComputedStyle(document.documentElement);
  const [ink, line] = ["--ink", "--line"].map((name) => style.getPropertyValue(name).trim());
  return { "font.color": ink, "font.family": getComputedStyle(document.body).fontFamily,
           "xaxis.gridcolor": line, "yaxis.gridcolor": line };
}

for (const [name, figure] of Object.entries(figures)) {
  Plotly.newPlot(name, figure.data, figure.layout, { responsive: true, displayModeBar: false })
    .then((chart) => Plotly.relayout(chart, colours()));
}
dark.addEventListener("change", () => {
  for (const name of Object.keys(figures)) Plotly.relayout(name, colours());
});
