"use strict";
// Filters and sorts the cells of a grid by what their rows say; the reports below follow. Without the script all are shown.
for (const table of document.querySelectorAll("table.cells")) {
  const bar = document.querySelector("form.filter"), body = table.tBodies[0], rows = [...body.rows];
  const reports = new Map(rows.map(row => [row, document.getElementById(row.dataset.of)]));
  const text = (row, column) => row.cells[column].textContent.trim();
  const filter = () => {
    let shown = 0;
    const words = bar.elements.words.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) {
      let hit = words.every(w => row.textContent.toLowerCase().includes(w));
      for (const s of bar.querySelectorAll("select")) {
        const of = text(row, Number(s.dataset.column));
        hit &&= !s.value || (s.dataset.part ? of.split(", ").some(v => v === s.value) : of === s.value);
      }
      row.hidden = !hit;
      if (reports.get(row)) reports.get(row).hidden = !hit;
      if (hit) shown++;
    }
    bar.querySelector("output").textContent = shown + " of " + rows.length + " cells";
  };
  for (const s of bar.querySelectorAll("select")) {
    const values = new Set();
    for (const row of rows) {
      const of = text(row, Number(s.dataset.column));
      for (const v of s.dataset.part ? of.split(", ") : [of]) values.add(v);
    }
    for (const v of [...values].filter(Boolean).sort((a, b) => a.localeCompare(b, "en", {numeric: true}))) {
      s.append(new Option(v, v));
    }
  }
  for (const [row, report] of reports) {
    row.cells[0].addEventListener("click", () => { if (report) report.open = true; });
  }
  bar.addEventListener("input", filter);
  bar.addEventListener("reset", () => setTimeout(filter));
  bar.addEventListener("submit", e => e.preventDefault());
  for (const [column, head] of [...table.tHead.rows[0].cells].entries()) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const order = (a, b) => text(a, column).localeCompare(text(b, column), "en", {numeric: true});
      body.append(...rows.sort((a, b) => down ? order(b, a) : order(a, b)));
    });
  }
  bar.hidden = false;
  filter();
}
// Shows the questions of a list that contain every word of its search field. Text of the page is compared only; it is
// never run, and nothing is written into the page but numbers.
for (const field of document.querySelectorAll("input[type=search]")) {
  const bar = field.closest(".search"), texts = new Map();
  for (let q = bar.nextElementSibling; q; q = q.nextElementSibling) {
    if (q.matches("details.q")) texts.set(q, "");
  }
  const search = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    for (const [q, text] of texts) {
      const full = text || q.textContent.toLowerCase();
      texts.set(q, full);
      const hit = words.every(w => full.includes(w));
      q.classList.toggle("q-other", !hit);
      if (hit) found++;
    }
    bar.querySelector("output").textContent = words.length ? found + " of " + texts.size : "";
  };
  field.addEventListener("input", search);
  bar.hidden = false;
  search(); // a browser may have kept what was typed before a reload
}
