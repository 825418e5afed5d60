// Sorts and filters the list of games.
"use strict";
(() => {
  const table = document.querySelector("table.games");
  const form = document.querySelector(".filter");
  if (!table || !form) return;
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const columns = new Map(heads.map((head, at) => [head.dataset.column, at]));
  const text = (row, column) => row.cells[columns.get(column)].textContent.trim();
  const rows = [...body.rows].map((row) => ({
    row,
    agents: `${text(row, "first")} ${text(row, "second")}`.toLowerCase(),
    verdict: row.querySelector(".verdict")?.textContent ?? "",
  }));
  const status = form.querySelector("[role=status]");

  function filter() {
    const agent = form.agent.value.trim().toLowerCase();
    const verdict = form.verdict.value;
    let shown = 0;
    for (const each of rows) {
      const fits = each.agents.includes(agent) && (!verdict || verdict === each.verdict);
      each.row.hidden = !fits;
      shown += Number(fits);
    }
    status.textContent = status.dataset.words.replace("{shown}", shown).replace("{all}", rows.length);
  }

  function sort(at) {
    const order = heads[at].getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
    for (const head of heads) head.removeAttribute("aria-sort");
    heads[at].setAttribute("aria-sort", order);
    const key = ({ row }) => row.cells[at].textContent.trim();
    const isNumber = rows.every((each) => !key(each) || !Number.isNaN(Number(key(each))));
    rows.sort((one, other) => isNumber ? key(one) - key(other) : key(one).localeCompare(key(other)));
    if (order === "descending") rows.reverse();
    body.append(...rows.map(({ row }) => row));
  }

  for (const [at, head] of heads.entries()) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(at));
    head.append(button);
  }
  for (const verdict of [...new Set(rows.map((each) => each.verdict))].filter(Boolean).sort()) {
    form.verdict.append(new Option(verdict, verdict));
  }
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", filter);
  form.hidden = false;
  filter();
})();
