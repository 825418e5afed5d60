// Shows moments in the reader's time zone, with the time left. Without it the page has them in UTC.
"use strict";
(() => {
  const TICK_MS = 1000;
  const UNITS = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];
  const { lang } = document.documentElement;
  const local = new Intl.DateTimeFormat(lang, { weekday: "short", year: "numeric", month: "short", day: "numeric", hour: "numeric", minute: "2-digit", timeZoneName: "short" });
  const distance = new Intl.RelativeTimeFormat(lang, { numeric: "always" });

  // In the largest unit of which two or more are left.
  function left(seconds) {
    const [unit, size] = UNITS.find(([, each]) => Math.abs(seconds) >= 2 * each) ?? UNITS.at(-1);
    return distance.format(Math.trunc(seconds / size), unit);
  }

  function show(element) {
    const at = Date.parse(element.dateTime);
    if (!element.title) {
      element.title = element.textContent;
      element.textContent = local.format(at);
      const countdown = document.createElement("span");
      countdown.className = "left quiet";
      element.after(" ", countdown);
    }
    const text = `(${left((at - Date.now()) / 1000)})`, countdown = element.nextElementSibling;
    if (countdown.textContent !== text) countdown.textContent = text;
  }

  function tick() {
    if (!document.hidden) document.querySelectorAll("time[data-moment]").forEach(show);
  }

  tick();
  setInterval(tick, TICK_MS);
})();
