// Ctrl+Enter, or Command+Enter, sends the form of a text field.
document.addEventListener("keydown", (e) => {
  if (e.key === "Enter" && (e.ctrlKey || e.metaKey) && e.target.form && e.target.matches("textarea.question")) {
    e.preventDefault();
    e.target.form.requestSubmit();
  }
});
