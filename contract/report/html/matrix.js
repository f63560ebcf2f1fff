
"use strict";
const form = document.querySelector(".filters");
const text = form.elements.text, outcome = form.elements.outcome, level = form.elements.level;
const target = form.elements.target, said = form.querySelector("output");
const sections = [...document.querySelectorAll(".matrix tbody")].map((body) => ({
  body,
  rows: [...body.querySelectorAll("tr[data-text]")].map((row) => ({
    row,
    text: row.dataset.text.toLowerCase(),
    level: row.dataset.level,
    outcomes: row.dataset.outcomes.split(" "),
  })),
}));

function apply() {
  const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
  const column = target.value === "" ? -1 : Number(target.value);
  let shown = 0, all = 0;
  for (const section of sections) {
    let here = 0;
    for (const one of section.rows) {
      const outcomes = column < 0 ? one.outcomes : [one.outcomes[column]];
      const fits = words.every((word) => one.text.includes(word))
        && (level.value === "" || one.level === level.value)
        && (outcome.value === "" || outcomes.includes(outcome.value));
      if (one.row.hidden === fits) one.row.hidden = !fits;
      here += fits;
    }
    section.body.hidden = here === 0;
    shown += here;
    all += section.rows.length;
  }
  said.textContent = shown + " of " + all + " clauses";
}

/* Keeps in the address what the controls say, so that it can be passed on. */
function keep() {
  const state = new URLSearchParams();
  for (const control of [text, outcome, target, level]) {
    if (control.value) state.set(control.name, control.value);
  }
  history.replaceState(null, "", "#" + state);
}

/* Does what the address says; one without a name in it is that of a row. */
function follow() {
  if (location.hash.length > 1 && !location.hash.includes("=")) return;
  const state = new URLSearchParams(location.hash.slice(1));
  for (const control of [text, outcome, target, level]) {
    control.value = state.get(control.name) || "";
    if (control.selectedIndex < 0) control.value = "";
  }
  apply();
}

let due = false;
function later() {
  if (due) return;
  due = true;
  requestAnimationFrame(() => { due = false; apply(); keep(); });
}

form.addEventListener("input", later);
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("reset", () => setTimeout(() => { apply(); keep(); }));
addEventListener("hashchange", follow);
document.addEventListener("keydown", (event) => {
  const typing = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    text.focus();
  } else if (event.key === "Escape" && event.target === text) {
    text.value = "";
    later();
  }
});
apply();
follow();
