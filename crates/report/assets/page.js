/* The script of a report. It uses no network, and no storage except for the theme. */
"use strict";
(() => {
  const report = JSON.parse(document.getElementById("report-data").textContent);
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);
  const svgNamespace = "http://www.w3.org/2000/svg";

  // ---- Themes -----------------------------------------------------------------------------------------------

  const themes = {
    light: {
      paper: "#ffffff", ink: "#1a1d21", quiet: "#59616b", rule: "#dde1e6", grid: "#eceff2",
      ramp: ["#fdeccf", "#fdcd84", "#f79f4f", "#e26b3c", "#b73c4a", "#7c225a", "#3b0f4e"],
      colors: {},
    },
    dark: {
      paper: "#14171c", ink: "#e6e8eb", quiet: "#a3abb6", rule: "#333a44", grid: "#262c34",
      ramp: ["#2a2440", "#5a2a63", "#93345f", "#cb4f4c", "#ee8140", "#fbb85c", "#fdeeb5"],
      // The palette of Okabe and Ito, lightened where the contrast with a dark page is too low.
      colors: { "#0072b2": "#4aa8e0", "#d55e00": "#f07c2c", "#009e73": "#22c196", "#000000": "#e6e8eb" },
    },
  };
  const systemDark = matchMedia("(prefers-color-scheme: dark)");
  let isPrinting = false;
  const themeName = () => {
    if (isPrinting) return "light";
    return root.dataset.theme || (systemDark.matches ? "dark" : "light");
  };
  const theme = () => themes[themeName()];
  const shade = (hex, of = theme()) => of.colors[hex] || hex;

  const fontFamily = getComputedStyle(root).getPropertyValue("--text").trim() || "sans-serif";
  const config = (of) => ({
    background: null,
    font: fontFamily,
    padding: 2,
    view: { stroke: null },
    axis: {
      domainColor: of.quiet, tickColor: of.quiet, gridColor: of.grid, labelColor: of.quiet, titleColor: of.ink,
      labelFontSize: 11, titleFontSize: 11.5, titleFontWeight: 500, titlePadding: 6, tickSize: 4, labelOverlap: true,
      labelLimit: 110,
    },
    title: { color: of.ink, fontSize: 12.5, fontWeight: 600, anchor: "start", offset: 6, limit: 400 },
    legend: {
      labelColor: of.quiet, titleColor: of.ink, labelFontSize: 11, titleFontSize: 11.5, titleFontWeight: 500,
      gradientThickness: 10, orient: "right",
    },
    range: { heatmap: of.ramp, ramp: of.ramp },
  });

  // ---- Data -------------------------------------------------------------------------------------------------

  // Converts columns, with texts as indices into a list of words, to the rows that Vega needs. Vega
  // modifies rows, so every view gets a copy.
  const rowsOf = (name) => {
    const { names, columns } = report.datasets[name];
    const n = columns.length ? (columns[0].lines || columns[0]).length : 0;
    const value = (column, i) => {
      if (!column.words) return column[i];
      return column.lines[i] === null ? null : column.words[column.lines[i]];
    };
    return Array.from({ length: n }, (_, i) => {
      const row = {};
      names.forEach((field, k) => { row[field] = value(columns[k], i); });
      return row;
    });
  };

  // ---- Figures ----------------------------------------------------------------------------------------------

  window.figuresWanted = report.figures.length;
  window.figuresDrawn = 0;
  window.figureErrors = [];
  const drawn = new Map(); // id of a figure: { views, hidden, width, theme }

  const markers = {
    circle: "M0,-4A4,4,0,1,1,0,4A4,4,0,1,1,0,-4Z",
    square: "M-3.6,-3.6H3.6V3.6H-3.6Z",
    "triangle-up": "M0,-4.4L4.4,3.6H-4.4Z",
    "triangle-down": "M0,4.4L4.4,-3.6H-4.4Z",
    diamond: "M0,-5L4.4,0L0,5L-4.4,0Z",
    cross: "M-1.5,-4.5H1.5V-1.5H4.5V1.5H1.5V4.5H-1.5V1.5H-4.5V-1.5H-1.5Z",
  };
  const symbol = (entry, of) => {
    const svg = document.createElementNS(svgNamespace, "svg");
    svg.setAttribute("width", 34);
    svg.setAttribute("height", 14);
    svg.setAttribute("viewBox", "0 0 34 14");
    svg.setAttribute("aria-hidden", "true");
    const color = shade(entry.color, of);
    const add = (name, attributes) => {
      const element = document.createElementNS(svgNamespace, name);
      for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
      svg.append(element);
    };
    if (entry.line) {
      add("path", { d: "M1,7H33", stroke: color, "stroke-width": 1.8, fill: "none", "stroke-dasharray": entry.dash.join(" ") });
    }
    if (entry.marker) add("path", { d: markers[entry.marker], transform: "translate(17,7)", fill: color });
    if (entry.box) add("rect", { x: 8, y: 2, width: 18, height: 10, fill: color, "fill-opacity": 0.45, stroke: color });
    return svg;
  };

  // Returns the specification of one panel, with data, size and colours of the theme.
  const specOf = (figure, panel, of, width, height, hidden, isBare) => {
    const spec = structuredClone(figure.specs[panel.spec]);
    spec.$schema = "https://vega.github.io/schema/vega-lite/v6.json";
    if (panel.title) spec.title = { text: panel.title, limit: Math.max(60, width - 8) };
    Object.assign(spec, { width, height, autosize: { type: "fit", contains: "padding" }, config: config(of) });
    spec.data = { values: rowsOf(panel.data) };
    spec.params = [
      { name: "hidden", value: hidden },
      { name: "paper", value: of.paper },
      { name: "ink", value: of.ink },
    ];
    const recolor = (node) => {
      if (Array.isArray(node)) return node.forEach(recolor);
      if (node === null || typeof node !== "object") return;
      if (node.scale && node.scale.range === "series") {
        const range = rangeOf[node.scale.of];
        node.scale = { domain: figure.legend.map((entry) => entry.name) };
        if (range) node.scale.range = figure.legend.map(range(of));
      }
      // Shared axis titles are written once, outside the panels.
      if (isBare && node.axis) node.title = null;
      for (const [key, value] of Object.entries(node)) if (key !== "data" && key !== "scale") recolor(value);
    };
    recolor({ layer: spec.layer, encoding: spec.encoding });
    return spec;
  };
  const rangeOf = {
    color: (of) => (entry) => shade(entry.color, of),
    dash: () => (entry) => (entry.dash.length ? entry.dash : [1, 0]),
    shape: () => (entry) => entry.marker || "circle",
  };
  const quietLogger = () => {
    const log = { level: () => log, error: (...words) => { window.figureErrors.push(words.join(" ")); return log; } };
    for (const name of ["warn", "info", "debug"]) log[name] = () => log;
    return log;
  };
  const viewOf = (spec, element) => {
    const compiled = vegaLite.compile(spec, { logger: quietLogger() }).spec;
    const view = new vega.View(vega.parse(compiled), { renderer: "svg", logger: quietLogger(), tooltip: tip });
    if (element) view.initialize(element);
    return view;
  };

  const shapeOf = (figure, available) => {
    const n = figure.panels.length;
    const least = Math.min(isPrinting ? figure.leastWidth * 0.69 : figure.leastWidth, available);
    const gap = 20;
    const most = Math.max(1, Math.floor((available + gap) / (least + gap)));
    let columns = figure.columns && figure.columns <= most ? figure.columns : Math.ceil(n / Math.ceil(n / most));
    columns = Math.min(columns, n);
    const width = Math.floor((available - gap * (columns - 1)) / columns);
    const tallest = n === 1 ? 340 : 230;
    const leastTall = isPrinting ? 105 : 175;
    const height = figure.height || Math.round(Math.min(tallest, Math.max(leastTall, width * (isPrinting ? 1 : 0.74))));
    // Two figures fit on a page.
    const rows = Math.ceil(n / columns);
    const mostOnPaper = n === 1 ? 290 : Math.max(86, Math.floor((rows > 2 ? 345 : 400) / rows));
    return { columns, width, height: isPrinting && !figure.height ? Math.min(height, mostOnPaper) : height };
  };

  const panelsOf = (figure) => byId(`figure-${figure.id}`).querySelector(".panels");
  const widthOf = (figure) => (isPrinting ? 680 : Math.floor(panelsOf(figure).clientWidth));
  const draw = (figure) => {
    const element = byId(`figure-${figure.id}`);
    const panels = panelsOf(figure);
    const available = widthOf(figure);
    if (available <= 0) return Promise.resolve();
    const before = drawn.get(figure.id);
    const hidden = before ? before.hidden : [];
    if (before) before.views.forEach((view) => view.finalize());
    const shape = shapeOf(figure, available);
    panels.style.setProperty("--columns", shape.columns);
    panels.style.setProperty("--height", `${shape.height}px`);
    const isBare = figure.panels.length > 1;
    const views = [];
    const ready = [];
    figure.panels.forEach((panel, i) => {
      const target = panels.children[i];
      target.replaceChildren();
      try {
        const view = viewOf(specOf(figure, panel, theme(), shape.width, shape.height, hidden, isBare), target);
        const svg = target.querySelector("svg");
        svg.setAttribute("role", "img");
        svg.setAttribute("aria-label", panel.summary);
        views.push(view);
        ready.push(view.runAsync());
      } catch (error) {
        window.figureErrors.push(`${figure.id}, panel ${i}: ${error}`);
        const words = document.createElement("p");
        words.className = "failed";
        words.textContent = `Cannot draw this figure (${error.message}). Use the CSV button to save its data.`;
        target.replaceChildren(words);
      }
    });
    drawn.set(figure.id, { views, hidden, width: available, theme: themeName() });
    legend(figure, element, hidden);
    // All data is embedded, so this does not wait for timers or files, and completes before a
    // browser prints.
    return Promise.all(ready).then(() => { if (!before) window.figuresDrawn += 1; });
  };

  const legend = (figure, element, hidden) => {
    const list = element.querySelector(".legend");
    if (!list) return;
    list.querySelectorAll("button[data-series]").forEach((button) => {
      const entry = figure.legend[Number(button.dataset.series)];
      button.querySelector("svg")?.remove();
      button.prepend(symbol(entry, theme()));
      button.setAttribute("aria-pressed", String(!hidden.includes(entry.name)));
    });
    list.querySelector("[data-all]").hidden = hidden.length === 0;
  };
  const hide = (figure, hidden) => {
    const state = drawn.get(figure.id);
    if (!state) return;
    state.hidden = hidden;
    state.views.forEach((view) => view.signal("hidden", hidden).runAsync());
    legend(figure, byId(`figure-${figure.id}`), hidden);
  };

  const drawAll = () => {
    const isCurrent = (state) => state && !isPrinting && state.theme === themeName();
    const missing = report.figures.filter((figure) => !isCurrent(drawn.get(figure.id)));
    return Promise.all(missing.map(draw));
  };
  window.drawAllFigures = drawAll;
  const redraw = () => {
    paintFabric();
    // Redraw those in view first, and the others when they come into view.
    for (const figure of report.figures) {
      if (!drawn.has(figure.id)) continue;
      const { top, bottom } = byId(`figure-${figure.id}`).getBoundingClientRect();
      if (bottom > -400 && top < innerHeight + 400) draw(figure);
      else seen.observe(byId(`figure-${figure.id}`));
    }
  };

  // ---- Downloads --------------------------------------------------------------------------------------------

  const save = (name, type, text) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  };
  const cell = (value) => {
    let text = value === null || value === undefined ? "" : String(value);
    // As in the CSV files of results: a text that a spreadsheet would evaluate begins with an
    // apostrophe.
    text = text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, "\ufffd");
    if (/^[=+\-@\uff0b\uff0d\uff1d\uff20]./.test(text) && Number.isNaN(Number(text))) text = `'${text}`;
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  // A cell with an interval becomes two columns: the measured value, and the half width of its
  // interval.
  const tableCsv = (table) => {
    const [head, ...rows] = [...table.rows].map((row) => [...row.cells]);
    const isWide = head.map((_, k) => rows.some((row) => row[k].dataset.w !== undefined));
    const line = (cells) => cells.map(cell).join(",");
    const names = head.flatMap((element, k) => {
      const name = element.dataset.csv || element.textContent.trim();
      return isWide[k] ? [name, `${name}_half_width`] : [name];
    });
    const lines = rows.map((row) => line(row.flatMap((element, k) => {
      const value = element.dataset.v ?? element.textContent.trim();
      return isWide[k] ? [value, element.dataset.w ?? ""] : [value];
    })));
    return `${[line(names), ...lines].join("\n")}\n`;
  };
  const csvOf = (figure) => {
    const { names } = report.datasets[figure.panels[0].data];
    const lines = [["panel", ...names].map(cell).join(",")];
    for (const panel of figure.panels) {
      for (const row of rowsOf(panel.data)) lines.push([panel.title, ...names.map((name) => row[name])].map(cell).join(","));
    }
    return `${lines.join("\n")}\n`;
  };
  const svgOf = async (figure) => {
    const of = themes.light;
    const columns = Math.min(figure.panels.length, figure.columns || (figure.panels.length > 6 ? 4 : 3));
    const isBare = figure.panels.length > 1;
    const [width, height] = isBare ? [270, figure.height || 200] : [620, figure.height || 360];
    const whole = document.createElementNS(svgNamespace, "svg");
    let top = 8;
    const text = (x, y, words, size, weight) => {
      const element = document.createElementNS(svgNamespace, "text");
      const attributes = { x, y, "font-family": "sans-serif", "font-size": size, "font-weight": weight, fill: of.ink };
      for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
      element.textContent = words;
      whole.append(element);
    };
    const total = columns * width + (columns - 1) * 16;
    let left = 8;
    for (const entry of figure.legend.length > 1 ? figure.legend : []) {
      const wide = 46 + entry.name.length * 6.6;
      if (left + wide > total && left > 8) { left = 8; top += 18; }
      const drawing = symbol(entry, of);
      drawing.setAttribute("x", left);
      drawing.setAttribute("y", top);
      whole.append(drawing);
      text(left + 38, top + 11, entry.name, 11.5, 400);
      left += wide;
    }
    if (figure.legend.length > 1) top += 24;
    if (isBare && figure.y) {
      text(2, top + 10, `↑ ${figure.y}`, 11.5, 400);
      top += 20;
    }
    for (const [i, panel] of figure.panels.entries()) {
      const view = viewOf(specOf(figure, panel, of, width, height, drawn.get(figure.id)?.hidden || [], isBare), null);
      const part = new DOMParser().parseFromString(await view.toSVG(), "image/svg+xml").documentElement;
      view.finalize();
      part.setAttribute("x", (i % columns) * (width + 16));
      part.setAttribute("y", top + Math.floor(i / columns) * (height + 14));
      whole.append(part);
    }
    let tall = top + Math.ceil(figure.panels.length / columns) * (height + 14);
    if (isBare && figure.x) {
      text(total - 6, tall + 4, `${figure.x} →`, 11.5, 400);
      whole.lastChild.setAttribute("text-anchor", "end");
      tall += 14;
    }
    whole.setAttribute("xmlns", svgNamespace);
    whole.setAttribute("width", total);
    whole.setAttribute("height", tall);
    whole.setAttribute("viewBox", `0 0 ${total} ${tall}`);
    return new XMLSerializer().serializeToString(whole);
  };
  const vegaOf = (figure) => JSON.stringify(
    figure.panels.map((panel) => specOf(figure, panel, themes.light, 400, 280, [])), null, 1);
  window.figureAs = { csv: csvOf, svg: svgOf, vega: vegaOf, drawn: draw, all: report.figures };

  const take = {
    csv: (figure) => save(`${figure.id}.csv`, "text/csv", csvOf(figure)),
    svg: async (figure) => save(`${figure.id}.svg`, "image/svg+xml", await svgOf(figure)),
    vega: (figure) => save(`${figure.id}.vl.json`, "application/json", vegaOf(figure)),
  };

  // ---- Tooltips ---------------------------------------------------------------------------------------------

  const tipElement = byId("tip");
  function tip(_handler, event, _item, value) {
    if (!value || !event) { tipElement.hidden = true; return; }
    const table = document.createElement("table");
    for (const [name, words] of Object.entries(value)) {
      if (words === null || words === undefined || words === "") continue;
      const row = table.insertRow();
      const head = document.createElement("th");
      head.textContent = name;
      row.append(head);
      row.insertCell().textContent = words;
    }
    showTip(event, table);
  }
  const showTip = (event, content) => {
    tipElement.replaceChildren(content);
    tipElement.hidden = false;
    const { width, height } = tipElement.getBoundingClientRect();
    const x = Math.min(event.clientX + 14, innerWidth - width - 8);
    const y = event.clientY + 14 + height > innerHeight ? event.clientY - height - 10 : event.clientY + 14;
    tipElement.style.left = `${Math.max(4, x)}px`;
    tipElement.style.top = `${Math.max(4, y)}px`;
  };
  addEventListener("scroll", () => { tipElement.hidden = true; }, { passive: true, capture: true });

  // ---- The fabric -------------------------------------------------------------------------------------------

  const fabric = report.fabric;
  const mix = (ramp, share) => {
    const at = Math.max(0, Math.min(1, share)) * (ramp.length - 1);
    const i = Math.min(ramp.length - 2, Math.floor(at));
    const part = (hex, k) => parseInt(hex.slice(1 + 2 * k, 3 + 2 * k), 16);
    const one = (k) => Math.round(part(ramp[i], k) + (part(ramp[i + 1], k) - part(ramp[i], k)) * (at - i));
    return `rgb(${one(0)},${one(1)},${one(2)})`;
  };
  // The lower end of the ramp would be invisible on the page.
  const heat = (share, of) => mix(of.ramp.slice(1), share);
  function paintFabric() {
    if (!fabric) return;
    const of = theme();
    const chosen = fabric.points[Number(byId("fabric-point")?.value || fabric.first)];
    const useOf = (edge) => chosen.use[Number(edge.dataset.edge)];
    const edges = [...document.querySelectorAll(".fabric [data-edge]")];
    for (const edge of edges) {
      const use = useOf(edge);
      edge.setAttribute("stroke", use === null ? of.rule : heat(use / fabric.high, of));
      edge.setAttribute("stroke-width", use === null ? 0.8 : (0.9 + (1.3 * use) / fabric.high).toFixed(2));
    }
    // Draw the busiest on top.
    edges.sort((a, b) => (useOf(a) ?? -1) - (useOf(b) ?? -1));
    edges[0]?.parentElement.append(...edges);
    const scale = byId("fabric-scale");
    if (scale) scale.style.background = `linear-gradient(to right, ${of.ramp.slice(1).join(",")})`;
    const words = byId("fabric-words");
    if (words) words.textContent = chosen.words;
  }
  const fabricTip = (event) => {
    const edge = event.target.closest?.("[data-edge]");
    if (!edge) { tipElement.hidden = true; return; }
    const chosen = fabric.points[Number(byId("fabric-point")?.value || fabric.first)];
    const use = chosen.use[Number(edge.dataset.edge)];
    const words = document.createElement("span");
    words.textContent = `${fabric.edges[Number(edge.dataset.edge)]}: ${use === null ? "not measured" : `${(100 * use).toFixed(1)} % in the busier direction`}`;
    showTip(event, words);
  };

  // ---- Tables -----------------------------------------------------------------------------------------------

  const sortBy = (header) => {
    const table = header.closest("table");
    const at = [...header.parentElement.children].indexOf(header);
    const direction = header.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
    for (const other of header.parentElement.children) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", direction);
    const sign = direction === "ascending" ? 1 : -1;
    const key = (row) => {
      const cell = row.children[at];
      if (cell.dataset.v === undefined) return cell.textContent;
      return cell.dataset.v === "" ? NaN : Number(cell.dataset.v);
    };
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => [key(row), row]);
    rows.sort(([a], [b]) => {
      if (typeof a === "string" && typeof b === "string") return sign * a.localeCompare(b, undefined, { numeric: true });
      // Missing values come last in either direction.
      if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
      return sign * (a - b);
    });
    body.append(...rows.map(([, row]) => row));
  };
  const filterBy = (input) => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = [...byId(input.dataset.table).tBodies[0].rows];
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      shown += row.hidden ? 0 : 1;
    }
    byId(`${input.dataset.table}-count`).textContent = shown === rows.length ? `${rows.length} lines` : `${shown} of ${rows.length} lines`;
  };

  // ---- Events -----------------------------------------------------------------------------------------------

  const copy = async (button) => {
    const text = byId(button.dataset.copy).textContent;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // Browsers deny some local files access to the clipboard; a selection can still be copied by
      // hand.
      const range = document.createRange();
      range.selectNodeContents(byId(button.dataset.copy));
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      document.execCommand("copy");
    }
    const before = button.textContent;
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = before; }, 1500);
  };
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    const inFigure = button.closest("figure[data-figure]");
    const figure = inFigure && report.figures[Number(inFigure.dataset.figure)];
    if (button.dataset.series !== undefined && figure) {
      const { name } = figure.legend[Number(button.dataset.series)];
      const hidden = drawn.get(figure.id)?.hidden || [];
      const others = figure.legend.map((entry) => entry.name).filter((other) => other !== name);
      if (event.shiftKey) hide(figure, others);
      else hide(figure, hidden.includes(name) ? hidden.filter((other) => other !== name) : [...hidden, name]);
    } else if (button.dataset.all !== undefined && figure) hide(figure, []);
    else if (button.dataset.take && figure) take[button.dataset.take](figure);
    else if (button.dataset.take === "fabric") {
      const svg = document.querySelector(".fabric svg").cloneNode(true);
      svg.setAttribute("xmlns", svgNamespace);
      svg.querySelectorAll(".node").forEach((node) => { node.setAttribute("fill", "#fff"); node.setAttribute("stroke", "#59616b"); });
      save("fabric.svg", "image/svg+xml", new XMLSerializer().serializeToString(svg));
    } else if (button.dataset.takeTable) {
      save(`${button.dataset.takeTable}.csv`, "text/csv", tableCsv(byId(button.dataset.takeTable)));
    } else if (button.dataset.copy) copy(button);
    else if (button.id === "theme") {
      root.dataset.theme = themeName() === "dark" ? "light" : "dark";
      try { localStorage.setItem("netloom-theme", root.dataset.theme); } catch { /* A local file may have no storage. */ }
      nameTheme();
      redraw();
    } else if (button.id === "print") print();
    else if (button.closest("thead")) sortBy(button.closest("th"));
  });
  document.addEventListener("input", (event) => {
    if (event.target.matches("input[data-table]")) filterBy(event.target);
    if (event.target.id === "fabric-point") paintFabric();
  });
  const nameTheme = () => { byId("theme").textContent = themeName() === "dark" ? "Light" : "Dark"; };
  try {
    const kept = localStorage.getItem("netloom-theme");
    if (kept === "light" || kept === "dark") root.dataset.theme = kept;
  } catch { /* As above. */ }
  nameTheme();
  systemDark.addEventListener("change", () => { nameTheme(); redraw(); });

  const drawing = document.querySelector(".fabric svg");
  if (drawing) {
    drawing.addEventListener("pointermove", fabricTip);
    drawing.addEventListener("pointerleave", () => { tipElement.hidden = true; });
  }
  paintFabric();

  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      seen.unobserve(entry.target);
      const figure = report.figures[Number(entry.target.dataset.figure)];
      const state = drawn.get(figure.id);
      if (!state || state.theme !== themeName() || Math.abs(state.width - widthOf(figure)) > 8) draw(figure);
    }
  }, { rootMargin: "400px 0px" });
  document.querySelectorAll("figure[data-figure]").forEach((element) => seen.observe(element));

  let waiting = 0;
  addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      const isStale = (state, figure) => state && Math.abs(state.width - widthOf(figure)) > 8;
      if (report.figures.some((figure) => isStale(drawn.get(figure.id), figure))) redraw();
    }, 150);
  });

  let opened = [];
  addEventListener("beforeprint", () => {
    isPrinting = true;
    opened = [...document.querySelectorAll("details:not([open])")];
    opened.forEach((element) => { element.open = true; });
    drawAll();
    paintFabric();
  });
  addEventListener("afterprint", () => {
    isPrinting = false;
    opened.forEach((element) => { element.open = false; });
    redraw();
  });
})();
