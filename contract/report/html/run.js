
"use strict";
const KEYS = ["text", "outcome", "level", "section"];
const main = document.getElementById("main");
const groups = { failing: main.dataset.failing.split(" "), unverified: main.dataset.unverified.split(" ") };
const runs = [...document.querySelectorAll(".run")].map((run) => ({
  run,
  number: run.dataset.target,
  form: run.querySelector(".filters"),
  said: run.querySelector("output"),
  nothing: run.querySelector(".nothing"),
  tables: [...run.querySelectorAll(".clauses")].map((table) => ({
    table,
    sections: [...table.tBodies].map((body) => ({
      body,
      key: body.dataset.section,
      rows: [...body.querySelectorAll("tr[data-clause]")].map((row) => ({
        row,
        text: row.textContent.toLowerCase(),
        level: row.dataset.level,
        outcome: row.dataset.outcome,
      })),
    })),
  })),
}));
let marked = null;

function read() {
  return new URLSearchParams(location.hash.slice(1));
}

/* Leads to what the hash says; a hash without a name in it is that of a plain anchor. */
function follow() {
  if (location.hash.length > 1 && !location.hash.includes("=")) return;
  const state = read();
  const number = state.get("target") || "1";
  for (const one of runs) one.run.hidden = runs.length > 1 && one.number !== number;
  for (const tab of document.querySelectorAll(".tabs a")) {
    if (tab.dataset.target === number) tab.setAttribute("aria-current", "page");
    else tab.removeAttribute("aria-current");
  }
  const here = runs.find((one) => one.number === number);
  if (!here || !here.form) return;
  for (const key of KEYS) set(here.form.elements[key], state.get(key) || "");
  apply(here);
  lead(state);
  if (KEYS.some((key) => state.has(key))) here.form.scrollIntoView({ block: "start" });
}

function set(control, value) {
  if (control.value !== value) control.value = value;
  if (control.value !== value) control.value = "";
}

function lead(state) {
  if (marked) marked.classList.remove("marked");
  marked = null;
  if (!state.has("clause") && !state.has("finding")) return;
  marked = document.getElementById(location.hash.slice(1));
  if (!marked) return;
  for (let one = marked.closest("details"); one; one = one.parentElement.closest("details")) one.open = true;
  for (const part of [marked, marked.closest("tbody"), marked.closest("table")]) if (part) part.hidden = false;
  marked.classList.add("marked");
  marked.scrollIntoView({ block: "start" });
  const target = marked.querySelector("summary, a");
  if (target) target.focus({ preventScroll: true });
}

function apply(one) {
  const wanted = Object.fromEntries(KEYS.map((key) => [key, one.form.elements[key].value]));
  const words = wanted.text.toLowerCase().split(/\s+/).filter(Boolean);
  const outcomes = groups[wanted.outcome] || (wanted.outcome ? [wanted.outcome] : null);
  let shown = 0, all = 0;
  for (const part of one.tables) {
    let inTable = 0;
    for (const section of part.sections) {
      const open = !wanted.section || wanted.section === section.key;
      let inSection = 0;
      for (const item of section.rows) {
        const fits = open
          && (!wanted.level || item.level === wanted.level)
          && (!outcomes || outcomes.includes(item.outcome))
          && words.every((word) => item.text.includes(word));
        if (item.row.hidden === fits) item.row.hidden = !fits;
        inSection += fits;
      }
      section.body.hidden = inSection === 0;
      inTable += inSection;
      all += section.rows.length;
    }
    part.table.hidden = inTable === 0;
    shown += inTable;
  }
  one.nothing.hidden = shown > 0;
  const text = shown === all ? all + " clauses" : shown + " of " + all + " clauses";
  if (one.said.textContent !== text) one.said.textContent = text;
}

/* Keeps in the address what the controls say, so that it can be passed on. */
function keep(one) {
  const state = new URLSearchParams();
  if (one.number !== "1") state.set("target", one.number);
  for (const key of KEYS) {
    const value = one.form.elements[key].value;
    if (value) state.set(key, value);
  }
  history.replaceState(null, "", "#" + state);
}

for (const one of runs) {
  if (!one.form) continue;
  let due = false;
  one.form.addEventListener("input", () => {
    if (due) return;
    due = true;
    requestAnimationFrame(() => { due = false; apply(one); keep(one); });
  });
  one.form.addEventListener("submit", (event) => event.preventDefault());
  one.form.addEventListener("reset", () => setTimeout(() => { apply(one); keep(one); }));
}

document.addEventListener("keydown", (event) => {
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    const one = runs.find((run) => run.form && !run.run.hidden);
    if (!one) return;
    event.preventDefault();
    one.form.elements.text.focus();
  } else if (event.key === "Escape" && event.target.name === "text") {
    event.target.value = "";
    event.target.dispatchEvent(new Event("input", { bubbles: true }));
  }
});

/* Where a page of a file may not use the clipboard, the text is chosen for the user to copy. */
async function copy(button) {
  const code = button.parentElement.querySelector("code");
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
  } catch {
    const range = document.createRange();
    range.selectNodeContents(code);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    if (!document.execCommand("copy")) return;
  }
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = "Copy"; }, 1500);
}

for (const button of document.querySelectorAll(".copy")) {
  button.hidden = false;
  button.addEventListener("click", () => copy(button));
}

let closed = [];
addEventListener("beforeprint", () => {
  closed = [...document.querySelectorAll("details:not([open])")];
  for (const one of closed) one.open = true;
});
addEventListener("afterprint", () => { for (const one of closed) one.open = false; });
addEventListener("hashchange", follow);
document.documentElement.classList.add("js");
follow();
for (const one of runs) if (one.form) apply(one);
