// Steps through a game. A piece on the board has the steps at which it is there (data-s="FIRST LAST", or "FIRST" to the
// end); the marks of all steps are in data-marks of their group (judge/render/svg_player.py).
"use strict";
(() => {
  const film = document.querySelector("svg.film");
  if (!film) return;
  const last = Number(film.dataset.last);
  const cell = Number(film.dataset.cell);
  const margin = Number(film.dataset.margin);
  const squareAt = (pixels) => Math.floor((pixels - margin) / cell);
  const pieces = [...film.querySelectorAll("[data-s]")].map((element) => {
    const [first, end = last] = element.dataset.s.split(" ").map(Number);
    const { e: x, f: y } = element.transform.baseVal[0].matrix;
    const painted = element.querySelector("use").getAttribute("href").slice(1);
    return { element, first, end, column: squareAt(x), row: squareAt(y), painted };
  });
  const group = film.querySelector(".marks");
  const marks = group.dataset.marks.split(";").filter(Boolean).map((mark) => {
    const [painted, column, row, first, end = first] = mark.split(" ");
    return { painted, column, row, first: Number(first), end: Number(end) };
  });
  const rows = [...document.querySelectorAll(".moves tbody tr")];
  const rowOf = new Map(rows.map((row) => [Number(row.id), row]));
  const list = document.querySelector(".moves .list");
  const slider = document.querySelector(".controls input");
  const caption = document.querySelector(".caption");
  const message = document.querySelector(".message");
  const logs = [...document.querySelectorAll("[data-agent-log]")];
  const silence = document.querySelector("[data-no-log]");
  const plots = [...document.querySelectorAll(".plot")];
  const squares = document.querySelector(".squares");
  const cells = [...squares.querySelectorAll("tbody tr")].map((row) => [...row.querySelectorAll("td")]);
  const words = new Map([...squares.querySelectorAll("li")].map((item) => [item.dataset.name, item.textContent]));
  const play = document.querySelector("[data-go=play]");
  const share = document.querySelector(".share");
  // A list may count stones, of which an opening has several, while steps begin with 0 after the opening.
  const before = rows.length ? Number(rows[0].cells[0].textContent) - Number(rows[0].id) : 0;
  const numberAt = (step) => rowOf.get(step)?.cells[0].textContent ?? String(step + before);
  let at = -1;
  let timer = 0;

  function mark({ painted, column, row }) {
    const use = document.createElementNS(film.namespaceURI, "use");
    use.setAttribute("href", `#${painted}`);
    use.setAttribute("x", column * cell + margin);
    use.setAttribute("y", row * cell + margin);
    return use;
  }

  // The table is read by few, and rewriting it at each step is work: it is kept up to date while it is open.
  function tell() {
    if (!squares.open) return;
    for (const row of cells) for (const square of row) square.textContent = "";
    for (const { element, first, end, column, row, painted } of pieces) {
      if (at >= first && at <= end) {
        cells[row][column].textContent = `${words.get(painted)} ${element.textContent}`.trim();
      }
    }
  }

  function show(step) {
    const next = Math.min(Math.max(Math.round(step) || 0, 0), last);
    if (next === at) return;
    for (const { element, first, end } of pieces) element.classList.toggle("off", next < first || next > end);
    group.replaceChildren(...marks.filter(({ first, end }) => next >= first && next <= end).map(mark));
    rowOf.get(at)?.classList.remove("now");
    rowOf.get(next)?.classList.add("now");
    at = next;
    slider.value = String(at);
    for (const plot of plots) plot.querySelector(".cursor").setAttribute("d", `M${at} 0v100`);
    const row = rowOf.get(at);
    const move = row ? `: ${row.cells[1].textContent} ${row.cells[2].textContent}` : "";
    caption.textContent = caption.dataset.words.replace("{at}", numberAt(at)).replace("{last}", numberAt(last)) + move;
    slider.setAttribute("aria-valuetext", caption.textContent);
    if (message) message.textContent = row ? row.cells[row.cells.length - 1].textContent : "";
    for (const log of logs) log.hidden = Number(log.dataset.agentLog) !== at;
    if (silence) silence.hidden = logs.some((log) => !log.hidden);
    film.dataset.now = String(at);
    list.scrollTop = row ? Math.max(0, row.offsetTop - list.clientHeight / 2) : 0;
    tell();
  }

  // Each step by hand has an address. Browsers limit how often it may change, so a moving slider sets it at its end.
  function visit(step) {
    stop();
    show(step);
    setAddress();
  }

  function setAddress() {
    history.replaceState(null, "", `#${at}`);
  }

  function stop() {
    clearInterval(timer);
    timer = 0;
    play.textContent = "▶";
    play.setAttribute("aria-pressed", "false");
  }

  function start() {
    if (timer) return stop();
    if (at === last) show(0);
    play.textContent = "❚❚";
    play.setAttribute("aria-pressed", "true");
    timer = setInterval(() => {
      show(at + 1);
      if (at < last) return;
      stop();
      setAddress();
    }, 700);
  }

  const go = {
    first: () => visit(0), back: () => visit(at - 1), on: () => visit(at + 1), last: () => visit(last), play: start,
  };
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
  slider.addEventListener("input", () => {
    stop();
    show(Number(slider.value));
  });
  slider.addEventListener("change", setAddress);
  // A move in the list is shown where the reader is; its link stays an address that can be copied and opened.
  for (const [number, row] of rowOf) {
    row.addEventListener("click", (event) => {
      event.preventDefault();
      visit(number);
    });
  }
  for (const plot of plots) {
    plot.addEventListener("click", (event) => {
      const { left, width } = plot.getBoundingClientRect();
      visit(((event.clientX - left) / width) * plot.viewBox.baseVal.width);
    });
  }
  squares.addEventListener("toggle", tell);
  const fromAddress = () => {
    const wanted = location.hash.slice(1);
    if (/^\d{1,6}$/.test(wanted)) show(Number(wanted));
  };
  window.addEventListener("hashchange", fromAddress);
  if (navigator.clipboard) {
    const button = share.firstElementChild;
    const words = button.textContent;
    share.hidden = false;
    button.addEventListener("click", async () => {
      setAddress();
      await navigator.clipboard.writeText(location.href);
      button.textContent = button.dataset.copied;
      setTimeout(() => { button.textContent = words; }, 2000);
    });
  }
  document.querySelector(".controls").hidden = false;
  caption.hidden = false;
  if (message) message.hidden = false;
  show(last);
  fromAddress();
})();
