// Sorts tables by column, and filters the list of games.
"use strict";
(() => {
  const form = document.querySelector(".filter");

  for (const table of document.querySelectorAll("table.games")) {
    const body = table.tBodies[0];
    const heads = [...table.tHead.rows[0].cells];
    const rows = [...body.rows];
    const text = (row, at) => row.cells[at].textContent.trim();
    if (form) addFilter(heads, rows, text);

    const sort = (at) => {
      const order = heads[at].getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
      for (const head of heads) head.removeAttribute("aria-sort");
      heads[at].setAttribute("aria-sort", order);
      const key = (row) => text(row, at);
      // A unit may follow, the language has its decimal point, and a time may be 2:05.
      const parts = (row) => (key(row).replace(",", ".") || "-1").split(":").map(Number.parseFloat);
      const number = (row) => parts(row).reduce((sum, part) => 60 * sum + part);
      const isNumber = heads[at].classList.contains("num") && !rows.some((row) => Number.isNaN(number(row)));
      rows.sort((one, other) => isNumber ? number(one) - number(other) : key(one).localeCompare(key(other)));
      if (order === "descending") rows.reverse();
      body.append(...rows);
    };

    for (const [at, head] of heads.entries()) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...head.childNodes);
      button.addEventListener("click", () => sort(at));
      head.append(button);
    }
  }

  function addFilter(heads, rows, text) {
    const columns = new Map(heads.map((head, at) => [head.dataset.column, at]));
    const games = rows.map((row) => ({
      row,
      agents: `${text(row, columns.get("first"))} ${text(row, columns.get("second"))}`.toLowerCase(),
      verdict: row.querySelector(".verdict")?.textContent ?? "",
    }));
    const status = form.querySelector("[role=status]");

    const filter = () => {
      const agent = form.agent.value.trim().toLowerCase();
      const verdict = form.verdict.value;
      let shown = 0;
      for (const each of games) {
        const fits = each.agents.includes(agent) && (!verdict || verdict === each.verdict);
        each.row.hidden = !fits;
        shown += Number(fits);
      }
      const words = status.dataset.words.replace("{shown}", shown).replace("{all}", games.length);
      status.textContent = agent || verdict ? words : "";
    };

    for (const verdict of [...new Set(games.map((each) => each.verdict))].filter(Boolean).sort()) {
      form.verdict.append(new Option(verdict, verdict));
    }
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", filter);
    form.hidden = false;
    filter();
  }
})();
