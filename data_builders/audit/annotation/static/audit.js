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
  differences.addEventListener("change", () => {
    for (const pane of document.querySelectorAll(".reasoning")) {
      const first = pane.querySelector("mark");
      if (first && differences.checked) pane.scrollTop = first.offsetTop - pane.offsetTop - pane.clientHeight / 3;
    }
  });
  const toggle = (box) => {
    box.checked = !box.checked;
    box.dispatchEvent(new Event("change"));
  };
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
    if (key === "A" || key === "B") {
      const radio = form.querySelector(`input[name=choice][value=${key}]`);
      radio.checked = true;
      radio.focus();
    } else if (key === "D") {
      toggle(differences);
    } else if (/^[1-6]$/.test(key)) {
      const box = form.querySelector(`input[name=principle][value="${key}"]`);
      box.closest("details").open = true;
      toggle(box);
    } else if (event.key === "Enter" && !event.target.closest("a, button, summary")) {
      form.requestSubmit();
    } else {
      return;
    }
    event.preventDefault();
  });
}
