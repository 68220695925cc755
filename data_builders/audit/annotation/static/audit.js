// Keyboard shortcuts, and switches whose state persists between pages. The page also works without this script.
"use strict";

const form = document.getElementById("pair");
if (form) {
  const differences = document.getElementById("differences");
  const keys = document.getElementById("keys");
  for (const box of [differences, keys]) {
    const saved = sessionStorage.getItem(box.id);
    if (saved !== null) box.checked = saved === "true";
    box.addEventListener("change", () => sessionStorage.setItem(box.id, box.checked));
  }
  const showFirst = () => {
    for (const pane of document.querySelectorAll(".pane")) {
      const first = pane.querySelector("mark");
      if (first && differences.checked) pane.scrollTop = first.offsetTop - pane.offsetTop - pane.clientHeight / 3;
    }
  };
  differences.addEventListener("change", showFirst);
  showFirst();
  let submitted = false;
  form.addEventListener("submit", (event) => {
    if (submitted) event.preventDefault();
    submitted = true;
  });
  window.addEventListener("pageshow", () => { submitted = false; });
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("textarea, input:not([type=radio]):not([type=checkbox])");
    if (!keys.checked || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    const key = event.key.toUpperCase();
    const box = form.querySelector(`input[data-key="${CSS.escape(key)}"]`);
    if (box) {
      if (box.closest("details")) box.closest("details").open = true;
      if (box.type === "checkbox") box.checked = !box.checked;
      else box.checked = true;
      box.dispatchEvent(new Event("change"));
      if (box.type === "radio") box.focus();
    } else if (event.key === "Enter" && !event.target.closest("a, button, summary")) {
      form.requestSubmit();
    } else {
      return;
    }
    event.preventDefault();
  });
}
