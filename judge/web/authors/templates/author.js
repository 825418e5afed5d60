// Signs in by the token behind the # of a link, follows a submission, and sends a file. It inserts no markup but that of
// the same page as it is now.
"use strict";
(() => {
  const LOOK_MS = 1500;
  const session = document.currentScript?.dataset.session ?? document.querySelector("script[data-session]").dataset.session;

  // The token goes into the body of one request, and out of the address and the history.
  const token = location.hash.slice(1);
  if (/^judge-[\w-]{16,200}$/.test(token)) {
    history.replaceState(null, "", location.pathname);
    const form = document.createElement("form");
    const input = document.createElement("input");
    form.method = "post";
    form.action = session;
    input.type = "hidden";
    input.name = "token";
    input.value = token;
    form.append(input);
    document.body.append(form);
    form.submit();
    return;
  }

  const told = document.getElementById("told");

  // --- a submission ----------------------------------------------------------------------------------------------------

  const progress = document.getElementById("progress");
  const over = () => [...progress.querySelectorAll(".stages .done, .stages .failed")].map((stage) => stage.innerText.trim());

  async function look() {
    if (!document.hidden) {
      try {
        const answer = await fetch(location.pathname, { cache: "no-store" });
        if (answer.status === 401) return location.reload();
        if (answer.ok) renew(new DOMParser().parseFromString(await answer.text(), "text/html"));
      } catch {
        // The next look tries again.
      }
    }
    if ("open" in progress.dataset) setTimeout(look, LOOK_MS);
  }

  function renew(page) {
    const fresh = document.importNode(page.getElementById("progress"), true);
    if (fresh.innerHTML === progress.innerHTML) return;
    const before = new Set(over());
    progress.replaceChildren(...fresh.childNodes);
    if (!("open" in fresh.dataset)) delete progress.dataset.open;
    const state = document.getElementById("state").textContent;
    told.textContent = [...over().filter((stage) => !before.has(stage)), state].join(". ");
  }

  if (progress && "open" in progress.dataset) setTimeout(look, LOOK_MS);

  // --- a file ------------------------------------------------------------------------------------------------------------

  const upload = document.getElementById("upload");
  const url = document.getElementById("url");
  if (url) url.textContent = new URL("..", new URL(upload.dataset.to, location.href)).href.replace(/\/$/, "");
  if (upload) {
    upload.hidden = false;
    upload.addEventListener("submit", async (event) => {
      event.preventDefault();
      const file = upload.elements.file.files[0];
      const button = upload.querySelector("button");
      const { name, title } = upload.elements;
      const query = new URLSearchParams({ filename: file.name, name: name.value, title: title.value });
      button.disabled = true;
      told.textContent = upload.dataset.busy;
      try {
        const answer = await fetch(`${upload.dataset.to}?${query}`, { method: "POST", body: file });
        const said = await answer.json();
        if (answer.status === 201) return void location.assign(`${upload.dataset.pages}${said.id}.html`);
        told.textContent = said.error;
      } catch (error) {
        told.textContent = String(error.message);
      }
      button.disabled = false;
    });
  }
})();
