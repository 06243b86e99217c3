// Only help: every page works without it.
"use strict";
for (const form of document.querySelectorAll("form[data-preview]")) {
  form.addEventListener("change", async () => {
    const fields = new FormData(form);
    fields.set("preview", "1");
    fields.delete("universe");
    const answer = await fetch(form.action || location.href, { method: "POST", body: fields });
    if (!answer.ok) return;
    const said = await answer.json();
    document.getElementById("protected").textContent = said.protected;
    document.getElementById("published").textContent = said.published.join(", ") || "nothing yet";
  });
}
for (const table of document.querySelectorAll("table[data-shares]")) {
  const counts = table.querySelectorAll("input[name=count]");
  const several = () => {
    const chosen = [...counts].filter((one) => one.checked).length > 1;
    for (const row of table.rows) row.cells[3].hidden = !chosen;
  };
  table.addEventListener("change", several);
  several();
}
for (const button of document.querySelectorAll("button[data-once]")) {
  button.form.addEventListener("submit", () => { button.disabled = true; });
}
const ways = document.querySelectorAll("input[name=way]");
const shown = () => {
  const chosen = document.querySelector("input[name=way]:checked");
  for (const part of document.querySelectorAll("[data-ways]"))
    part.hidden = !!chosen && !part.dataset.ways.split(" ").includes(chosen.value);
};
for (const way of ways) way.addEventListener("change", shown);
if (ways.length) shown();
