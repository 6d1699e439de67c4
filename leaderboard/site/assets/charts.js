// The plots of a model's page, drawn with D3 as SVG; colours come from the style sheet, so that they follow the theme.
"use strict";
(() => {
  const d3 = window.d3;
  const data = JSON.parse(document.getElementById("model-data").textContent);
  const percent = (value) => `${value.toFixed(1)}%`;

  function canvas(holder, width, height, label) {
    holder.replaceChildren();
    return d3
      .select(holder)
      .append("svg")
      .attr("role", "img")
      .attr("aria-label", label)
      .attr("viewBox", `0 0 ${width} ${height}`)
      .attr("width", width)
      .attr("height", height);
  }

  function axes(svg, x, y, left, bottom) {
    svg.append("g").attr("class", "axis").attr("transform", `translate(0,${bottom})`).call(x);
    svg.append("g").attr("class", "axis").attr("transform", `translate(${left},0)`).call(y);
  }

  // Accuracy over level, with its interval; the dashed line is level 0.
  function curve(holder, { label, points }) {
    const [width, height, left, right, top, bottom] = [260, 180, 34, 250, 10, 152];
    const known = points.filter((p) => p.value !== null);
    const said = known.map((p) => `level ${p.level}: ${percent(p.value)}`).join(", ");
    const svg = canvas(holder, width, height, `${label}, accuracy by level. ${said || "not run"}`);
    const x = d3.scaleLinear([0, 4], [left + 8, right - 8]);
    const y = d3.scaleLinear([0, 100], [bottom, top]);
    axes(svg, d3.axisBottom(x).ticks(5).tickFormat(d3.format("d")), d3.axisLeft(y).ticks(5).tickSize(left - right), left, bottom);
    svg.selectAll(".axis .tick line").attr("class", "grid");
    const band = d3.area().defined((p) => p.low !== null).x((p) => x(p.level)).y0((p) => y(p.low)).y1((p) => y(p.high));
    svg.append("path").attr("class", "band").attr("d", band(points));
    if (known.length && known[0].level === 0) {
      const level = y(known[0].value);
      svg.append("line").attr("class", "base").attr("x1", left).attr("x2", right).attr("y1", level).attr("y2", level);
    }
    const line = d3.line().defined((p) => p.value !== null).x((p) => x(p.level)).y((p) => y(p.value));
    svg.append("path").attr("class", "line").attr("d", line(points));
    const dots = svg.selectAll("circle").data(known).join("circle").attr("class", "dot").attr("r", 4);
    dots.attr("cx", (p) => x(p.level)).attr("cy", (p) => y(p.value));
    dots.append("title").text((p) => `level ${p.level}: ${range(p, percent)}, ${p.cases} cases`);
  }

  function range(p, format) {
    return p.low === null ? format(p.value) : `${format(p.value)} [${format(p.low)}, ${format(p.high)}]`;
  }

  // Labels that would overlap are pushed down, and back up from the lower edge.
  function apart(places, gap, lowest) {
    const order = d3.range(places.length).sort((a, b) => places[a] - places[b]);
    const found = [...places];
    order.forEach((i, k) => {
      if (k) found[i] = Math.max(found[i], found[order[k - 1]] + gap);
    });
    let limit = lowest;
    for (const i of order.reverse()) {
      found[i] = Math.min(found[i], limit);
      limit = found[i] - gap;
    }
    return found;
  }

  // Clean against noisy accuracy of the same cases, one line a dimension.
  function slopes(holder, lines) {
    const width = Math.max(300, Math.min(holder.clientWidth, 640));
    const [height, left, right, top, bottom] = [340, 44, width - 110, 28, 320];
    const said = lines.map((l) => `${l.label}: ${percent(l.clean)} to ${percent(l.noisy)}`).join("; ");
    const svg = canvas(holder, width, height, `Accuracy of the same cases, clean to noisy. ${said}`);
    const y = d3.scaleLinear(reach(lines.flatMap((l) => [l.clean, l.noisy])), [bottom, top]).nice();
    svg.append("g").attr("class", "axis").attr("transform", `translate(${left},0)`).call(d3.axisLeft(y).ticks(6).tickFormat((v) => `${v}%`));
    for (const [place, text, anchor] of [[left, "clean", "start"], [right, "noisy", "end"]]) {
      svg.append("line").attr("class", "grid").attr("x1", place).attr("x2", place).attr("y1", top).attr("y2", bottom);
      svg.append("text").attr("class", "head").attr("x", place).attr("y", 14).attr("text-anchor", anchor).text(text);
    }
    const labels = apart(lines.map((l) => y(l.noisy)), 17, bottom);
    const groups = svg.selectAll("g.slope").data(lines).join("g").attr("class", (l) => `slope${l.main ? " main" : ""}`);
    groups.append("line").attr("x1", left).attr("x2", right).attr("y1", (l) => y(l.clean)).attr("y2", (l) => y(l.noisy));
    for (const [place, key] of [[left, "clean"], [right, "noisy"]]) {
      groups.append("circle").attr("cx", place).attr("cy", (l) => y(l[key])).attr("r", 4);
    }
    groups.append("path").attr("class", "lead").attr("d", (l, i) => `M${right + 5},${y(l.noisy)}L${right + 14},${labels[i]}`);
    groups.append("text").attr("x", right + 17).attr("y", (_, i) => labels[i] + 4).text((l) => `${l.label} ${l.noisy.toFixed(0)}%`);
    groups.append("title").text((l) => `${l.label}: ${percent(l.clean)} clean, ${percent(l.noisy)} noisy, ${l.n} cases`);
  }

  function reach(values) {
    const [low, high] = d3.extent(values);
    return [Math.max(0, low - 8), Math.min(100, high + 8)];
  }

  // Points lost, with intervals, one row a variant.
  function intervals(holder, rows) {
    const width = Math.max(300, Math.min(holder.clientWidth, 820));
    const wide = width > 560;
    const step = 20;
    const [left, right, top] = [110, width - 12, 26];
    const bottom = top + rows.length * step;
    const points = (value) => `${value.toFixed(1)} points`;
    const said = rows.map((r) => `${r.label}: ${range(r, points)}`).join("; ");
    const svg = canvas(holder, width, bottom + 10, `Accuracy lost by variant, with 95% intervals. ${said}`);
    const ends = rows.flatMap((r) => [r.low ?? r.value, r.high ?? r.value, 0]);
    const x = d3.scaleLinear(d3.extent(ends), [left, right]).nice();
    svg.append("g").attr("class", "axis").attr("transform", `translate(0,${top})`).call(d3.axisTop(x).ticks(wide ? 8 : 5).tickSize(top - bottom));
    svg.selectAll(".axis line").attr("class", "grid");
    svg.append("line").attr("class", "zero").attr("x1", x(0)).attr("x2", x(0)).attr("y1", top).attr("y2", bottom);
    const groups = svg.selectAll("g.interval").data(rows).join("g").attr("class", (r) => `interval${r.shown ? " shown" : ""}`);
    groups.attr("transform", (_, i) => `translate(0,${top + (i + 0.5) * step})`);
    groups.append("text").attr("x", left - 8).attr("y", 4).attr("text-anchor", "end").text((r) => r.label);
    groups.filter((r) => r.low !== null).append("line").attr("x1", (r) => x(r.low)).attr("x2", (r) => x(r.high));
    groups.append("circle").attr("cx", (r) => x(r.value)).attr("r", 4.5);
    groups.append("title").text((r) => `${r.label}: ${range(r, points)}, ${r.n} cases`);
  }

  function draw() {
    for (const [index, one] of data.curves.entries()) curve(document.getElementById(`curve-${index}`), one);
    const plots = [["slopes", data.slopes, slopes], ["intervals", data.intervals, intervals]];
    for (const [id, rows, plot] of plots) {
      const holder = document.getElementById(id);
      if (holder) plot(holder, rows);
    }
  }

  const main = document.getElementById("main");
  let width = main.clientWidth;
  draw();
  new ResizeObserver(() => {
    if (main.clientWidth === width) return;
    width = main.clientWidth;
    draw();
  }).observe(main);
})();
