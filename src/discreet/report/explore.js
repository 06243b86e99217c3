
"use strict";
// Static text, the same in every release. All numbers come from the data of the page; nothing is estimated here, nothing
// is loaded, and text of the data is only ever put in as text.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const at = (id) => document.getElementById(id);
  const STEP = 200, BARS = 40, OPTIONS = 300, NONE = "\u2013";
  let shown = STEP;

  const make = (name, text, more = {}) => {
    const one = document.createElement(name);
    if (text !== undefined) one.textContent = text;
    for (const [key, value] of Object.entries(more)) one.setAttribute(key, value);
    return one;
  };
  const keyText = (text) => (text === "" ? "(empty)" : text);
  const number = (x) => {
    const [size, digits] = [Math.abs(x), Math.abs(x) < 100 ? 2 : Math.abs(x) < 10000 ? 1 : 0];
    if (Number.isInteger(x) || size < 0.005) return (size < 0.005 ? 0 : x).toLocaleString("en-US");
    return x.toLocaleString("en-US", { maximumFractionDigits: digits });
  };

  const head = () => {
    document.title = data.title + ": explore";
    at("title").textContent = data.title;
    at("subtitle").textContent = data.subtitle;
    if (data.warning) { at("warning").textContent = data.warning; at("warning").hidden = false; }
    for (const line of data.guarantee) at("guarantee").append(make("p", line));
    for (const [name, text] of data.about) at("about").append(make("dt", name), make("dd", text, { dir: "auto" }));
    for (const line of data.reading) at("reading").append(make("li", line));
    for (const [name, what] of data.files) {
      const item = make("li");
      item.append(make("a", name, { href: name }), ": " + what);
      at("files").append(item);
    }
    if (data.missing) { at("missing").textContent = data.missing; at("missing").hidden = false; }
  };

  const filter = (place) => {
    const values = data.values[place], id = "where-" + place, label = make("label", "", { for: id });
    label.append(make("bdi", data.keys[place]), " is ");
    if (values.length <= OPTIONS) {
      const select = make("select", undefined, { id, multiple: "", size: Math.min(5, values.length + 1) });
      select.append(make("option", "(any)", { value: "", selected: "" }));
      values.forEach((text, k) => select.append(make("option", keyText(text), { value: k })));
      label.append(select);
      return label;
    }
    const list = make("datalist", undefined, { id: id + "-values" });
    values.forEach((text) => list.append(make("option", undefined, { value: text })));
    label.append(make("input", undefined, { id, type: "text", list: id + "-values", placeholder: "(any)" }), list);
    return label;
  };

  const form = () => {
    if (!data.asked.length && !data.rows) return;
    data.keys.forEach((name, place) => {
      if (!data.values.length || !data.values[place].length) return;
      const label = make("label");
      label.append(make("input", undefined, { type: "checkbox", id: "by-" + place }), " ", make("bdi", name));
      at("by").append(label);
      at("where").append(filter(place));
    });
    at("by").hidden = at("where").hidden = !data.values.some((values) => values.length);
    at("what-rows").disabled = !data.rows;
    at("what-totals").disabled = !data.asked.length;
    if (!data.asked.length) at("what-rows").checked = true;
    at("question").hidden = at("answer").hidden = false;
    at("question").addEventListener("input", () => { shown = STEP; show(); });
    at("question").addEventListener("submit", (event) => event.preventDefault());
  };

  // Which values of each key column are asked for: their places; null for any; -1 for one that is not there.
  const wanted = () => data.values.map((values, place) => {
    const field = at("where-" + place);
    if (!field || field.value === "") return null;
    if (field.tagName !== "SELECT") return [values.indexOf(field.value)];
    return [...field.selectedOptions].map((one) => Number(one.value));
  });

  // A table of numbers: names of its columns, and of every entry its keys, numbers and whether it is exact.
  const answer = () => {
    const where = wanted();
    if (where.some((some) => some !== null && some.includes(-1))) return { problem: "No row has that value." };
    const rows = at("what-rows").checked;
    // Of several values there is a total for each: totals of any of them together are not in the page.
    const by = data.values.map((_, k) => k)
      .filter((k) => !rows && at("by-" + k) && (at("by-" + k).checked || (where[k] !== null && where[k].length > 1)));
    const set = by.concat(where.map((w, k) => (w === null || by.includes(k) ? -1 : k)).filter((k) => k >= 0)).sort((a, b) => a - b);
    const source = rows ? data.rows : data.asked.find((one) => one.by.join() === set.join());
    if (!source) return { problem: "That is not in this page. Ask for fewer columns, or use analysis.R or Python." };
    const columns = rows ? data.keys.map((_, k) => k) : set;
    const kept = rows ? columns : by;
    const size = rows ? source.published.length : source.numbers.estimate.length;
    const entries = [];
    for (let i = 0; i < size; i++) {
      if (columns.some((k, c) => where[k] !== null && !where[k].includes(source.groups[c][i]))) continue;
      const keys = kept.map((k) => data.values[k][source.groups[columns.indexOf(k)][i]]);
      const one = { keys };
      if (rows) one.published = source.published[i];
      if (source.numbers) {
        one.estimate = source.numbers.estimate[i];
        one.exact = source.numbers.exact === true || (source.numbers.exact !== false && source.numbers.exact[i] === 1);
        [one.low, one.high] = [source.numbers.low[i], source.numbers.high[i]];
      }
      entries.push(one);
    }
    const value = (one) => (one.estimate === undefined ? one.published : one.estimate);
    const order = at("order").value;
    if (order !== "table") entries.sort((a, b) => (order === "large" ? value(b) - value(a) : value(a) - value(b)));
    return { rows, names: kept.map((k) => data.keys[k]), entries, estimated: Boolean(source.numbers), where };
  };

  const interval = (one) => (one.exact ? "exactly" : "between " + number(one.low) + " and " + number(one.high) + " (" + Math.round(100 * data.level) + "%)");
  const meant = (found) => {
    const parts = found.where.map((w, k) => (w === null ? "" : data.keys[k] + " is " + w.map((one) => keyText(data.values[k][one])).join(" or "))).filter(Boolean);
    return parts.length ? ", where " + parts.join(" and ") : "";
  };

  const about = () => (data.cut ? ", " + data.cut : "");

  const said = (found) => {
    if (found.problem) return found.problem;
    if (!found.entries.length) return "No row of the table is meant" + meant(found) + ".";
    if (!found.rows && !found.names.length) {
      const one = found.entries[0];
      return data.count + meant(found) + ": " + number(one.estimate) + ", " + interval(one) + about() + ".";
    }
    return found.entries.length.toLocaleString("en-US") + (found.rows ? " rows" : " totals by " + found.names.join(", ")) + meant(found) + (found.estimated ? about() : "") + ".";
  };

  const beside = (names, name) => (names.includes(name) ? beside(names, name + "_") : name);  // a key has the same name
  const header = (found) => [...found.names, ...[
    ...(found.rows ? ["published"] : []), ...(found.estimated ? ["estimate", "low", "high", ...(data.cut ? ["about"] : [])] : []),
  ].map((name) => beside(found.names, name))];
  const cells = (found, one, say) => [
    ...(found.rows ? [say(one.published)] : []),
    ...(found.estimated ? (one.exact ? [say(one.estimate), "exact", "exact"] : [say(one.estimate), say(one.low), say(one.high)]) : []),
    ...(found.estimated && data.cut ? [data.cut] : []),
  ];

  const table = (found) => {
    const body = make("tbody"), top = make("tr");
    header(found).forEach((name, k) => {
      const cell = make("th", undefined, { scope: "col", class: k < found.names.length ? "key" : "" });
      cell.append(make("bdi", name));
      top.append(cell);
    });
    for (const one of found.entries.slice(0, shown)) {
      const row = make("tr");
      for (const key of one.keys) {
        const cell = make("td", undefined, { class: "key" });
        cell.append(make("bdi", keyText(key)));
        row.append(cell);
      }
      for (const text of cells(found, one, number)) row.append(make("td", text));
      body.append(row);
    }
    const headRow = make("thead");
    headRow.append(top);
    at("numbers").replaceChildren(make("caption", "", { hidden: "" }), headRow, body);
    at("more").hidden = found.entries.length <= shown;
  };

  const draw = (name, more, text) => {
    const one = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(more)) one.setAttribute(key, value);
    if (text !== undefined) one.textContent = text;
    return one;
  };
  const short = (text, most) => { const letters = [...text]; return letters.length > most ? letters.slice(0, most - 1).join("") + "\u2026" : text; };

  const picture = (found) => {
    at("picture").replaceChildren();
    const bars = found.entries.slice(0, BARS);
    if (!found.estimated || bars.length < 2) return;
    const low = Math.min(0, ...bars.map((one) => one.low)), high = Math.max(1e-9, ...bars.map((one) => one.high));
    const wide = Math.min(700, Math.max(320, at("picture").clientWidth)), names = Math.round(0.36 * wide), letters = Math.floor(names / 7.4);
    const x = (value) => names + 10 + (wide - names - 50) * (value - low) / (high - low), tall = 24 * bars.length + 34;
    const all = draw("svg", { role: "img", viewBox: "0 0 " + wide + " " + tall, "aria-labelledby": "picture-title picture-text" });
    const largest = bars.reduce((a, b) => (b.estimate > a.estimate ? b : a));
    const text = bars.length + " estimates" + (bars.length < found.entries.length ? ", the first of " + found.entries.length : "") +
      ". The largest is " + largest.keys.map(keyText).join(", ") + ": " + number(largest.estimate) + ", " + interval(largest) + ". All numbers are in the table below.";
    all.append(draw("title", { id: "picture-title" }, "Estimates with their intervals"), draw("desc", { id: "picture-text" }, text));
    bars.forEach((one, k) => {
      const y = 24 * k + 15, label = draw("text", { x: names, y: y + 4, "text-anchor": "end" }, short(one.keys.map(keyText).join(", "), letters));
      const [from, to] = [x(Math.min(0, one.estimate)), x(Math.max(0, one.estimate))];
      all.append(label, draw("rect", { x: from, y: y - 8, width: Math.max(0.5, to - from), height: 16, fill: "#7fb7be" }));
      if (!one.exact) all.append(draw("line", { x1: x(one.low), x2: x(one.high), y1: y, y2: y, stroke: "#1b3a4b", "stroke-width": 2 }));
      for (const end of one.exact ? [] : [one.low, one.high]) all.append(draw("line", { x1: x(end), x2: x(end), y1: y - 5, y2: y + 5, stroke: "#1b3a4b", "stroke-width": 2 }));
    });
    const base = tall - 8;
    for (const value of [low, 0, high].filter((v, k, list) => list.indexOf(v) === k))
      all.append(draw("text", { x: x(value), y: base, "text-anchor": "middle" }, number(value)));
    all.append(draw("line", { x1: x(0), x2: x(0), y1: 2, y2: base - 14, stroke: "#1c2326", "stroke-width": 1 }));
    at("picture").append(all);
  };

  // Quotation marks where they are needed; an apostrophe before what a spreadsheet would take for a formula.
  const field = (text) => {
    const safe = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/.test(text) ? "'" + text : text;
    return /[",\r\n]/.test(safe) ? '"' + safe.replaceAll('"', '""') + '"' : safe;
  };
  const csv = (found) => [header(found), ...found.entries.map((one) => [...one.keys, ...cells(found, one, String)])]
    .map((line, k) => line.map((text, c) => (k > 0 && c >= found.names.length ? text : field(text))).join(",")).join("\n") + "\n";

  const show = () => {
    const found = answer();
    at("said").textContent = said(found);
    at("note").textContent = !found.problem && found.rows && found.estimated ? data.of_rows : "";
    at("download").hidden = Boolean(found.problem);
    if (found.problem) { at("picture").replaceChildren(); at("numbers").replaceChildren(); at("more").hidden = true; return; }
    table(found);
    picture(found);
  };

  head();
  form();
  at("more").addEventListener("click", () => { shown += 5 * STEP; show(); });
  at("download").addEventListener("click", () => {
    const found = answer();
    if (found.problem) return;
    const place = URL.createObjectURL(new Blob([csv(found)], { type: "text/csv" }));
    make("a", "", { href: place, download: "answer.csv" }).click();
    setTimeout(() => URL.revokeObjectURL(place), 10000);
  });
  if (!at("answer").hidden) show();
})();
