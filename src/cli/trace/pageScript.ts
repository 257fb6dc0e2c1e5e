/** The script of the page. Whatever the data says goes into text nodes; positions are numbers in custom properties. */
export const pageScript = `"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("data").textContent);
  const length = Math.max(data.length, 1);
  // Nothing that moves the cursor or turns text around is shown as it is.
  const plain = (text) => String(text).replace(/\\p{Cc}|[\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069]/gu,
    (c) => "\\\\u" + c.codePointAt(0).toString(16).padStart(4, "0"));
  const short = (number, digits) => String(Number(number.toFixed(digits)));
  const ms = (at) => at === null ? "-"
    : at < 100 ? short(at, 1) + " ms" : at < 10000 ? short(at, 0) + " ms" : at < 60000 ? short(at / 1000, 2) + " s"
    : Math.floor(at / 60000) + " min " + short(at % 60000 / 1000, 1) + " s";
  const brief = (at) => at < 1000 || at >= 60000 ? ms(at) : (at / 1000).toFixed(2) + " s";
  // Of a tick: as many digits as tell it from the next one.
  const tickText = (at, step) => {
    const [by, unit] = data.length < 2000 ? [1, " ms"] : [1000, " s"];
    return short(at / by, Math.max(0, Math.ceil(-Math.log10(step / by)))) + unit;
  };
  const make = (tag, className, text) => {
    const node = document.createElement(tag);
    if (className) node.className = className;
    if (text !== undefined) node.textContent = plain(text);
    return node;
  };
  const place = (node, from, to) => {
    node.style.setProperty("--s", String(from));
    if (to !== undefined) node.style.setProperty("--e", String(to));
    return node;
  };
  const kindOf = (row) => row.end === null && row.status === "open" ? "other"
    : ["success", "failure", "cancelled"].includes(row.status) ? row.status : "other";

  document.title = "Timeline: " + plain(data.source);
  $("title").textContent = "Timeline of " + plain(data.source);
  const counted = (status) => data.rows.filter((row) => row.status === status).length;
  for (const [name, value] of [
    [data.runs.length === 1 ? "run" : data.runs.length + " runs", [...new Set(data.runs.map((run) => run.status))].join(", ") || "none"],
    ["took", brief(data.length)], ["rows", data.rows.length],
    ...[["failed", "failure"], ["cancelled", "cancelled"]].map(([word, status]) => [word, counted(status)]).filter((one) => one[1] > 0)
  ]) {
    const item = make("span", "", name + " ");
    item.append(make("b", "", value));
    $("summary").append(item);
  }
  for (const note of data.notes) $("notes").append(make("li", "", note));

  const byId = new Map(data.rows.map((row) => [row.id, row]));
  const depthOf = (row) => {
    let depth = 0;
    for (let at = row; at && at.parent !== null && depth < 6 && byId.has(at.parent); at = byId.get(at.parent)) depth++;
    return depth;
  };
  const groups = [];
  const rowOf = new Map();
  let opened = null;
  const facts = (row) => [
    ["Outcome", row.status], ["Won by", row.winner ?? "-"], ["Too late", row.also.join(", ") || "-"],
    ["Start", ms(row.start)], ["Published", ms(row.published)], ["End", ms(row.end)],
    ["Took", row.end === null ? "-" : ms(row.end - row.start)], ["Deadline", ms(row.deadline)],
    ["Left", row.deadline === null || row.end === null ? "-" : ms(Math.max(0, row.deadline - row.end))],
    ["Kind", row.kind], ["Agent", row.task ?? "main"], ["Run", row.run], ["Id", row.id], ["Call", row.callId ?? "-"]
  ];
  const fact = ([name, value]) => {
    const item = make("div", String(value).length > 18 ? "wide" : "");
    item.append(make("dt", "", name), make("dd", "", value));
    return item;
  };
  const close = () => {
    if (opened === null) return;
    opened.setAttribute("aria-expanded", "false");
    $("details").hidden = true;
    opened.focus();
    opened = null;
  };
  const open = (button, row) => {
    if (opened === button) return close();
    if (opened !== null) opened.setAttribute("aria-expanded", "false");
    opened = button;
    button.setAttribute("aria-expanded", "true");
    $("name").textContent = plain(row.name);
    $("facts").replaceChildren(...facts(row).map(fact));
    $("details").hidden = false;
    button.after($("details"));
  };
  let key = null;
  const tasks = [...new Set(data.rows.map((row) => row.task).filter((task) => task !== null))];
  for (const row of data.rows) {
    const of = JSON.stringify([row.run, row.task]);
    if (of !== key) {
      key = of;
      const section = make("section");
      const title = make("h2", "", row.task === null ? "Main agent" : "Subagent " + (tasks.indexOf(row.task) + 1));
      const run = data.runs.findIndex((one) => one.id === row.run);
      const about = data.runs.length < 2 || run < 0 ? [] : ["run " + (run + 1) + ", " + data.runs[run].status];
      title.append(make("small", "", [...about, ...(row.task === null ? [] : [row.task])].join(" \\u00b7 ")));
      section.append(title);
      groups.push({ section, rows: [] });
      $("rows").append(section);
    }
    const button = make("button", "row " + kindOf(row));
    button.type = "button";
    button.setAttribute("aria-expanded", "false");
    const label = make("span", "label");
    label.style.setProperty("--depth", String(depthOf(row)));
    const outcome = row.winner && !["reply", "cancel"].includes(row.winner) ? row.status + " \\u00b7 " + row.winner : row.status;
    label.append(make("span", "n", row.name), make("span", "t", row.end === null ? "" : brief(row.end - row.start)), make("span", "o", outcome));
    const track = make("span", "track");
    if (row.deadline !== null) track.append(place(make("span", "rest"), row.start, row.deadline));
    track.append(place(make("span", row.end === null ? "bar open" : "bar"), row.start, row.end ?? length));
    if (row.deadline !== null) track.append(place(make("span", "due"), row.deadline));
    button.append(label, track);
    button.title = plain(row.name) + ": " + plain(outcome) + ", " + (row.end === null ? "no end" : ms(row.end - row.start));
    rowOf.set(button, row);
    button.addEventListener("click", () => open(button, row));
    groups.at(-1).section.append(button);
    groups.at(-1).rows.push({ button, words: [row.name, row.task ?? "main", outcome].join(" ").toLowerCase() });
  }
  if (data.rows.length === 0) $("rows").append(make("p", "", "No tools were called."));

  const most = data.slots.reduce((max, slot) => Math.max(max, slot[1]), 0);
  $("most").textContent = "at most " + most;
  $("slots").setAttribute("aria-label", "Pending calls over time, at most " + most);
  const top = Math.max(most, 1) * 1.1;
  let path = "M0 " + top;
  let pending = 0;
  for (const [at, count] of data.slots) {
    path += "L" + at + " " + (top - pending) + "L" + at + " " + (top - count);
    pending = count;
  }
  $("area").setAttribute("d", path + "L" + length + " " + (top - pending) + "L" + length + " " + top + "Z");

  let from = 0;
  let to = length;
  const least = Math.min(1, length / 4);
  const show = (start, end) => {
    const span = Math.min(Math.max(end - start, least), length);
    from = Math.min(Math.max(start, 0), length - span);
    to = from + span;
    const root = document.documentElement.style;
    root.setProperty("--from", String(from));
    root.setProperty("--k", String(100 / span));
    $("slots").setAttribute("viewBox", from + " 0 " + span + " " + top);
    const wanted = Math.max(2, Math.floor($("axis").clientWidth / 95));
    const raw = span / wanted;
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((by) => by * power).find((one) => one >= raw);
    const ticks = [];
    for (let at = Math.ceil(from / step) * step; at < to - step * 0.4 && ticks.length < 50; at += step) {
      ticks.push(place(make("span", "tick", tickText(at, step)), at));
    }
    const pixels = $("axis").clientWidth / span;
    root.setProperty("--step", step * pixels + "px");
    root.setProperty("--shift", -(from % step) * pixels + "px");
    $("axis").replaceChildren(...ticks);
  };
  const zoom = (by, centre) => {
    const at = centre ?? (from + to) / 2;
    show(at - (at - from) * by, at + (to - at) * by);
  };
  const pan = (by) => show(from + (to - from) * by, to + (to - from) * by);
  $("in").addEventListener("click", () => zoom(0.5));
  $("out").addEventListener("click", () => zoom(2));
  $("left").addEventListener("click", () => pan(-0.25));
  $("right").addEventListener("click", () => pan(0.25));
  $("all").addEventListener("click", () => show(0, length));
  $("close").addEventListener("click", close);

  // Dragging over the chart zooms into what was dragged over.
  let drag = null;
  const part = (event) => {
    const box = $("chart").getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
  };
  $("chart").addEventListener("pointerdown", (event) => {
    drag = part(event);
    $("chart").setPointerCapture(event.pointerId);
  });
  $("chart").addEventListener("pointermove", (event) => {
    if (drag === null) return;
    const ends = [drag, part(event)].sort((a, b) => a - b);
    $("brush").style.setProperty("--a", ends[0] * 100 + "%");
    $("brush").style.setProperty("--b", ends[1] * 100 + "%");
    $("brush").hidden = false;
  });
  const drop = (event) => {
    const ends = [drag ?? 0, part(event)].sort((a, b) => a - b).map((one) => from + (to - from) * one);
    const zooms = drag !== null && event.type === "pointerup" && !$("brush").hidden && ends[1] - ends[0] > (to - from) / 100;
    drag = null;
    $("brush").hidden = true;
    if (zooms) show(ends[0], ends[1]);
  };
  $("chart").addEventListener("pointerup", drop);
  $("chart").addEventListener("pointercancel", drop);

  const filter = () => {
    const words = $("filter").value.toLowerCase().split(" ").filter((word) => word !== "");
    let shown = 0;
    for (const { rows, section } of groups) {
      let any = false;
      for (const row of rows) {
        row.button.hidden = !words.every((word) => row.words.includes(word));
        if (row.button === opened && row.button.hidden) close();
        if (!row.button.hidden) { any = true; shown++; }
      }
      section.hidden = !any;
    }
    $("shown").textContent = words.length === 0 ? "" : shown + " of " + data.rows.length;
  };
  $("filter").addEventListener("input", filter);

  const step = (by) => {
    const all = [...document.querySelectorAll("main button.row:not([hidden])")].filter((one) => !one.parentElement.hidden);
    const at = all.indexOf(document.activeElement);
    const next = all[Math.min(Math.max(at + by, 0), all.length - 1)];
    if (next) { next.focus(); if (opened !== null && opened !== next) open(next, rowOf.get(next)); }
  };
  const keys = {
    "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), "0": () => show(0, length),
    ArrowLeft: () => pan(-0.25), ArrowRight: () => pan(0.25), ArrowDown: () => step(1), ArrowUp: () => step(-1), "/": () => $("filter").focus(), Escape: close
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target instanceof HTMLInputElement && event.key !== "Escape") return;
    const act = Object.hasOwn(keys, event.key) ? keys[event.key] : undefined;
    if (act) { event.preventDefault(); act(); }
  });
  const wheel = (event) => {
    if (!event.ctrlKey && !event.shiftKey) return;
    event.preventDefault();
    const box = $("axis").getBoundingClientRect();
    const at = from + (to - from) * Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
    if (event.ctrlKey) zoom(event.deltaY > 0 ? 1.25 : 0.8, at);
    else pan((event.deltaY || event.deltaX) > 0 ? 0.1 : -0.1);
  };
  addEventListener("wheel", wheel, { passive: false });
  addEventListener("resize", () => show(from, to));
  show(0, length);
})();
`
