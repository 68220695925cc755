// Shortcuts, and switches that are remembered from page to page. Without this script the page still works.
"use strict";

const form = document.getElementById("pair");
if (form) {
  const differences = document.getElementById("differences");
  const keys = document.getElementById("keys");
  for (const box of [differences, keys]) {
    const kept = sessionStorage.getItem(box.id);
    if (kept !== null) box.checked = kept === "true";
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
  let sent = false;
  form.addEventListener("submit", (event) => {
    if (sent) event.preventDefault();
    sent = true;
  });
  window.addEventListener("pageshow", () => { sent = false; });
  document.addEventListener("keydown", (event) => {
    const writing = event.target.closest("textarea, input:not([type=radio]):not([type=checkbox])");
    if (!keys.checked || writing || event.ctrlKey || event.metaKey || event.altKey) return;
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
