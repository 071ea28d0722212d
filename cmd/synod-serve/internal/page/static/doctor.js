// A click on a node of the drawing loads the changed graph into the page; without this script its link does, and the
// page is loaded again. htmx handles links of HTML only.
document.addEventListener("click", function (e) {
  var a = e.target.closest && e.target.closest("#doctor svg a");
  if (!a || !window.htmx || e.button || e.ctrlKey || e.metaKey || e.shiftKey || e.altKey) return;
  e.preventDefault();
  htmx.ajax("GET", a.getAttribute("href"), { source: a });
});
