// Light, dark, or as the system says. Loaded before the page is drawn, so that nothing flashes.
"use strict";
(() => {
  const KEY = "verisim-theme";
  const CHOICES = ["system", "light", "dark"];

  function stored() {
    try {
      const found = localStorage.getItem(KEY);
      return CHOICES.includes(found) ? found : "system";
    } catch {
      return "system"; // storage is switched off
    }
  }

  function apply(choice) {
    document.documentElement.dataset.theme = choice;
    const button = document.getElementById("theme");
    if (button) button.textContent = `Theme: ${choice}`;
  }

  function next() {
    const choice = CHOICES[(CHOICES.indexOf(document.documentElement.dataset.theme) + 1) % CHOICES.length];
    try {
      localStorage.setItem(KEY, choice);
    } catch {
      // it holds for this page only
    }
    apply(choice);
  }

  apply(stored());
  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    button.hidden = false;
    button.addEventListener("click", next);
    apply(stored());
  });
})();
