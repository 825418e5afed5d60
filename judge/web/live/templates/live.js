// Continues a page while the contest is played: the events of its games come by server-sent events or, where these do not
// get through, by asking for them. It inserts no markup: shapes and texts only. Every event is a `judge-event` of the
// document, for whoever wants to do more with it.
"use strict";
(() => {
  const html = document.documentElement;
  const { root, log } = html.dataset;
  const game = Number(html.dataset.game ?? 0);
  const isStatic = "static" in html.dataset;
  const SILENT_MS = 15000, POLL_MS = 2000, STREAM_AGAIN_MS = 30000, TICK_MS = 100, RENEW_MS = 1000, PLOTS_MS = 4000, RESULT_MS = 10000;
  const MOST_MISSING = 20;
  const boards = document.getElementById("boards");
  const connection = document.getElementById("connection");
  const topic = game ? `&game=${game}` : "renew" in html.dataset ? "&moves=false" : "";
  // Boards show every event up to `seq`. The rest comes from the service, which numbers each page by the last event that it
  // shows (`data-seq`), and is renewed until that is at least `wantedSeq`.
  let seq = Number(html.dataset.seq), wantedSeq = seq;
  let aheadMs = -Infinity;
  let source = null, heardAt = 0, pollTimer = 0, tickTimer = 0, streamAt = 0, isLeaving = false, renewTimer = 0, missing = 0;

  // --- the page ------------------------------------------------------------------------------------------------------

  const SVG = "http://www.w3.org/2000/svg";
  const SHAPES = {
    rect: (x, y, width, height, rx, fill, stroke, w) => ["rect", { x, y, width, height, rx, fill, stroke, "stroke-width": w }],
    disc: (cx, cy, r, fill, stroke, w) => ["circle", { cx, cy, r, fill: fill ?? "none", stroke, "stroke-width": w }],
    shape: (points, fill, stroke, w) => ["polygon", { points: points.map((point) => point.join(",")).join(" "), fill: fill ?? "none", stroke, "stroke-width": w, "stroke-linejoin": "round" }],
    line: (x1, y1, x2, y2, stroke, w) => ["line", { x1, y1, x2, y2, stroke, "stroke-width": w, "stroke-linecap": "round" }],
    text: (x, y, text, size, fill, anchor) => ["text", { x, y, "font-size": size, fill, "text-anchor": anchor }, text],
  };

  function element(name, attributes = {}, text = "") {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) if (value !== null && value !== undefined) made.setAttribute(key, String(value));
    if (text) made.textContent = text;
    return made;
  }

  const painted = (shapes) => shapes.filter(([kind]) => Object.hasOwn(SHAPES, kind)).map(([kind, ...rest]) => element(...SHAPES[kind](...rest)));

  const runningOf = (event) => [...document.querySelectorAll(".running")].find((each) => Number(each.dataset.game) === event.game);

  function cells(...texts) {
    return texts.map((text) => {
      const cell = document.createElement("td");
      cell.textContent = text;
      return cell;
    });
  }

  // As judge/base/text.py writes it, in the language of the page.
  const units = JSON.parse(html.dataset.units ?? "{}");
  function duration(ms) {
    const decimal = (value) => String(Number(value.toFixed(1))).replace(".", units["."]);
    if (Math.round(ms) < 1000) return `${ms >= 10 ? ms.toFixed(0) : decimal(ms)} ${units.ms}`;
    if (Number((ms / 1000).toFixed(1)) < 60) return `${decimal(ms / 1000)} ${units.s}`;
    ms = Math.max(ms, 60000);
    const two = (value, base, large, small) => `${Math.floor(value / base)} ${large}${value % base ? ` ${value % base} ${small}` : ""}`;
    if (ms < 3600000) return two(Math.floor(ms / 1000), 60, units.min, units.s);
    if (ms < 86400000) return two(Math.floor(ms / 60000), 60, units.h, units.min);
    return two(Math.floor(ms / 3600000), 24, units.d, units.h);
  }

  const mib = (count) => (Number.isFinite(count) ? measure(`${(count / 1048576).toFixed(1)} MiB`) : "");

  // A number or a time that judge/base/text.py wrote, in the language of the page.
  const measure = (text) => text.replace(/\b(?:ms|s|min|h|d)\b/g, (unit) => units[unit]).replaceAll(".", units["."]);

  const nameOf = (running, seat) => running.querySelector(`[data-seat="${seat}"] bdi`).textContent;

  function draw(running, { pieces: drawn, marks }, emptied) {
    const pieces = running.querySelector(".film .pieces");
    const known = JSON.parse(running.dataset.words ?? "{}");
    if (!pieces) return;
    const rows = running.querySelectorAll(".squares tbody tr");
    const at = (x, y) => [pieces.querySelector(`[data-at="${x} ${y}"]`), rows[y]?.cells[x + 1]];
    for (const [x, y] of emptied) {
      const [piece, square] = at(x, y);
      piece?.remove();
      if (square) square.textContent = "";
    }
    for (const [x, y, shapes, words] of drawn) {
      const [piece, square] = at(x, y);
      const made = element("g", { "data-at": `${x} ${y}` });
      made.append(...painted(shapes));
      if (piece) piece.replaceWith(made);
      else pieces.append(made);
      if (square) square.textContent = words.split(" ").map((word) => (Object.hasOwn(known, word) ? known[word] : word)).join(" ");
    }
    running.querySelector(".film .marks").replaceChildren(...painted(marks));
  }

  function move(event, running) {
    draw(running, event.paint, event.emptied);
    if (event.seats) exchangeSides(running);
    const name = nameOf(running, event.seat);
    const time = duration(event.charged_ms);
    setClocks(running, event.clock ?? { seat: "-", since_ms: "-", left_ms: event.left_ms });
    const last = running.querySelector("[data-last]");
    if (last) last.textContent = `${event.notation} ${name} ${time}`;
    search(event, running);
    if (event.paint.height !== undefined) extendCurve(running, event);
    const moves = running.querySelector("[data-moves]");
    if (!moves) return;
    const list = moves.closest(".list");
    const isAtEnd = list.scrollTop + list.clientHeight >= list.scrollHeight - 40;
    const row = document.createElement("tr");
    row.id = String(event.ply);
    row.className = `s${event.seat}`;
    const left = event.left_ms[event.seat];
    const words = [...Object.entries(event.search).map(([key, value]) => `${key} ${value}`), ...event.messages].join(" · ");
    const said = event.notation.replace(/^[0-9]+\.(?:\.\.)? /, "");
    row.append(...cells("", name, said, time, left === null ? "" : clockText(left), mib(event.memory_bytes), words));
    const link = document.createElement("a");
    link.href = `#${event.ply}`;
    link.textContent = String(Number(moves.dataset.moves) + event.ply);
    row.cells[0].append(link);
    moves.append(row);
    if (!source) plotsSoon();
    if (isAtEnd) list.scrollTop = list.scrollHeight;
    tell(`${event.notation} ${name}, ${time}`);
  }

  // --- boards of all games -------------------------------------------------------------------------------------------

  const numberOf = (card) => Number(card.dataset.game);

  function addCard({ game: number, attempt }, { titles, authors, stage }) {
    const card = document.getElementById("card").content.firstElementChild.cloneNode(true);
    const link = card.querySelector("a"), label = link.textContent.replace("{number}", number);
    Object.assign(card.dataset, { game: number, attempt });
    card.setAttribute("aria-label", label);
    link.textContent = label;
    link.href = `games/${String(number).padStart(5, "0")}.html`;
    const words = JSON.parse(boards.dataset.stages);
    card.querySelector("[data-stage]").textContent = Object.hasOwn(words, stage) ? words[stage] : stage;
    for (const seat of [0, 1]) {
      card.querySelector(`[data-seat="${seat}"] bdi`).textContent = titles[seat];
      card.querySelector(`[data-seat="${seat}"] [data-author]`).textContent = authors[seat];
    }
    removeCard({ game: number });
    const cards = [...boards.querySelectorAll(".running")];
    boards.insertBefore(card, cards.find((each) => numberOf(each) > number) ?? null);
    return card;
  }

  const removeCard = (event) => runningOf(event)?.remove();

  // An attempt may begin again: nothing of its card counts.
  function playing(event) {
    const { names, titles } = event.paint, { followed } = boards.dataset;
    if (followed && !names.includes(followed)) return;
    const card = addCard(event, event.paint);
    for (const clock of card.querySelectorAll("[data-clock]")) clock.textContent = clockText(0);
    setClocks(card, { seat: "-", since_ms: "-", left_ms: event.left_ms });
    if (!event.board) return;
    const film = document.getElementById("film").content.firstElementChild.cloneNode(true);
    film.querySelector("title").textContent = titles.join(" - ");
    card.querySelector(".room").replaceWith(film);
    draw(card, event.paint, []);
    if (event.board.seats[0] !== 0) exchangeSides(card);
  }

  function stopClocks(running) {
    const [, , , ...left] = running.dataset.clocks.split(" ");
    setClocks(running, { seat: "-", since_ms: "-", left_ms: left });
  }

  // The last position stays with its result for some seconds. What it says in the language of the page comes with the page.
  function ended(event) {
    const card = runningOf(event);
    if (!card) return;
    stopClocks(card);
    card.classList.add("over");
    const result = card.querySelector("[data-result]");
    result.append(Object.assign(document.createElement("b"), { textContent: event.score }));
    result.hidden = false;
    const over = [...boards.querySelectorAll(".over")];
    over.slice(0, -Number(boards.dataset.over)).forEach((each) => each.remove());
  }

  function renewResults() {
    for (const card of boards.querySelectorAll(".over")) {
      const words = document.querySelector(`#ended [data-game="${card.dataset.game}"] [data-outcome]`);
      const result = card.querySelector("[data-result]");
      if (words && result.childNodes.length === 1) result.append(" ", words.textContent);
    }
  }

  function removeOver(now) {
    for (const card of document.querySelectorAll(".running.over")) {
      card.dataset.until ??= now + RESULT_MS;
      if (now >= Number(card.dataset.until)) card.remove();
    }
  }

  function extendCurve(running, { seat, ply, paint: { height } }) {
    const curve = running.querySelector("[data-curve]");
    if (!curve) return;
    const path = curve.querySelector(`.seat${seat}`), before = path.getAttribute("d"), plot = curve.querySelector("svg");
    path.setAttribute("d", before ? `${before}L${ply} ${height}` : `M${ply} ${height}l0 0`);
    plot.setAttribute("viewBox", `0 0 ${Math.max(plot.viewBox.baseVal.width, ply)} 100`);
    curve.hidden = false;
  }

  function exchangeSides(running) {
    for (const part of [".swatch", "[data-side]"]) {
      const [first, second] = [0, 1].map((seat) => running.querySelector(`[data-seat="${seat}"] ${part}`));
      second.replaceWith(first.cloneNode(true));
      first.replaceWith(second);
    }
  }

  // --- what is told, and plots ---------------------------------------------------------------------------------------

  // Each sentence is said once: a new element in a live region, and only the last ones stay.
  function tell(text) {
    const region = document.getElementById("told");
    if (!region) return;
    const said = document.createElement("span");
    said.textContent = `${text}. `;
    region.append(said);
    while (region.childElementCount > 5) region.firstElementChild.remove();
  }

  function search(event, running) {
    const line = running.querySelector(`[data-search="${event.seat}"]`);
    if (line && event.paint.words) line.textContent = event.paint.words;
  }

  // The service draws the plots, for all viewers at once.
  function plots(event) {
    if (event.game !== game || Number(document.querySelector(".running")?.dataset.attempt) !== event.attempt) return;
    for (const { name, width, paths, low, high } of event.plots) {
      const figure = document.querySelector(`[data-plot="${name}"]`);
      if (!figure) continue;
      const range = figure.querySelector("[data-range]"), plot = figure.querySelector("svg");
      const said = (words) => words.replace("{low}", measure(low)).replace("{high}", measure(high));
      range.textContent = said(range.dataset.range);
      plot.setAttribute("aria-label", said(plot.dataset.label));
      plot.setAttribute("viewBox", `0 0 ${width} 100`);
      const zero = plot.querySelector(".zero");
      zero?.setAttribute("d", `M0 50H${width}`);
      paths.forEach((path, seat) => plot.querySelector(`.seat${seat}`).setAttribute("d", path));
      figure.hidden = false;
    }
  }

  // Without a stream they are asked for.
  let plotTimer = 0;
  function plotsSoon() {
    if (!plotTimer) plotTimer = setTimeout(renewPlots, PLOTS_MS * (0.5 + Math.random()));
  }

  async function renewPlots() {
    plotTimer = 0;
    if (source) return;
    try {
      const answer = await fetch(`${root}plots/${String(game).padStart(5, "0")}.json`, { cache: "no-store" });
      if (!answer.ok) return;
      const drawn = await answer.json();
      plots(drawn);
      if (drawn.moves < document.querySelectorAll("[data-moves] tr").length) plotsSoon();
    } catch {
      plotsSoon();
    }
  }

  // --- the rest of the page --------------------------------------------------------------------------------------------

  const isGone = () => missing >= MOST_MISSING;

  // A page that many answers in a row do not know is gone: it stays as it is, and asks for nothing more.
  async function ask(address) {
    const answer = await fetch(address, { cache: "no-store" });
    missing = answer.status === 404 ? missing + 1 : 0;
    if (isGone()) {
      end();
      say("");
    }
    if (!answer.ok) throw new Error(String(answer.status));
    return answer;
  }

  function renewSoon() {
    if (!renewTimer && !isGone()) renewTimer = setTimeout(renewPage, RENEW_MS * Math.random());
  }

  async function renewPage() {
    renewTimer = 0;
    const main = document.querySelector("main");
    const isUsed = main.contains(document.activeElement);
    if (document.hidden || (isUsed && "renew" in html.dataset)) return renewSoon();
    try {
      const asked = new URL(location.href);
      if (boards) asked.searchParams.set("boards", "no");
      const answer = await ask(asked.href);
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      const number = Number(fresh.documentElement.dataset.seq);
      if (number >= Number(html.dataset.seq)) replaceMain(main, [...document.importNode(fresh.querySelector("main"), true).childNodes]);
      html.dataset.seq = String(Math.max(number, Number(html.dataset.seq)));
      if (number < wantedSeq) renewSoon();
    } catch {
      renewSoon();
    }
  }

  function replaceMain(main, parts) {
    const opened = [...main.querySelectorAll(":scope > details")].map((details) => details.open);
    const at = parts.findIndex((node) => node.id === "boards");
    if (at < 0) main.replaceChildren(...parts);
    else {
      for (const node of [...main.childNodes]) if (node !== boards) node.remove();
      boards.before(...parts.slice(0, at));
      boards.after(...parts.slice(at + 1));
      Object.assign(boards.dataset, parts[at].dataset);
      renewResults();
    }
    main.querySelectorAll(":scope > details").forEach((details, at) => (details.open = opened[at] ?? details.open));
  }

  // The same address shows the next page of the game: not all viewers ask for it at once.
  function leave() {
    if (isLeaving) return;
    isLeaving = true;
    setTimeout(reload, 200 + 800 * Math.random());
  }

  // Only when the service answers: a page of an error has no script that would try again.
  async function reload() {
    try {
      const answer = await ask(location.href);
      await answer.body?.cancel();
      location.reload();
    } catch {
      if (!isGone()) setTimeout(reload, POLL_MS * (0.5 + Math.random()));
    }
  }

  function apply(event) {
    if (event.seq <= seq) return;
    seq = event.seq;
    if (event.type === "ended") tell(`${html.dataset.said.replace("{number}", event.game)} ${event.outcome}`);
    show(event);
    document.dispatchEvent(new CustomEvent("judge-event", { detail: event }));
  }

  const WITHIN = {
    move,
    search,
    turn: (event, running) => (event.clock ? setClocks(running, event.clock) : stopClocks(running)),
  };
  const CARDS = { playing, ended, void: removeCard };

  function show(event) {
    const running = runningOf(event), within = WITHIN[event.type];
    if (within) {
      if (running && Number(running.dataset.attempt) === event.attempt) within(event, running);
      return;
    }
    if (boards) CARDS[event.type]?.(event);
    if (game) {
      if (event.game === game) leave();
    } else {
      wantedSeq = event.seq;
      renewSoon();
    }
  }

  // --- clocks --------------------------------------------------------------------------------------------------------

  function setClocks(running, clock) {
    const number = (value) => (value === null || value === undefined ? "-" : value);
    running.dataset.clocks = [clock.seat, clock.since_ms, number(clock.turn_ms), ...clock.left_ms.map(number)].join(" ");
    tickOne(running);
  }

  // As judge/base/text.py writes it.
  function clockText(ms) {
    const tenths = Math.max(0, Math.floor(ms / 100));
    if (tenths < 600) return `${(tenths / 10).toFixed(1).replace(".", units["."])} ${units.s}`;
    const whole = Math.floor(tenths / 10), hours = Math.floor(whole / 3600), minutes = Math.floor(whole / 60) % 60;
    const two = (value) => String(value).padStart(2, "0");
    return `${hours ? `${hours}:${two(minutes)}` : minutes}:${two(whole % 60)}`;
  }

  // A clock shows what is left of the match, else of the turn, else how long the turn takes: by the judge's own time.
  function tick() {
    removeOver(Date.now());
    for (const running of document.querySelectorAll(".running")) tickOne(running);
  }

  function tickOne(running) {
    const [seat, since, turn, ...left] = running.dataset.clocks.split(" ");
    const ran = seat === "-" ? 0 : Math.max(0, Date.now() + (aheadMs === -Infinity ? 0 : aheadMs) - Number(since));
    for (const number of [0, 1]) {
      const clock = running.querySelector(`[data-seat="${number}"] [data-clock]`);
      const runs = String(number) === seat;
      clock.classList.toggle("runs", runs);
      let text = clock.textContent;
      if (left[number] !== "-") text = clockText(Number(left[number]) - (runs ? ran : 0));
      else if (runs) text = clockText(turn === "-" ? ran : Number(turn) - ran);
      if (text !== clock.textContent) clock.textContent = text;
    }
  }

  function synchronise(nowMs) {
    // The answer took its time, so the largest difference is the truest one.
    aheadMs = Math.max(aheadMs, nowMs - Date.now());
  }

  // --- the stream ----------------------------------------------------------------------------------------------------

  // Which of the sentences that the page has for it.
  function say(state) {
    if (!connection) return;
    const text = connection.dataset[state] ?? "";
    if (connection.textContent !== text) connection.textContent = text;
    connection.hidden = !text;
  }

  const isOther = (name) => Boolean(name) && name !== log;

  function listen() {
    streamAt = Date.now();
    heardAt = Date.now();
    source = new EventSource(`${root}events?since=${seq}${topic}`);
    const heard = (work) => (message) => {
      heardAt = Date.now();
      clearTimeout(pollTimer);
      pollTimer = 0;
      say("stream");
      work(JSON.parse(message.data));
    };
    const met = heard(({ now_ms, viewers, log: name }) => {
      synchronise(now_ms);
      const count = document.getElementById("viewers");
      if (count) count.textContent = String(viewers);
      if (isOther(name)) leave();
    });
    source.addEventListener("hello", met);
    source.addEventListener("beat", met);
    source.addEventListener("plots", heard(plots));
    source.addEventListener("again", heard(leave));
    source.onmessage = heard(apply);
    source.onerror = () => {
      // The browser would try again with the address of the page's own number; the number may be old by then.
      stop();
      pollSoon();
    };
  }

  function stop() {
    source?.close();
    source = null;
    clearTimeout(pollTimer);
    pollTimer = 0;
  }

  function pollSoon(ms = POLL_MS) {
    if (!pollTimer && !document.hidden && !isGone()) pollTimer = setTimeout(poll, ms * (0.5 + Math.random()));
  }

  async function poll() {
    pollTimer = 0;
    try {
      if (isStatic) await pollFiles();
      else {
        const answer = await fetch(`${root}feed?since=${seq}${topic}`, { cache: "no-store" });
        if (!answer.ok) throw new Error(String(answer.status));
        synchronise(Number(answer.headers.get("judge-now-ms")));
        if (isOther(answer.headers.get("judge-log"))) return leave();
        take(await answer.text());
      }
      say("poll");
      if (!isStatic && Date.now() - streamAt > STREAM_AGAIN_MS) return listen();
    } catch {
      say("lost");
    }
    pollSoon();
  }

  function take(text) {
    for (const line of text.split("\n")) if (line) apply(JSON.parse(line));
  }

  async function pollFiles() {
    const head = await (await fetch(`${root}feed/head.json`, { cache: "no-store" })).json();
    if (isOther(head.log)) return leave();
    synchronise(head.now_ms);
    while (seq < head.seq) {
      const before = seq;
      const chunk = String(Math.floor(seq / head.events_per_file)).padStart(6, "0");
      const answer = await fetch(`${root}feed/${chunk}.ndjson`, { cache: "no-store" });
      if (!answer.ok) throw new Error(String(answer.status));
      take(await answer.text());
      if (seq === before) return;
    }
  }

  function begin() {
    if (document.hidden || isGone()) return;
    tickTimer = setInterval(() => {
      tick();
      if (source && Date.now() - heardAt > SILENT_MS) {
        stop();
        pollSoon(0);
      }
    }, TICK_MS);
    if (isStatic) pollSoon(0);
    else listen();
  }

  function end() {
    stop();
    clearInterval(tickTimer);
  }

  document.addEventListener("visibilitychange", () => {
    end();
    begin();
  });
  window.addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
  begin();
})();
