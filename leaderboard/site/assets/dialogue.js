// Two consultations about one case side by side. Everything that was said becomes text nodes, never markup.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("case-data").textContent);
  const chooser = document.getElementById("variant");
  const facts = new Map(data.facts.map((fact) => [fact.id, fact]));

  function make(name, css, ...children) {
    const element = document.createElement(name);
    if (css) element.className = css;
    element.append(...children);
    return element;
  }

  const named = (id) => (facts.has(id) ? facts.get(id).text : id);
  const SIGNS = { told: "told", held: "held back", denied: "denied", noise: "noise", note: "note" };

  function mark(kind, text) {
    return make("li", `mark ${kind}`, make("span", "sign", SIGNS[kind]), " ", text);
  }

  function* marks(turn) {
    for (const { id, form, asked } of turn.told) {
      yield mark("told", [named(id), form, asked ? "" : "unasked"].filter(Boolean).join(", "));
    }
    for (const id of turn.held) yield mark("held", named(id));
    for (const { text } of turn.denied) yield mark("denied", text);
    for (const { dimension, device, fact } of turn.events) {
      yield mark("noise", `${dimension}: ${device}${fact ? ` (${named(fact)})` : ""}`);
    }
    for (const flag of turn.flags) yield mark("note", flag);
  }

  function words(turn) {
    const said = make("p", "said");
    if (!turn.segments) said.append(turn.text);
    else said.append(...turn.segments.map(({ text, kind }) => make("span", `part-${kind}`, text)));
    return said;
  }

  function message(turn) {
    const item = make("li", `turn ${turn.speaker}`);
    const speaker = turn.speaker[0].toUpperCase() + turn.speaker.slice(1);
    item.append(make("p", "who", turn.index ? `${speaker}, turn ${turn.index}` : `${speaker}, opening`), words(turn));
    const found = [...marks(turn)];
    if (found.length) item.append(make("ul", "marks", ...found));
    return item;
  }

  function ending(talk) {
    const { diagnosis, right, stop, turns } = talk.outcome;
    const verdict = right === null ? "not scored" : right ? "right" : "wrong";
    const css = right === null ? "verdict" : `verdict ${verdict}`;
    return make("p", "ending", make("span", css, verdict), ` ${diagnosis ?? "no diagnosis"}`, make("br"), `${turns} turns, ${stop}`);
  }

  function fill(side, talk) {
    const place = document.getElementById(side);
    place.querySelector(".level").textContent = talk ? talk.noise.map((n) => `${n.name} ${n.level}: ${n.text}`).join(" ") : "";
    const outcome = talk ? [ending(talk)] : ["This run does not hold it."];
    place.querySelector(".outcome").replaceChildren(...outcome);
    place.querySelector("ol").replaceChildren(...(talk ? talk.turns.map(message) : []));
  }

  const listed = (turns) => turns.map((turn) => turn || "opening").join(", ");

  function fate(talk, id) {
    if (!talk) return "";
    const told = talk.turns.filter((turn) => turn.told.some((one) => one.id === id));
    const held = talk.turns.filter((turn) => turn.held.includes(id));
    const denied = talk.turns.filter((turn) => turn.denied.some((one) => one.fact === id && one.justified));
    const said = [];
    if (held.length) said.push(`held back at ${listed(held.map((t) => t.index))}`);
    if (denied.length) said.push(`denied at ${listed(denied.map((t) => t.index))}`);
    if (told.length) said.push(`told at ${listed(told.map((t) => t.index))}`);
    return said.join("; ") || "not told";
  }

  function ledger(clean, noisy) {
    const rows = data.facts.map((fact) => {
      const [first, second] = [fate(clean, fact.id), fate(noisy, fact.id)];
      const name = make("th", "", fact.text);
      name.scope = "row";
      const kept = second && first !== second && !second.includes("told at") && first.includes("told at");
      return make("tr", kept ? "lost" : "", name, make("td", "", fact.notes), make("td", "", first), make("td", "", second));
    });
    document.querySelector("#facts tbody").replaceChildren(...rows);
  }

  function show() {
    const noisy = data.talks[Number(chooser.value)];
    const clean = data.talks.find((talk) => talk.clean && talk.run === (noisy ? noisy.run : talk.run));
    fill("clean", clean);
    fill("noisy", noisy);
    ledger(clean, noisy);
  }

  function fromAddress() {
    const wanted = decodeURIComponent(location.hash.slice(1));
    const found = [...chooser.options].find((option) => option.dataset.variant === wanted);
    if (found) chooser.value = found.value;
    show();
  }

  chooser.addEventListener("change", show);
  for (const radio of document.querySelectorAll("input[name=side]")) {
    radio.addEventListener("change", () => {
      document.getElementById("talks").dataset.side = radio.value;
    });
  }
  window.addEventListener("hashchange", fromAddress);
  document.getElementById("talk-controls").hidden = false;
  fromAddress();
})();
