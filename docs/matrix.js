/* Filters for the tables of clauses and targets in the matrix: rows by clause, finding or outcome, columns by target. */
(() => {
  "use strict";
  if (!location.pathname.endsWith("/matrix.html")) return;
  const tables = [...document.querySelectorAll(".md-typeset table")].filter(
    (table) => table.tHead && table.tHead.rows[0].cells[0].textContent.trim() === "Clause",
  );

  const form = document.createElement("form");
  form.className = "matrix-filters";
  form.setAttribute("aria-label", "Filter the tables");
  const field = (name, hint) => {
    const label = document.createElement("label");
    const input = document.createElement("input");
    input.type = "search";
    input.placeholder = hint;
    label.append(name, input);
    form.append(label);
    return input;
  };
  const rows = field("Clause, outcome or finding", "seek, known, F15");
  const columns = field("Target", "fsspec, PyArrow");
  const count = document.createElement("output");
  form.append(count);
  form.addEventListener("submit", (event) => event.preventDefault());

  const words = (input) => input.value.toLowerCase().split(",").map((word) => word.trim()).filter(Boolean);
  const matches = (text, wanted) => !wanted.length || wanted.some((word) => text.toLowerCase().includes(word));

  const filter = (table) => {
    const heads = [...table.tHead.rows[0].cells];
    const folded = table.closest("details"); // clauses that no target violates, without columns of targets
    const shown = heads.map((head, at) => at < 2 || folded || matches(head.textContent, words(columns)));
    heads.forEach((head, at) => { head.hidden = !shown[at]; });
    let left = 0;
    for (const row of table.tBodies[0].rows) {
      const cells = [...row.cells];
      cells.forEach((cell, at) => { cell.hidden = !shown[at]; });
      const text = cells.filter((cell) => !cell.hidden).map((cell) => cell.textContent).join(" ");
      const isClause = cells[1].textContent !== "";
      row.hidden = isClause ? !matches(text, words(rows)) : words(rows).length > 0;
      left += isClause && !row.hidden ? 1 : 0;
    }
    if (folded) folded.open = left > 0 && words(rows).length > 0;
    else table.dataset.matrix = "";
    return left;
  };
  const update = () => {
    const left = tables.reduce((sum, table) => sum + filter(table), 0);
    count.textContent = `${left} clauses`;
  };
  rows.addEventListener("input", update);
  columns.addEventListener("input", update);
  document.querySelector(".md-typeset h1").after(form);
  update();
})();
