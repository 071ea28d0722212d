"use strict";
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
