// Steps through a game: every piece on the board has the steps at which it is shown (data-s="FIRST LAST").
"use strict";
(() => {
  const film = document.querySelector("svg.film");
  if (!film) return;
  const last = Number(film.dataset.last);
  const pieces = [...film.querySelectorAll("[data-s]")].map((element) => {
    const [first, end] = element.dataset.s.split(" ").map(Number);
    return { element, first, end };
  });
  const rows = new Map();
  for (const row of document.querySelectorAll(".moves tr[data-at]")) rows.set(Number(row.dataset.at), row);
  const bars = new Map();
  for (const bar of document.querySelectorAll(".clocks [data-at]")) bars.set(Number(bar.dataset.at), bar);
  const list = document.querySelector(".moves .list");
  const slider = document.querySelector(".controls input");
  const caption = document.querySelector(".caption");
  let at = -1;

  function show(step) {
    const next = Math.min(Math.max(Math.round(step) || 0, 0), last);
    if (next === at) return;
    for (const piece of pieces) piece.element.classList.toggle("off", next < piece.first || next > piece.end);
    for (const marked of [rows, bars]) {
      marked.get(at)?.classList.remove("now");
      marked.get(next)?.classList.add("now");
    }
    at = next;
    slider.value = String(at);
    const row = rows.get(at);
    const move = row ? `: ${row.cells[1].textContent} ${row.cells[2].textContent}` : "";
    caption.textContent = `${at} of ${last}${move}`;
    film.dataset.now = String(at);
    if (row) {
      const top = row.offsetTop - list.clientHeight / 2;
      list.scrollTop = Math.max(0, top);
    } else {
      list.scrollTop = 0;
    }
  }

  const go = { first: () => show(0), back: () => show(at - 1), on: () => show(at + 1), last: () => show(last) };
  const keys = { Home: "first", ArrowLeft: "back", ArrowRight: "on", End: "last" };
  document.addEventListener("keydown", (event) => {
    const name = keys[event.key];
    if (!name || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    go[name]();
  });
  for (const button of document.querySelectorAll(".controls button")) {
    button.addEventListener("click", go[button.dataset.go]);
  }
  slider.addEventListener("input", () => show(Number(slider.value)));
  for (const [number, row] of rows) row.addEventListener("click", () => show(number));
  const fromAddress = () => {
    const wanted = location.hash.slice(1);
    if (/^\d{1,6}$/.test(wanted)) show(Number(wanted));
  };
  window.addEventListener("hashchange", fromAddress);
  document.querySelector(".controls").hidden = false;
  caption.hidden = false;
  show(last);
  fromAddress();
})();
