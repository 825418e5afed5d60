// A second verifier of an export. It shares no code with the judge, and needs no package and, for a directory, no
// network:
//
//     node verify.mjs DIRECTORY [KEY.pem] [--since CHECKPOINT] [--witness KEYS]
//
// verify.html runs it in a browser on a directory that the reader chooses, an export, or a cup with an export of each
// league; or on the files of its own site that the manifest lists. It checks the signature and digest of every file, the results against the records, the tables against the
// results, and that the log has all results and extends an old checkpoint. It replays no game: `judge contest verify`
// checks that records follow from the rules. The report lists what was not checked, and decisions that no verifier can
// judge.
"use strict";
(() => {
  const MANIFEST = "manifest.json", SIGNATURE = "manifest.sig", KEY = "organiser.pem";
  const WRITTEN_BY_FIRST_VERSION =
    "judge 0.1.0 (commit 08c8ff3) wrote this, and this version cannot read it; use judge 0.1.0 (commit 08c8ff3)";
  const DOCUMENT = "contest.json", CUP = "cup.json", ANNOUNCEMENT = "announcement.json", CHANCE = "chance.json", CHECKPOINT = "log/checkpoint";
  const TABLES = ["standings", "crosstable", "pairs", "games", "pairings", "disqualified", "attempts", "journal"];
  const OPTIONAL = ["withdrawn", "entered"];
  const MOST_PROBLEMS = 50;

  // Bytes, as the judge bounds them; a larger file is not read.
  const LARGEST_MANIFEST = 128 << 20, LARGEST_TABLE = 256 << 20, LARGEST_RECORD = 448 << 20;
  const LARGEST_DOCUMENT = 4 << 20, LARGEST_CHECKPOINT = 16 << 10, LARGEST_TILE = 256 * (0xffff + 2);
  const LARGEST_SERVED_MANIFEST = 16 << 20;
  const LARGEST_KEYS = 64 << 10, MOST_WITNESSES = 100;

  /** Text of an export, cut and without control characters. */
  const plain = (text) => String(text).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "\ufffd").slice(0, 500);

  class Report {
    contest = "";
    manifest = "";
    key = "";
    problems = [];
    checked = [];
    notes = []; // Decisions of the organiser and failures of the host. A verifier cannot check whether they were right.
    unchecked = [
      "that records follow from the rules and the agents' output: judge contest verify replays them",
      "schedule, openings and draw of lots: judge contest verify recomputes them",
      "ratings, fairness, pages, PGN, text of the journal, non-ASCII characters of CSV: only their signature",
    ];

    expect(isTrue, problem) {
      if (!isTrue) this.problems.push(problem);
    }

    /** Reports each value of `expected` that differs in `found`; floats may differ by `slack`. */
    compare(place, found, expected, slack = 0) {
      if (expected !== null && typeof expected === "object") {
        if (Array.isArray(expected)) this.compare(`${place}, length`, found?.length, expected.length);
        for (const key of Object.keys(expected)) this.compare(`${place}, ${key}`, found?.[key], expected[key], slack);
        return;
      }
      const areNumbers = typeof found === "number" && typeof expected === "number";
      const most = slack * Math.max(1, Math.abs(found), Math.abs(expected));
      const isNear = areNumbers && Math.abs(found - expected) <= most;
      this.expect(found === expected || isNear, `${place}: found ${found}, expected ${expected}`);
    }

    /** The report as lines. */
    lines() {
      const count = this.problems.length;
      const more = count > MOST_PROBLEMS ? [`and ${count - MOST_PROBLEMS} more`] : [];
      return [
        ...[...this.problems.slice(0, MOST_PROBLEMS), ...more].map((text) => `problem: ${plain(text)}`),
        ...this.checked.map((text) => `checked: ${plain(text)}`),
        ...this.unchecked.map((text) => `not checked: ${plain(text)}`),
        `manifest ${this.manifest}`,
        `key      ${this.key}`,
        ...this.notes.map((text) => `note     ${plain(text)}`),
        count ? `FAILED: ${count} problem${count > 1 ? "s" : ""}` : `ok: ${plain(this.contest)}`,
      ];
    }
  }

  // --- bytes and lists -----------------------------------------------------------------------------------------------

  const hex = (bytes) => [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const unhex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  const utf8 = (text) => new TextEncoder().encode(text);
  const decoded = (bytes) => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  // TextDecoder's Latin-1 is Windows-1252, and a record has each byte as the character of that number.
  const latin1 = (text) => Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  const base64 = (bytes) => btoa(String.fromCharCode(...bytes));
  const unbase64 = (text) => latin1(atob(text));

  /** The bytes of a text in canonical Base64. */
  function fromBase64(text) {
    const bytes = unbase64(text);
    if (base64(bytes) !== text) throw new Error("not in Base64");
    return bytes;
  }

  const joined = (parts) => Uint8Array.from(parts.flatMap((part) => [...part]));

  // Node.js has a faster one: a log has many short leaves.
  let digestOf = (bytes) => crypto.subtle.digest("SHA-256", bytes);
  const sha256 = async (bytes) => hex(await digestOf(bytes));
  const hashed = async (...parts) => new Uint8Array(await digestOf(joined(parts)));

  // y coordinates of the points of Curve25519 whose order divides 8, in each encoding that is read.
  const FIELD = (1n << 255n) - 19n;
  const ORDER_8 = 0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n;
  const SMALL_ORDER = new Set([0n, 1n, ORDER_8, FIELD - ORDER_8, FIELD - 1n, FIELD, FIELD + 1n]);

  /** Refuses a key that is a point of small order, for which anyone can make signatures. */
  function safeKey(key) {
    const y = BigInt(`0x${hex(key.slice().reverse())}`) & ((1n << 255n) - 1n);
    if (SMALL_ORDER.has(y)) throw new Error("a key of small order, with which anyone can sign");
    return key;
  }

  async function isSignature(key, signature, data) {
    const imported = await crypto.subtle.importKey("raw", key, { name: "Ed25519" }, false, ["verify"]);
    return crypto.subtle.verify({ name: "Ed25519" }, imported, signature, data);
  }

  const MOST_DEPTH = 100;

  /** The number of colons outside of strings in a JSON text, and its numbers as text. */
  function scanned(text) {
    const numbers = [], part = /[-+.0-9eE]/;
    let colons = 0;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === 58) colons++;
      else if (code === 34) {
        for (at++; text.charCodeAt(at) !== 34; at++) if (text.charCodeAt(at) === 92) at++;
      } else if (code === 45 || (code >= 48 && code <= 57)) {
        const start = at;
        while (part.test(text[at + 1] ?? "")) at++;
        numbers.push(text.slice(start, at + 1));
      }
    }
    return { colons, numbers };
  }

  /** A JSON value, and its numbers as text. Refuses JSON that other parsers may read differently. */
  function parsed(bytes, name) {
    const text = decoded(bytes);
    const value = JSON.parse(text); // first, because `scanned` needs valid JSON
    const { colons, numbers } = scanned(text);
    const mayBreak = /\\u[dD][89a-fA-F]/.test(text);
    const refuse = (why) => {
      throw new Error(`${name}: ${why}`);
    };
    const check = (inner) => {
      if (typeof inner === "number" && !Number.isFinite(inner)) refuse("a number is too large");
      if (mayBreak && typeof inner === "string" && /\p{Cs}/u.test(inner)) refuse("half of a surrogate pair");
      return inner !== null && typeof inner === "object";
    };
    let keys = 0, level = check(value) ? [value] : [];
    for (let depth = 1; level.length; depth++) {
      if (depth > MOST_DEPTH) refuse(`values are nested deeper than ${MOST_DEPTH}`);
      const next = [];
      for (const holder of level) {
        if (Array.isArray(holder)) {
          for (const inner of holder) if (check(inner)) next.push(inner);
          continue;
        }
        for (const key of Object.keys(holder)) {
          keys++;
          check(key);
          if (check(holder[key])) next.push(holder[key]);
        }
      }
      level = next;
    }
    if (keys !== colons) refuse("an object has a key twice");
    return { value, numbers, text };
  }

  const parse = (bytes, name) => parsed(bytes, name).value;

  /** A number in Python's notation: the same digits, with an exponent below 0.0001 and from 10^16. */
  function pythonNumber(token) {
    if (/^-?[0-9]+$/.test(token)) return BigInt(token).toString();
    const value = Number(token), sign = value < 0 || Object.is(value, -0) ? "-" : "";
    if (value === 0) return `${sign}0.0`;
    const [mantissa, exponent] = Math.abs(value).toExponential().split("e");
    const digits = mantissa.replace(".", ""), power = Number(exponent);
    if (power < -4 || power >= 16) {
      const tail = digits.length > 1 ? `.${digits.slice(1)}` : "";
      return `${sign}${digits[0]}${tail}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
    }
    if (power < 0) return `${sign}0.${"0".repeat(-power - 1)}${digits}`;
    const whole = digits.slice(0, power + 1).padEnd(power + 1, "0");
    return `${sign}${whole}.${digits.slice(power + 1) || "0"}`;
  }

  /** Canonical JSON of a manifest: sorted keys, no spaces, ASCII. */
  function canonical(value) {
    if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
    if (value !== null && typeof value === "object") {
      return `{${Object.keys(value).sort().map((key) => `${canonical(key)}:${canonical(value[key])}`).join(",")}}`;
    }
    const escaped = (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;
    return JSON.stringify(value).replace(/[\u007f-\uffff]/g, escaped);
  }

  const total = (items, numberOf) => items.reduce((sum, item) => sum + numberOf(item), 0);

  /** The items of each key. */
  function grouped(items, keyOf) {
    const groups = new Map();
    for (const item of items) {
      const key = keyOf(item);
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push(item);
    }
    return groups;
  }

  // --- files and records ---------------------------------------------------------------------------------------------

  /** The 32 bytes of an Ed25519 public key in PEM (RFC 8410: they are the last of its DER). */
  function rawKey(pem) {
    const found = /-----BEGIN PUBLIC KEY-----([^-]+)-----END PUBLIC KEY-----/.exec(new TextDecoder().decode(pem));
    const der = unbase64(found === null ? "" : found[1].replace(/\s/g, ""));
    if (der.length !== 44 || hex(der.slice(0, 12)) !== "302a300506032b6570032100") {
      throw new Error("not an Ed25519 public key in PEM");
    }
    return safeKey(der.slice(12));
  }

  async function checkFiles({ files, read, key, report }) {
    const data = await read(MANIFEST, LARGEST_MANIFEST);
    report.manifest = await sha256(data);
    report.key = await sha256(key);
    const isSigned = await isSignature(key, await read(SIGNATURE, 64), data);
    report.expect(isSigned, `${SIGNATURE}: not signed by the key ${report.key.slice(0, 16)}`);
    const manifest = parse(data, MANIFEST);
    const hasForm = ({ path, sha256: digest, size }) =>
      PLAIN.test(path) && /^[0-9a-f]{64}$/.test(digest) && Number.isSafeInteger(size) && size >= 0;
    if (typeof manifest.contest !== "string" || !Array.isArray(manifest.files) || !manifest.files.every(hasForm)) {
      throw new Error(`${MANIFEST}: not a manifest`);
    }
    report.contest = manifest.contest;
    const listed = new Map(manifest.files.map((file) => [file.path, file]));
    const sorted = [...listed.values()].sort((one, other) => (one.path < other.path ? -1 : 1));
    const form = canonical({ contest: manifest.contest, files: sorted, format: "judge-manifest-1" });
    report.expect(`${form}\n` === decoded(data), `${MANIFEST}: not canonical JSON`);
    const names = new Set([...files.keys()].filter((name) => name !== MANIFEST && name !== SIGNATURE));
    for (const [name, file] of listed) {
      if (!names.delete(name)) report.problems.push(`${name}: missing`);
      // A file of another size is not read.
      else if ((await files.get(name).size()) !== file.size) report.problems.push(`${name}: changed`);
      else report.expect((await sha256(await read(name, file.size))) === file.sha256, `${name}: changed`);
    }
    for (const name of names) report.problems.push(`${name}: not in the manifest`);
    report.checked.push(`${listed.size} files against the manifest, and its signature`);
  }

  const PLAIN = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}(\/[A-Za-z0-9_][A-Za-z0-9._-]{0,127})*$/;
  const PAGE = new RegExp(
    "^([a-z]{2,3}(-[A-Za-z]{2,4})?/)?((games|agents|pairs|rounds)/[0-9][0-9-]*[.](html|png)|[a-z][a-z0-9_-]*[.]html)$",
  );
  const TOP = new RegExp(
    "^((manifest|contest|chance|joined)[.]json|manifest[.]sig|organiser[.]pem|games[.]pgn|[a-z]+[.](css|js|mjs))$",
  );
  const WITNESSED = /^log\/witness\/[0-9a-f]{8}$/;

  /** Reports unexpected files. Pages are recognised only by their names. */
  function checkNames({ files, tables, report }, tiles) {
    const data = [...TABLES, ...OPTIONAL, "fairness", "histories"].flatMap((name) => [`data/${name}.csv`, `data/${name}.json`]);
    const records = [...tables.games, ...tables.attempts].map(({ record }) => record);
    const known = new Set([...data, "data/README.md", ...records, ...tiles, ...(tiles.length ? [CHECKPOINT] : [])]);
    for (const name of [...files.keys()].sort()) {
      const isKnown = known.has(name) || [PAGE, TOP, WITNESSED].some((kind) => kind.test(name));
      report.expect(isKnown, `${name}: unexpected file`);
    }
  }

  /** The digest of a transcript: for each block its public entries and the digest of its private ones. */
  async function transcriptDigest({ blocks }) {
    const digests = [];
    for (const { entries, private_sha256 } of blocks) {
      const parts = entries.flatMap(([ns, seat, kind, text]) => {
        // In place of a private text: its length, or that and its line ends.
        const isPublic = typeof text === "string";
        const [length, data, tag] = isPublic ? [text.length, text, "o"] : Array.isArray(text) ? [...text, "e"] : [text, "", "p"];
        const head = new DataView(new ArrayBuffer(14));
        if (!Number.isSafeInteger(ns) || ns < 0) throw new Error(`invalid time in a transcript: ${ns}`);
        const isEntry = Number.isInteger(seat) && Math.abs(seat) < 128 && /^[!-~]$/.test(kind);
        const isText = length >= 0 && length < 2 ** 32 && Number.isInteger(length) && /^[\0-\xff]*$/.test(data);
        if (!isEntry || !isText) throw new Error(`invalid entry in a transcript, at ${ns} ns`);
        head.setBigUint64(0, BigInt(ns), true);
        head.setInt8(8, seat);
        head.setUint8(9, kind.charCodeAt(0));
        head.setUint32(10, length, true);
        return [new Uint8Array(head.buffer), latin1(`${data}${tag}`)];
      });
      digests.push(unhex(await sha256(joined(parts))), unhex(private_sha256));
    }
    return sha256(joined(digests));
  }

  /** The columns of games.json that follow from a record. */
  function claims(record, row) {
    const { attempt, verdict, reason, result, seconds, winner } = record;
    const said = { number: record.spec.number, id: record.id, attempt, verdict, reason, result, seconds };
    said.winner = winner === null ? null : [row.first, row.second][winner];
    for (const [seat, side] of ["first", "second"].entries()) {
      said[`${side}_fault`] = record.seats[seat].fault;
      said[`${side}_charged_ms`] = record.seats[seat].charged_ms;
      said[`${side}_replies`] = record.plies.filter((ply) => ply.seat === seat).length;
    }
    return said;
  }

  const INSTANT = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{3}([0-9]{3})?)?[+]00:00$/;

  /** Whether a text is a valid time in UTC. */
  function isTime(text) {
    if (typeof text !== "string" || !INSTANT.test(text) || text.startsWith("0000")) return false;
    const found = new Date(`${text.slice(0, 19)}Z`);
    return !Number.isNaN(found.getTime()) && found.toISOString().slice(0, 19) === text.slice(0, 19);
  }

  /** Reports invalid measurements: negative, too large, or not a number. */
  function checkMeasurements(record, name, report) {
    const { seconds, judge_late_ms = 0, seats, plies, placement, started_at } = record;
    const ofSeat = (seat) => [
      seat.charged_ms, seat.lingered_ms ?? 0, seat.cpu_ms, seat.memory_peak_bytes,
      ...Object.values(seat.folders ?? {}).flatMap(({ used_bytes, used_inodes }) => [used_bytes, used_inodes]),
    ];
    const own = placement.seat_cores ?? [];
    const cores = [...placement.judge_cores, ...placement.slot_cores, ...own.flat()];
    const measured = [
      seconds, judge_late_ms, ...cores,
      ...seats.flatMap(ofSeat), ...plies.flatMap(({ ms, memory_bytes }) => [ms, memory_bytes]),
    ];
    const isPossible = (value) =>
      value == null || (typeof value === "number" && value >= 0 && value <= Number.MAX_SAFE_INTEGER);
    const wrong = measured.find((value) => !isPossible(value));
    report.expect(wrong === undefined, `${name}: invalid measurement: ${wrong}`);
    report.expect(isTime(started_at), `${name}: invalid time: ${started_at}`);
    const sorted = (numbers) => [...numbers].sort((a, b) => a - b).join();
    const isDivided = own.length === 2 && own.every((each) => each.length) && sorted(own.flat()) === sorted(new Set(placement.slot_cores));
    const isPossibleDivision = record.spec.policy.clock?.ponder ? isDivided : !own.length;
    report.expect(isPossibleDivision, `${name}: the cores of the seats do not fit clock.ponder`);
  }

  /** The record of an attempt, compared with its digests. */
  async function readRecord({ read, report }, path, number, attempt, files) {
    const { record, transcript } = parse(await read(path, LARGEST_RECORD), path);
    report.compare(`${path}, attempt`, record.attempt, attempt);
    report.compare(`${path}, files`, record.spec.seats.map((seat) => seat.digest), files);
    checkMeasurements(record, path, report);
    const digest = await transcriptDigest(transcript);
    report.compare(`game ${number}, transcript`, [transcript.sha256, record.transcript_sha256], [digest, digest]);
    return record;
  }

  async function checkRecords(it) {
    const { contest, tables, report } = it;
    const digests = new Map(contest.entries.map(({ name, seat }) => [name, seat.digest]));
    const filesOf = (row) => [row.first, row.second].map((name) => digests.get(name));
    const played = tables.games.filter((row) => row.state === "done");
    for (const row of played) {
      const record = await readRecord(it, row.record, row.number, row.attempt, filesOf(row));
      report.compare(`game ${row.number}`, row, claims(record, row));
      report.expect(record.verdict !== "void", `${row.record}: void, so it cannot count`);
    }
    const byNumber = new Map(tables.games.map((row) => [row.number, row]));
    const listed = new Set(played.map((row) => `${row.number} ${row.attempt}`));
    for (const { number, attempt, state, record: path } of tables.attempts) {
      const row = byNumber.get(number), key = `${number} ${attempt}`;
      if (row === undefined) throw new Error(`attempts.json: unknown game ${number}`);
      report.expect(!listed.has(key), `attempts.json: game ${number} has an attempt twice, or one that counts`);
      report.expect(UNCOUNTED.has(state), `attempts.json: game ${number}: ${state} is not the state of an uncounted attempt`);
      listed.add(key);
      const record = await readRecord(it, path, number, attempt, filesOf(row));
      report.compare(`${path}, game`, record.id, row.id);
      const isVoid = record.verdict === "void" && record.winner === null;
      report.expect(isVoid || state !== "void", `${path}: its verdict is ${record.verdict}; in the tables it is void`);
    }
    report.checked.push(`${played.length} records against the results, and their transcripts against their digests`);
  }

  // --- tables --------------------------------------------------------------------------------------------------------

  const FAILURES = new Set([
    "illegal", "unreadable", "start-time", "turn-time", "match-time", "memory", "output", "crash", "refused",
  ]);
  const BY_RESULTS = new Set(["round-robin", "double-round-robin", "gauntlet", "swiss", "sprt", "ladder"]);
  const KEEPS_WITHDRAWN = new Set(["swiss", "ladder"]);
  const OF_PAIR = ["points", "games", "wins", "draws", "losses"];
  const OF_AGENT = [...OF_PAIR, "byes", "failures", "replies", "charged_ms"];
  const SLACK = 1e-9; // rounding depends on the order of a sum
  const CRITERIA_SLACK = 1e-8; // both sides are rounded

  const COLUMNS = {
    standings:
      "place:i agent points:f games:i wins:i draws:i losses:i byes:i failures:i replies:i charged_ms:f " +
      "elo:f? elo_low:f? elo_high:f? pool:i?",
    pairs: "agent opponent points:f games:i wins:i draws:i losses:i",
    games:
      "number:i round:i table:i leg:i first second state why winner:t? verdict:t? reason:t? result:t? " +
      "first_points:f? second_points:f? first_fault:t? second_fault:t? first_replies:i? second_replies:i? " +
      "first_charged_ms:f? second_charged_ms:f? seconds:f? moves:t? attempt:i? id record:t?",
    pairings: "round:i table:i first second:t? meeting:i group",
    disqualified: "agent why",
    withdrawn: "agent why",
    entered: "agent why entry",
    attempts: "number:i attempt:i state why record",
    journal: "at event game:t? attempt:i? text",
  };

  /** The columns of a table with their types: `t` text, `i` integer, `f` float, with `?` if null is possible. */
  function columnsOf(name, rows, { format: { ranking } }) {
    const columns = COLUMNS[name].split(" ").map((column) => column.split(":")).map(([key, type = "t"]) => [key, type]);
    return name === "standings" ? [...columns, ...ranking.map((each) => [`compared:${each}`, "f?"])] : columns;
  }

  const isType = {
    t: (value) => typeof value === "string",
    i: (value, token) => /^(-?[1-9][0-9]*|0)$/.test(token ?? "") && Number.isSafeInteger(value),
    f: (value) => typeof value === "number",
  };

  /** A CSV cell. Text that spreadsheets would run as a formula gets an apostrophe. */
  function cellOf(value, token) {
    if (value === null) return "";
    if (typeof value === "number") return pythonNumber(token).replace(/\.0$/, "");
    const letters = value.length > MOST_CELL ? [...value] : "";
    const cut = letters.length > MOST_CELL ? `${letters.slice(0, MOST_CELL - 1).join("")}\u2026` : value;
    const text = cut.replace(/[\t\n\r]/g, " ").replace(/[\0-\x1f\x7f]/g, "\ufffd");
    const safe = /^[=+\-@\uff1d\uff0b\uff0d\uff20]/.test(text.trimStart()) ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
  }

  const MOST_CELL = 10_000;

  /** Reads a table and checks its columns, its types, and that JSON and CSV have the same values. */
  async function readTable({ read, contest, report }, name) {
    const { value: rows, numbers } = parsed(await read(`data/${name}.json`, LARGEST_TABLE), `${name}.json`);
    if (!Array.isArray(rows)) throw new Error(`${name}.json: not a table`);
    const columns = columnsOf(name, rows, contest), types = new Map(columns);
    const lines = [columns.map(([key]) => cellOf(key))];
    let next = 0;
    for (const [at, row] of rows.entries()) {
      const keys = Object.keys(row), tokens = new Map();
      const known = columns.map(([key]) => key);
      if (keys.length !== known.length || !keys.every((key) => types.has(key))) {
        throw new Error(`${name}.json: row ${at}: wrong columns; expected ${known.join(", ")}`);
      }
      for (const key of keys) {
        const value = row[key], type = types.get(key);
        const token = typeof value === "number" ? numbers[next++] : undefined;
        tokens.set(key, token);
        const isRight = value === null ? type.endsWith("?") : isType[type[0]](value, token);
        if (!isRight) throw new Error(`${name}.json: row ${at}, ${key}: ${String(token ?? value)} has a wrong type`);
      }
      lines.push(known.map((key) => cellOf(row[key], tokens.get(key))));
    }
    await checkCsv({ read, report }, name, lines);
    return rows;
  }

  async function readCrosstable({ read, report }) {
    const { value, numbers } = parsed(await read("data/crosstable.json", LARGEST_TABLE), "crosstable.json");
    if (Object.keys(value).sort().join() !== "agents,points") throw new Error("crosstable.json: not a crosstable");
    let next = 0;
    const cells = (row) => row.map((cell) => cellOf(cell, typeof cell === "number" ? numbers[next++] : undefined));
    const lines = [["agent", ...value.agents.map((agent) => cellOf(agent))]];
    for (const [at, row] of value.points.entries()) lines.push([cellOf(value.agents[at]), ...cells(row)]);
    await checkCsv({ read, report }, "crosstable", lines);
    return value;
  }

  /** Checks that a CSV file has these cells. */
  async function checkCsv({ read, report }, name, lines) {
    const plain = (text) => text.replace(/[^\0-\x7f]+/g, "?").replace(/\?+/g, "?");
    const found = decoded(await read(`data/${name}.csv`, LARGEST_TABLE)).split("\r\n").map(plain);
    const expected = [...lines.map((cells) => cells.join(",")), ""].map(plain);
    const at = expected.findIndex((line, number) => line !== found[number]);
    const isSame = at < 0 && found.length === expected.length;
    report.expect(isSame, `${name}.csv, line ${at < 0 ? expected.length : at + 1}: differs from ${name}.json`);
  }

  const rounded = (value) => Number(value.toFixed(9)) + 0;
  const summed = (parts, names = OF_AGENT) =>
    Object.fromEntries(names.map((name) => [name, rounded(total(parts, (part) => part[name]))]));
  const hasOwnPoints = (policy) => Object.keys(policy.points ?? {}).length > 0;

  /** Points of both seats. If the policy defines its own points, they are those of games.json. */
  function pointsOf(row, policy) {
    if (hasOwnPoints(policy)) return [row.first_points, row.second_points];
    return row.verdict === "draw" ? [0.5, 0.5] : [row.first, row.second].map((agent) => Number(agent === row.winner));
  }

  /** A game from the view of one agent. */
  function gameOf(agent, row, policy) {
    const [seat, side] = row.first === agent ? [0, "first"] : [1, "second"];
    const draws = Number(row.verdict === "draw"), wins = draws ? 0 : Number(row.winner === agent);
    const failures = Number(FAILURES.has(row[`${side}_fault`]));
    const [replies, charged_ms] = [row[`${side}_replies`], row[`${side}_charged_ms`]];
    const points = pointsOf(row, policy)[seat];
    return { points, games: 1, wins, draws, losses: 1 - wins - draws, byes: 0, failures, replies, charged_ms };
  }

  /** The games of a pairing from the view of one agent. */
  function meetingOf(agent, opponent, rows, { policy, duel, format }) {
    const [mine, its] = [agent, opponent].map((one) => summed(rows.map((row) => gameOf(one, row, policy))));
    const weighed = () => (mine.points === its.points ? duel.draw : mine.points > its.points ? duel.win : duel.loss);
    const points = !duel ? mine.points : rows.length < format.games ? 0 : weighed();
    return { ...mine, agent, opponent, points };
  }

  /** Each pairing twice, from the view of each agent. The games of a pairing are adjacent in games.json. */
  function meetingsOf({ contest, tables, report }) {
    const { policy, duel, format } = contest;
    const best = hasOwnPoints(policy) ? Math.max(...Object.values(policy.points).flat()) : 1;
    const bye = { ...summed([]), opponent: null, byes: 1, points: duel ? duel.win : format.games * best };
    const seated = new Set(tables.pairings.map(({ round, table }) => `${round} ${table}`));
    report.compare("tables of all rounds", seated.size, tables.pairings.length);
    let count = 0;
    const meetings = tables.pairings.flatMap(({ round, table, first, second }) => {
      if (second === null) return [{ ...bye, agent: first }];
      const rows = tables.games.slice(count, count + format.games);
      const seats = (leg) => (leg % 2 ? { first: second, second: first } : { first, second });
      const expected = rows.map((_, leg) => ({ round, table, leg, ...seats(leg) }));
      report.compare(`games of round ${round}, table ${table}`, rows, expected);
      report.compare(`games of round ${round}, table ${table}, length`, rows.length, format.games);
      count += rows.length;
      const played = rows.filter((row) => row.verdict !== null);
      return [meetingOf(first, second, played, contest), meetingOf(second, first, played, contest)];
    });
    report.compare("games of all pairings", tables.games.length, count);
    return meetings;
  }

  /** Totals of each agent, overall and by opponent. Pairings with a disqualified agent do not count. */
  function linesOf(it, out) {
    const counted = meetingsOf(it).filter(({ agent, opponent }) => !out.has(agent) && !out.has(opponent));
    const byAgent = grouped(counted, (each) => each.agent);
    for (const { name } of it.contest.entries) if (!byAgent.has(name)) byAgent.set(name, []);
    const lines = [...byAgent].map(([agent, its]) => {
      const byOpponent = [...grouped(its, (each) => each.opponent)];
      const met = byOpponent.map(([opponent, each]) => ({ ...summed(each), opponent, pairings: each.length }));
      return { ...summed(met), agent, met, values: {} };
    });
    return new Map(lines.map((line) => [line.agent, line]));
  }

  const DRAW_MARGIN = 10 ** (0.01 / 400), RATING_TIE = 0.01, CLOSE = 1e-5, MOST_ROUNDS = 10_000;
  const knownRatings = new WeakMap();

  /** Agents with a decided game or a draw, and their results against each opponent. */
  function ratedPairs(all) {
    const numbers = new Map(), players = [];
    const playerOf = (agent) => {
      if (!numbers.has(agent)) numbers.set(agent, players.push({ agent, games: 0, met: [] }) - 1);
      return players[numbers.get(agent)];
    };
    for (const first of [...all.keys()].sort()) {
      const met = new Map(all.get(first).met.map((each) => [each.opponent, each]));
      for (const second of [...met.keys()].filter((name) => name !== null && first < name).sort()) {
        const { wins, draws } = met.get(second);
        const losses = all.get(second).met.find((each) => each.opponent === first).wins;
        const games = wins + draws + losses;
        if (games === 0) continue;
        const [one, other] = [playerOf(first), playerOf(second)];
        one.met.push({ at: numbers.get(second), games, won: wins + draws, lost: losses + draws });
        other.met.push({ at: numbers.get(first), games, won: losses + draws, lost: wins + draws });
        one.games += games;
        other.games += games;
      }
    }
    return players;
  }

  /** BayesElo ratings by agent, with mean 1600. A draw is a win and a loss; each agent has two virtual draws. */
  function ratingsOf(all) {
    if (knownRatings.has(all)) return knownRatings.get(all);
    const players = ratedPairs(all);
    for (const player of players) {
      for (const each of player.met) {
        const virtual = each.games * (1 / player.games + 1 / players[each.at].games);
        each.won += virtual;
        each.lost += virtual;
      }
      player.won = total(player.met, ({ won }) => won);
    }
    const strengths = players.map(() => 1);
    for (let round = 0, change = Infinity; round < MOST_ROUNDS && !(change < CLOSE); round++) {
      change = 0;
      for (let at = players.length - 1; at >= 0; at--) {
        const mine = strengths[at];
        const rate = ({ at: other, won, lost }) =>
          won / (mine + DRAW_MARGIN * strengths[other]) + (DRAW_MARGIN * lost) / (DRAW_MARGIN * mine + strengths[other]);
        const better = players[at].won / total(players[at].met, rate);
        change = Math.max(change, Math.abs(better - mine) / (better + mine));
        strengths[at] = better;
      }
    }
    const elo = strengths.map((strength) => 400 * Math.log10(strength));
    const mean = total(elo, (each) => each) / elo.length;
    const ratings = new Map(players.map(({ agent }, at) => [agent, 1600 + elo[at] - mean]));
    let least = 0;
    for (const rating of ratings.values()) least = Math.min(least, Math.floor(rating) - 1);
    for (const agent of all.keys()) if (!ratings.has(agent)) ratings.set(agent, least);
    knownRatings.set(all, ratings);
    return ratings;
  }

  /** Functions of a criterion: from all lines and the tied lines to the function that returns a line's value. */
  const CRITERIA = {
    points: () => (line) => line.points,
    wins: () => (line) => line.wins,
    ratio: () => (line) => (line.wins + 1e-8) / (line.losses + 1e-8),
    direct: (all, equal) => {
      const names = new Set(equal.map((line) => line.agent));
      const inside = (line) => line.met.filter(({ opponent }) => names.has(opponent));
      const haveMet = equal.every((line) => inside(line).length === equal.length - 1);
      return (line) => (haveMet ? summed(inside(line)).points : 0);
    },
    "sonneborn-berger": (all) => (line) =>
      total(line.met, ({ opponent, wins, draws }) => (wins + draws / 2) * (all.get(opponent) ?? line).points),
    buchholz: (all) => (line) =>
      total(line.met, ({ opponent, pairings }) => pairings * (all.get(opponent) ?? line).points),
    koya: (all) => {
      const inMeetings = ({ agent, met }) =>
        total(met, ({ opponent }) => all.get(opponent)?.met.find((each) => each.opponent === agent).points ?? 0);
      const strong = new Set([...all.values()].filter((line) => line.points >= rounded(inMeetings(line))));
      return (line) => total(line.met, ({ opponent, points }) => (strong.has(all.get(opponent)) ? points : 0));
    },
    time: (all, equal) => {
      const haveReplied = equal.every((line) => line.replies > 0);
      return (line) => (haveReplied ? -line.charged_ms / line.replies : 0);
    },
    rating: (all, equal) => {
      const ratings = ratingsOf(all), values = new Map();
      let [best, before] = [Infinity, Infinity];
      for (const { agent } of [...equal].sort((one, other) => ratings.get(other.agent) - ratings.get(one.agent))) {
        const rating = ratings.get(agent);
        if (before - rating >= RATING_TIE) best = rating;
        values.set(agent, best);
        before = rating;
      }
      return (line) => values.get(line.agent);
    },
  };

  /** Splits tied lines into groups that share a place, best first, and stores the values of the criteria. */
  function ranked(all, equal, [criterion, ...rest]) {
    if (criterion === undefined) return [equal];
    const valueOf = CRITERIA[criterion](all, equal), column = `compared:${criterion}`;
    for (const line of equal) line.values[column] = rounded(valueOf(line));
    const tiers = grouped(equal, (line) => line.values[column]);
    return [...tiers.keys()].sort((one, other) => other - one).flatMap((value) => ranked(all, tiers.get(value), rest));
  }

  /** Agents whose results do not count. Only a Swiss tournament counts the games of an agent that withdrew. */
  function outOf({ contest, tables }) {
    const annulled = KEEPS_WITHDRAWN.has(contest.format.name) ? [] : tables.withdrawn;
    return new Set([...tables.disqualified, ...annulled].map((row) => row.agent));
  }

  /** Adds entries after the start. */
  function addLate({ contest, tables }) {
    for (const { agent, entry } of tables.entered) {
      const late = parse(utf8(entry), "entered.json"), isNew = contest.entries.every(({ name }) => name !== agent);
      const isRight = isNew && late.name === agent && late.rank === contest.entries.length + 1;
      if (!isRight) throw new Error(`entered.json: the entry of ${agent} has another name or rank`);
      contest.entries.push(late);
    }
  }

  function checkTables(it) {
    const { contest, tables, report } = it;
    const out = outOf(it);
    const all = linesOf(it, out);
    if (hasOwnPoints(contest.policy)) {
      report.unchecked.push("the points of each game: the policy defines its own, which follow from the result line");
      if (contest.duel) return void report.unchecked.push("standings and crosstable: they depend on those points");
    }
    for (const row of contest.duel ? [] : tables.games.filter((each) => each.verdict !== null)) {
      const found = [row.first_points, row.second_points];
      report.compare(`game ${row.number}, points`, found, pointsOf(row, contest.policy));
    }
    const agents = tables.standings.map((row) => row.agent);
    report.compare("agents of standings.json", [...agents].sort(), [...all.keys()].sort());
    const lines = agents.map((agent) => all.get(agent));
    checkStandings(all, lines, out, it);
    checkPairs(lines, it);
    report.checked.push("standings, crosstable and pairs against the results");
  }

  /** The number of pairs of positive ratings that differ by at least `difference`. */
  function distantPairs(ratings, difference) {
    const rising = ratings.filter((rating) => rating > 0).sort((one, other) => one - other);
    let count = 0, distant = 0;
    for (const rating of rising) {
      while (rising[distant] <= rating && rating - rising[distant] >= difference) distant += 1;
      count += distant;
    }
    return count;
  }

  /** Checks that pairs that the format leaves out do not meet, and that all others of the same group do. */
  function checkLeftOut(it) {
    const { contest, tables, report } = it;
    const { name, skip, cycles = name === "double-round-robin" ? 2 : 1 } = contest.format;
    if (!skip) return;
    const out = outOf(it);
    const ratingOf = (agent) => (Object.hasOwn(skip.agents, agent) ? skip.agents[agent].rating : 0);
    const isRoundRobin = BY_RESULTS.has(name);
    const groups = grouped(tables.pairings.filter(({ second }) => second !== null), (row) => row.group);
    for (const [group, rows] of groups) {
      const everybody = contest.entries.map((entry) => entry.name);
      const members = isRoundRobin ? everybody : [...new Set(rows.flatMap(({ first, second }) => [first, second]))];
      const difference = skip.groups.length > 0 && !skip.groups.includes(group) ? Infinity : skip.rating_difference;
      for (const [, [{ round, table, first, second }, ...more]] of grouped(rows, pairOf)) {
        const isLeftOut = distantPairs([ratingOf(first), ratingOf(second)], difference) > 0;
        report.expect(!isLeftOut, `round ${round}, table ${table}: this pair should be left out by its ratings`);
        report.expect(more.length < cycles, `round ${round}, table ${table}: this pair meets too often`);
      }
      const all = (members.length * (members.length - 1)) / 2;
      const expected = cycles * (all - distantPairs(members.map(ratingOf), difference));
      // Disqualified agents may be missing from later rounds of a league.
      if (isRoundRobin || !members.some((agent) => out.has(agent))) {
        report.compare(`pairings of group "${group}"`, rows.length, expected);
      }
    }
    report.checked.push("the pairs that are left out, against the ratings in the contest's document");
  }

  const pairOf = ({ first, second }) => JSON.stringify([first, second].sort());

  function checkStandings(all, lines, out, { contest, tables, report }) {
    const { name, ranking } = contest.format;
    report.compare("standings.json", tables.standings, lines.map((line) => summed([line])), SLACK);
    if (!BY_RESULTS.has(name)) {
      return void report.unchecked.push(`places and criteria: in the format ${name} they depend on its stages`);
    }
    const known = ranking.slice(0, [...ranking, ""].findIndex((each) => !Object.hasOwn(CRITERIA, each)));
    const [last, playing] = [true, false].map((isOut) => lines.filter((line) => out.has(line.agent) === isOut));
    const right = new Map();
    for (const tier of [...ranked(all, playing, known), ranked(all, last, known).flat()]) {
      const place = right.size + 1;
      for (const { agent } of tier) right.set(agent, place);
    }
    report.compare("criteria of standings.json", tables.standings, lines.map(({ values }) => values), CRITERIA_SLACK);
    if (known.length < ranking.length) return void report.unchecked.push("places: they depend on ratings");
    const places = tables.standings.map((row) => row.place);
    report.compare("places of standings.json", places, lines.map((line) => right.get(line.agent)));
    report.compare("order of standings.json", places, [...places].sort((one, other) => one - other));
  }

  function checkPairs(lines, { tables, report }) {
    const agents = lines.map((line) => line.agent);
    const pairs = [], points = [];
    for (const { agent, met } of lines) {
      const against = new Map(met.map((each) => [each.opponent, each]));
      points.push(agents.map((opponent) => against.get(opponent)?.points ?? null));
      for (const opponent of agents.filter((name) => against.has(name))) {
        pairs.push({ agent, opponent, ...summed([against.get(opponent)], OF_PAIR) });
      }
    }
    report.compare("crosstable.json", tables.crosstable, { agents, points }, SLACK);
    report.compare("pairs.json", tables.pairs, pairs, SLACK);
  }

  // --- log -----------------------------------------------------------------------------------------------------------

  const LATEST = 253_402_300_799; // the last second of the year 9999
  const ORGANISER = 1, WITNESS = 4; // kinds of signatures (C2SP): of the checkpoint, and of it with the time
  const OF_CONTEST = new Set(["scheduled", "started", "accepted", "disqualified", "agent-withdrawn", "entered", "open", "paused", "stopped", "season-ended", "admissions-frozen", "admissions-reopened"]);
  const OF_ATTEMPT = new Set(["started", "accepted", "void", "abandoned", "superseded", "annulled"]);
  const UNCOUNTED = new Set(["void", "annulled", "superseded"]);
  const WIDTH = 256;
  const MOST_NAMED = 20;

  /** The root of a Merkle tree (RFC 6962, 2.1), from the hashes of its leaves. */
  async function rootOf(hashes) {
    if (hashes.length <= 1) return hashes[0] ?? hashed();
    let left = 1;
    while (left * 2 < hashes.length) left *= 2;
    return hashed([1], await rootOf(hashes.slice(0, left)), await rootOf(hashes.slice(left)));
  }

  /** Parses a checkpoint, a signed note of C2SP. */
  function readCheckpoint(data, name) {
    const form = /^(([^\n]+)\n(0|[1-9][0-9]{0,14})\n([A-Za-z0-9+/]{43}=)\n)\n([^]+)\n$/;
    const refuse = () => {
      throw new Error(`${name}: not a checkpoint of a log`);
    };
    const [, body, origin, size, root, rest] = (data.length <= LARGEST_CHECKPOINT && form.exec(decoded(data))) || [];
    if (body === undefined) refuse();
    const signatures = rest.split("\n").map((line) => {
      const found = /^\u2014 ([^\s+\0-\x1f\x7f\x85\ufeff]{1,256}) ([A-Za-z0-9+/]+={0,2})$/.exec(line) ?? refuse();
      const signature = { name: found[1], data: fromBase64(found[2]) };
      return signature.data.length < 5 ? refuse() : signature;
    });
    return { name, body, origin, size: Number(size), root: hex(fromBase64(root)), signatures };
  }

  /** A signer of checkpoints. A signature begins with four bytes of the digest of name, kind and key. */
  async function signer(name, kind, key) {
    return { name, kind, key, id: hex(await hashed(utf8(`${name}\n`), [kind], key)).slice(0, 8) };
  }

  /** A witness, from its line NAME+ID+KEY. */
  async function readWitness(line) {
    const [name, id, ...rest] = line.trim().split("+");
    const data = fromBase64(rest.join("+"));
    const witness = await signer(name, WITNESS, data.slice(1));
    if (data.length !== 33 || data[0] !== WITNESS || witness.id !== id) {
      throw new Error(`not a key of a witness: ${line.slice(0, 80)}`);
    }
    safeKey(witness.key);
    return witness;
  }

  /** Unix time in seconds of a signature under a checkpoint, 0 if the signature has no time; null without signature. */
  async function signedAt({ signatures, body }, { name, kind, key, id }) {
    const length = kind === WITNESS ? 12 : 4;
    for (const { data } of signatures.filter((each) => each.name === name && hex(each.data.slice(0, 4)) === id)) {
      const seconds = Number(`0x0${hex(data.slice(4, length))}`);
      const signed = kind === WITNESS ? `cosignature/v1\ntime ${seconds}\n${body}` : body;
      if (seconds <= LATEST && (await isSignature(key, data.slice(length), utf8(signed)))) return seconds;
    }
    return null;
  }

  /** Whether the organiser signed this checkpoint and the log begins with its leaves. */
  async function isInLog(checkpoint, { origin, organiser, hashes }, report) {
    const { name, size } = checkpoint;
    const isSigned = checkpoint.origin === origin && (await signedAt(checkpoint, organiser)) !== null;
    const isThere = size <= hashes.length && hex(await rootOf(hashes.slice(0, size))) === checkpoint.root;
    report.expect(isSigned, `${name}: not a checkpoint of this log signed with the organiser's key`);
    report.expect(isThere || !isSigned, `the log does not begin with the ${size} leaves of ${name}: it was rewritten`);
    return isSigned && isThere;
  }

  /** Reads the log: checkpoint, hashes of the leaves, and the journal with the digest of each leaf. */
  async function readLog({ files, read, contest, tables, key, report }) {
    const checkpoint = readCheckpoint(await read(CHECKPOINT, LARGEST_CHECKPOINT), CHECKPOINT);
    if (checkpoint.size !== tables.journal.length) {
      throw new Error(`${CHECKPOINT}: ${checkpoint.size} leaves, but the journal has ${tables.journal.length}`);
    }
    const leaves = [], tiles = tilePaths("entries", checkpoint.size);
    for (const [number, name] of tiles.entries()) {
      const data = await read(name, LARGEST_TILE), before = leaves.length;
      for (let at = 0, end = 0; at < data.length; at = end) {
        end = at + 2 + data[at] * 256 + data[at + 1];
        if (!(end <= data.length)) throw new Error(`${name}: a leaf is truncated`);
        leaves.push(data.slice(at + 2, end));
      }
      const width = Math.min(WIDTH, checkpoint.size - number * WIDTH);
      if (leaves.length - before !== width) throw new Error(`${name}: not a tile of ${width} leaves`);
    }
    const lines = [];
    for (const [number, row] of tables.journal.entries()) {
      const { at, attempt, event, game, text } = row;
      const { digest } = parse(leaves[number], `leaf ${number}`);
      const line = { at, attempt, digest, event, match: game, text_sha256: await sha256(utf8(text)) };
      const isDigest = digest === null || typeof digest === "string";
      const isSame = isDigest && canonical(line) === decoded(leaves[number]);
      report.expect(isSame, `leaf ${number} of the log differs from the line of the journal`);
      lines.push({ ...row, digest: typeof digest === "string" ? digest : null });
    }
    const origin = `judge-contest/${contest.name}`;
    const hashes = [];
    for (const leaf of leaves) hashes.push(await hashed([0], leaf));
    tiles.push(...(await checkTiles(hashes, read, report)));
    return { origin, organiser: await signer(origin, ORGANISER, key), checkpoint, hashes, lines, tiles };
  }

  /** Paths of the tiles of a level (C2SP tlog-tiles). */
  function tilePaths(level, count) {
    return Array.from({ length: Math.ceil(count / WIDTH) }, (_, number) => {
      const parts = [String(number % 1000).padStart(3, "0")];
      for (let rest = Math.floor(number / 1000); rest; rest = Math.floor(rest / 1000)) {
        parts.unshift(`x${String(rest % 1000).padStart(3, "0")}`);
      }
      const width = Math.min(WIDTH, count - number * WIDTH);
      return `log/tile/${level}/${parts.join("/")}${width === WIDTH ? "" : `.p/${width}`}`;
    });
  }

  /** Checks the tiles of hashes against the leaves, and returns their paths. */
  async function checkTiles(hashes, read, report) {
    const all = [];
    for (let level = 0, nodes = hashes; nodes.length; level++) {
      const paths = tilePaths(level, nodes.length), above = [];
      for (const [number, path] of paths.entries()) {
        const own = nodes.slice(number * WIDTH, (number + 1) * WIDTH);
        const found = await read(path, 32 * WIDTH);
        report.expect(hex(found) === own.map(hex).join(""), `${path}: not the hashes of the leaves`);
        if (own.length === WIDTH) above.push(await rootOf(own));
      }
      all.push(...paths);
      nodes = above;
    }
    return all;
  }

  const OF_SEASON = new Map([
    ["season-ended", "the organiser ended the season"],
    ["admissions-frozen", "admissions frozen"],
    ["admissions-reopened", "admissions reopened"],
  ]);

  /** The text of the end of a season at the moment of its terms. */
  const seasonEnd = ({ ends }) =>
    ends == null ? null : `${new Date(ends).toISOString().slice(0, 19).replace("T", " ")} UTC`;

  /** State of a contest while its log is read. Each line must be possible after the lines before it. */
  class History {
    constructor({ contest, tables, report }) {
      this.games = new Map(tables.games.map((row) => [row.id, row]));
      this.schedule = [...tables.games].sort((one, other) => one.number - other.number);
      this.known = new Map(contest.entries.map(({ name }) => [name, false]));
      this.scheduled = new Set();
      this.out = [];
      this.withdrawn = new Set();
      this.absences = [];
      this.coming = new Map(tables.entered.map((row) => [row.agent, row]));
      this.isAnnulled = !KEEPS_WITHDRAWN.has(contest.format.name);
      this.running = new Map();
      this.done = new Map();
      this.last = new Map();
      this.recorded = new Set();
      this.ended = new Map();
      this.isCreated = false;
      this.isOpen = true;
      this.form = contest.format;
      this.hasEnded = false;
      this.isFrozen = false;
      this.entries = new Map(contest.entries.map((entry) => [entry.name, entry]));
      this.replaced = ""; // The agent whose withdrawal is the next line.
      this.report = report;
    }

    /** The next line. */
    take(line, number) {
      const { event, text, at } = line;
      const expect = (isTrue, problem) => this.report.expect(isTrue, `leaf ${number} of the log, ${event}: ${problem}`);
      expect(isTime(at) && at.length === 29, `${at} is not a time`);
      expect((line.attempt ?? 0) >= 0, "impossible number of an attempt");
      expect(this.isCreated || !OF_CONTEST.has(event), "it precedes the creation of the contest");
      const isReplaced = event === "agent-withdrawn" && text.split(": ", 1)[0] === this.replaced;
      const problem = `it is not the withdrawal of ${this.replaced}, which the last entry replaces`;
      expect(!this.replaced || isReplaced, problem);
      this.replaced = "";
      if (OF_ATTEMPT.has(event)) this.attempt(line, expect);
      else if (event === "created") this.isCreated = true;
      else if (event === "disqualified") this.out.push(text);
      else if (event === "entered") {
        const [agent] = text.split(": ", 1), found = this.coming.get(agent);
        const isThere = found !== undefined && `${agent}: ${found.why}` === text && found.digest === line.digest;
        expect(isThere, "the tables do not contain this entry");
        expect(!this.isFrozen, `${agent} entered while admissions were frozen`);
        this.version(agent, expect);
        this.coming.delete(agent);
      } else if (event === "agent-withdrawn") {
        this.withdrawn.add(text.split(": ", 1)[0]);
        this.absences.push(text);
      }
      else if (["open", "paused", "stopped"].includes(event)) this.isOpen = event === "open";
      else if (event === "scheduled") {
        const [, count = "0"] = /^([0-9]{1,9})( |$)/.exec(text) ?? [];
        expect(!this.hasEnded && !this.isAtEnd(at), "a game was drawn after the end of the season");
        const size = this.scheduled.size;
        for (const { id, first, second } of this.schedule.slice(size, size + Number(count))) {
          const gone = [first, second].find((agent) => this.withdrawn.has(agent));
          expect(gone === undefined, `a game of ${gone}, which had withdrawn`);
          const early = [first, second].find((agent) => this.coming.has(agent));
          expect(early === undefined, `a game of ${early}, which had not entered`);
          this.scheduled.add(id);
        }
      } else if (OF_SEASON.has(event)) this.season(line, expect);
    }

    /** Checks an entry that is a new version: the next line withdraws its parent, unless the parent is out. */
    version(agent, expect) {
      const { parent, author } = this.entries.get(agent) ?? {}, former = this.entries.get(parent);
      if (!parent) return;
      const isKnown = former !== undefined && !this.coming.has(parent) && former.author === author;
      expect(isKnown, `${agent} is a new version of ${parent}, which has not entered, or is of another author`);
      const versions = [...this.entries.values()].filter((entry) => entry.parent === parent);
      expect(versions.length === 1, `${parent} has several new versions`);
      const isOut = this.withdrawn.has(parent) || this.out.some((line) => line.startsWith(`${parent}: `));
      if (isKnown && !isOut) this.replaced = parent;
    }

    isAtEnd(at) {
      return this.form.ends != null && Date.parse(at) >= Date.parse(this.form.ends);
    }

    /** The end of a ladder's season, or a change of its admissions. */
    season({ event, text, at }, expect) {
      expect(this.form.name === "ladder", "the contest is no ladder");
      if (event === "season-ended") {
        expect(!this.hasEnded, "the season had ended before");
        const isEarly = text === seasonEnd(this.form) && !this.isAtEnd(at);
        expect(!isEarly, "it is earlier than the end of the season");
        this.hasEnded = true;
      } else {
        const freezes = event === "admissions-frozen";
        expect(this.isFrozen !== freezes, `admissions were ${freezes ? "frozen" : "open"} before`);
        this.isFrozen = freezes;
      }
    }

    attempt(line, expect) {
      const { event, game, digest } = line, attempt = line.attempt ?? 0, key = `${game} ${attempt}`;
      const isRunning = this.running.get(game) === attempt, before = this.ended.get(key);
      if (!this.games.has(game)) return expect(false, `unknown game ${game}`);
      if (event === "started") {
        this.start(game, attempt, expect);
        this.last.set(game, attempt);
        this.running.set(game, attempt);
        return void this.done.delete(game);
      }
      if (!(attempt >= 1 && attempt <= (this.last.get(game) ?? 0))) {
        return expect(false, `attempt ${attempt} was not started`);
      }
      if (digest !== null) this.recorded.add(key);
      const kept = event === "annulled" ? before?.digest ?? null : digest;
      if (event === "superseded") {
        expect(!isRunning, `attempt ${attempt} was running, so it cannot be superseded`);
        expect(isRunning || before, `attempt ${attempt} had not ended`);
      } else if (event === "annulled") {
        const hasResult = this.done.get(game) === attempt;
        expect(isRunning || hasResult, `attempt ${attempt} was not running and has no counted result`);
        this.running.delete(game);
        this.done.delete(game);
      } else {
        if (!isRunning) return expect(false, `attempt ${attempt} was not running`);
        this.running.delete(game);
        if (event === "accepted") this.done.set(game, attempt);
      }
      this.ended.set(key, { event, digest: kept, text: line.text });
    }

    /** Checks that the next attempt of a game may be started. */
    start(game, attempt, expect) {
      const last = this.last.get(game) ?? 0, { first, second } = this.games.get(game);
      const gone = [first, second].find((agent) => this.out.some((text) => text.startsWith(`${agent}: `)));
      expect(this.scheduled.has(game), "the game was not scheduled");
      expect(this.isOpen, "the contest was not open");
      expect(attempt === last + 1, `attempt ${attempt} does not follow ${last}`);
      expect(!this.running.has(game), `attempt ${this.running.get(game)} of the game has not ended`);
      expect(!this.done.has(game), `the game already has a result, of attempt ${this.done.get(game)}`);
      expect(gone === undefined, `${gone} was disqualified`);
      const left = [first, second].find((agent) => this.isAnnulled && this.withdrawn.has(agent));
      expect(left === undefined, `${left} had withdrawn`);
    }

    /** Compares the final state with the tables. */
    end({ tables }) {
      const { report, schedule, scheduled } = this;
      report.expect(this.isCreated, "the log does not contain the creation of the contest");
      const count = `the log schedules ${scheduled.size} games, the tables have ${schedule.length}`;
      report.expect(scheduled.size === schedule.length, count);
      const out = tables.disqualified.map(({ agent, why }) => `${agent}: ${why}`);
      const isSame = [...out].sort().join("\0") === [...this.out].sort().join("\0");
      report.expect(isSame, "the log and the tables disqualify different agents");
      for (const agent of this.coming.keys()) report.expect(false, `the log does not contain the entry of ${agent}`);
      const absences = tables.withdrawn.map(({ agent, why }) => `${agent}: ${why}`);
      const hasLeft = [...absences].sort().join("\0") === [...this.absences].sort().join("\0");
      report.expect(hasLeft, "the log and the tables have different withdrawals");
      for (const { number, id: game, state } of schedule) {
        const attempt = this.running.get(game) ?? 0;
        const found = attempt ? `attempt ${attempt} is running` : "no attempt is running";
        const isRight = this.running.has(game) === (state === "running");
        report.expect(isRight, `game ${number}: ${found} in the log, but it is ${state} in the tables`);
      }
      const byKind = new Map();
      for (const [key, { event }] of this.ended) {
        const [game, attempt] = key.split(" "), kind = this.recorded.has(key) ? event : `${event} without a record`;
        if (event === "accepted") continue;
        byKind.set(kind, [...(byKind.get(kind) ?? []), [this.games.get(game).number, Number(attempt)]]);
      }
      for (const kind of [...byKind.keys()].sort()) {
        const attempts = byKind.get(kind).sort(([a, first], [b, second]) => a - b || first - second);
        const noun = attempts.length === 1 ? "attempt does" : "attempts do";
        const more = attempts.length > MOST_NAMED ? ` and ${attempts.length - MOST_NAMED} more` : "";
        const named = `${attempts.slice(0, MOST_NAMED).map((each) => each.join(".")).join(", ")}${more}`;
        report.notes.push(`${attempts.length} ${noun} not count, ${kind} (game.attempt): ${named}`);
      }
    }
  }

  /** Checks that log and tables have the same ended attempts and records, and that the contest began once. */
  async function checkEnds(it, lines) {
    const { read, tables, report } = it;
    const created = lines.filter(({ event }) => event === "created").map(({ digest }) => digest);
    report.compare(`${DOCUMENT} in the log`, created, [await sha256(await read(DOCUMENT, LARGEST_DOCUMENT))]);
    for (const row of tables.entered) row.digest = await sha256(utf8(row.entry));
    const history = new History(it);
    for (const [number, line] of lines.entries()) history.take(line, number);
    history.end(it);
    const ended = new Map(history.ended);
    const games = new Map(tables.games.map((row) => [row.number, row.id]));
    const counting = tables.games.filter((row) => row.state === "done").map((row) => ({ ...row, state: "accepted" }));
    for (const { number, attempt, state, record, why } of [...tables.attempts, ...counting]) {
      const key = `${games.get(number)} ${attempt}`;
      const expected = { event: state, digest: await sha256(await read(record, LARGEST_RECORD)) };
      if (state !== "accepted") expected.text = why;
      report.compare(`game ${number}, attempt ${attempt}, in the log`, ended.get(key), expected);
      ended.delete(key);
    }
    for (const [key, { event, digest }] of ended) {
      report.expect(digest === null, `game and attempt ${key}: ${event} in the log, but missing in the tables`);
    }
  }

  const STATES = new Set("received processing failed refused passed approved withdrawn".split(" "));

  /** The rating of an agent from a ladder's terms. With other files than in the last season the deviation is wider. */
  function startRating({ anchors = {}, ratings = {}, version_deviation: more }, { name, parent, seat }) {
    if (parent || Object.hasOwn(anchors, name)) return undefined;
    const isKnown = ([agent, { digest }]) => digest && agent.toLowerCase() === name.toLowerCase();
    const found = Object.hasOwn(ratings, name) ? ratings[name] : Object.entries(ratings).find(isKnown)?.[1];
    if (!found?.digest) return found;
    const { rating, digest } = found;
    const deviation = digest === seat.digest ? found.deviation : Math.hypot(found.deviation, more);
    return { rating, deviation: Math.min(Math.max(deviation, 1), 2000) };
  }

  /** Whether two ratings, rounded to 0.01, are equal. */
  function isSameRating(one, other) {
    if (one === undefined || other === undefined) return one === other;
    return Math.abs(one.rating - other.rating) < 0.011 && Math.abs(one.deviation - other.deviation) < 0.011;
  }

  /** Checks that late entries of a ladder fit submissions that passed, and that these entered before the next draw. */
  function checkAdmissions({ contest, tables, report }, lines) {
    const entries = new Map(contest.entries.map((entry) => [entry.name, entry]));
    const late = new Set(tables.entered.map(({ agent }) => agent));
    const first = new Map(), newest = new Map(), passed = new Map(), refused = new Set(), reported = new Set();
    const withdrawn = new Set();
    let isFrozen = false, hasBegun = false, waiting = null;
    const add = (entry) => {
      const name = first.get(entry.parent) ?? entry.name.toLowerCase();
      first.set(entry.name, name);
      newest.set(name, entry);
    };
    const isNew = ({ submission, seat }, [number, { digest }]) =>
      submission != null && submission < number && (seat.digest !== digest || withdrawn.has(submission));
    const findWaiting = () => {
      const numbers = [...passed.keys()].sort((one, other) => one - other);
      const latest = new Map(numbers.map((number) => [passed.get(number).name.toLowerCase(), [number, passed.get(number)]]));
      const canEnter = ([name, found]) => !newest.has(name) || isNew(newest.get(name), found);
      return [...latest].filter(canEnter).map(([, [number, { name }]]) => [number, name]);
    };
    const enter = (entry, expect) => {
      add(entry);
      const found = passed.get(entry.submission);
      const isRight = found?.digest === entry.seat.digest && newest.get(found.name.toLowerCase()) === entry;
      expect(isRight, `${entry.name} has no submission that had passed with its name and files`);
      const isOfTerms = isSameRating(entry.start, startRating(contest.format, entry));
      expect(isOfTerms, `${entry.name} has a start rating that differs from the terms`);
    };
    for (const entry of contest.entries) if (!late.has(entry.name)) add(entry);
    for (const [leaf, { event, text, digest }] of lines.entries()) {
      const expect = (isTrue, problem) => report.expect(isTrue, `leaf ${leaf} of the log, ${event}: ${problem}`);
      const [, number, name = ""] = /^submission ([0-9]{1,15})(?:$|: ([^]*))/.exec(text) ?? [];
      const [agent] = text.split(": ", 1);
      if (event === "created") hasBegun = true;
      else if (event === "not-entered") refused.add(agent);
      else if (event.startsWith("admissions-")) isFrozen = event === "admissions-frozen";
      else if (event === "entered" && entries.has(agent)) {
        enter(entries.get(agent), expect);
        waiting = null;
      } else if (STATES.has(event) && number !== undefined) {
        passed.delete(Number(number));
        if (event === "passed" || event === "approved") passed.set(Number(number), { name, digest });
        if (event === "withdrawn") withdrawn.add(Number(number));
        waiting = null;
      } else if (event === "scheduled" && hasBegun && !isFrozen) {
        waiting ??= findWaiting();
        for (const [submission, waits] of waiting) {
          if (refused.has(waits) || reported.has(submission)) continue;
          reported.add(submission);
          expect(false, `submission ${submission}, ${waits}, had passed, but had not entered`);
        }
      }
    }
    report.checked.push("that late entries fit submissions, which entered before the next draw");
  }

  const UNDECIDED = {
    received: "had no result",
    failed: "had no result, because the judge's host failed during its check,",
  };

  /** Notes submissions without a result when the entries were locked in. */
  function noteUndecided({ contest, report }, lines) {
    const last = new Map();
    for (const { event, text } of lines.slice(0, contest.freeze?.leaves ?? 0)) {
      const [, number] = /^submission ([0-9]{1,18})(?:: |$)/.exec(text) ?? [];
      if (number !== undefined) last.set(BigInt(number), event);
    }
    for (const [number, event] of last) {
      if (Object.hasOwn(UNDECIDED, event)) {
        report.notes.push(`submission ${number} ${UNDECIDED[event]} when the entries were locked in`);
      }
    }
  }

  async function checkLog(it, since, named) {
    const { files, contest, tables, report } = it;
    for (const { agent, why } of tables.disqualified) report.notes.push(`${agent} disqualified: ${why}`);
    for (const { agent, why } of tables.withdrawn) report.notes.push(`${agent} withdrew: ${why}`);
    for (const { agent, why } of tables.entered) report.notes.push(`${agent} entered after the start: ${why}`);
    if (!files.has(CHECKPOINT)) {
      report.expect(!named.length, "the export has no log, so no witness has signed it");
      report.expect(!contest.freeze, "the export has no log, but its draw depends on one");
      report.expect(since === null, "the export has no log");
      checkNames(it, []);
      return void report.unchecked.push("the log: the export has none");
    }
    const log = await readLog(it);
    await isInLog(log.checkpoint, log, report);
    for (const { event, text } of log.lines) {
      const isOrder = OF_SEASON.has(event) && text !== seasonEnd(contest.format);
      if (isOrder) report.notes.push(`${OF_SEASON.get(event)}: ${text}`);
      if (event === "not-entered") report.notes.push(`not entered: ${text}`);
    }
    if (contest.format.name === "ladder") checkAdmissions(it, log.lines);
    noteUndecided(it, log.lines);
    await checkEnds(it, log.lines);
    checkNames(it, log.tiles);
    const old = since === null ? null : readCheckpoint(since, "the old checkpoint");
    await checkDraw(it, log, old);
    await checkWitnesses(it, log, named);
    const { size } = log.checkpoint;
    report.checked.push(`${size} leaves of the log against its checkpoint, the journal and the results`);
    if (old === null) return void report.unchecked.push("that the log was not rewritten: give an old checkpoint");
    if (await isInLog(old, log, report)) {
      report.checked.push(`that the log extends the old checkpoint of ${old.size} leaves`);
    }
  }

  // --- draw and witnesses --------------------------------------------------------------------------------------------

  /** SHA-256 of the values that `pick` takes from contest.json, with numbers in Python's notation. */
  async function digestOfTerms(data, pick) {
    const text = decoded(data);
    if (text.includes("\\u0000")) throw new Error(`${DOCUMENT}: contains a NUL character`);
    const token = /"[^"\\]*(?:\\.[^"\\]*)*"|-?[0-9][0-9.eE+-]*/g;
    const quoted = (found) => (found[0] === '"' ? found : `"\\u0000${pythonNumber(found)}"`);
    const terms = pick(JSON.parse(text.replace(token, quoted)));
    return sha256(utf8(canonical(terms).replace(/"\\u0000([^"]*)"/g, "$1")));
  }

  /** SHA-256 of contest.json without the draw. */
  const termsDigest = (data) =>
    digestOfTerms(data, (terms) => {
      for (const key of ["judge", "frozen_at", "freeze", "images", "host"]) delete terms[key];
      for (const entry of terms.entries) delete entry.rank;
      return terms;
    });

  /** Checks that the draw was not chosen: it follows from the log, whose first leaf is the commitment. */
  async function checkDraw({ read, contest, report }, log, old) {
    const { freeze } = contest, events = log.lines.map(({ event }) => event);
    if (freeze == null) {
      const isDrawn = events.includes("frozen") || events.includes("announced");
      report.expect(!isDrawn, `the log locks in the entries, but the draw in ${DOCUMENT} does not depend on it`);
      return void report.unchecked.push("the draw: it does not depend on the log");
    }
    const { leaves } = freeze, last = leaves - 1;
    const isFirst = events[0] === "announced" && log.lines[0].digest === contest.commitment;
    report.expect(isFirst, `the log does not begin with the commitment of ${DOCUMENT}`);
    const isOnce = events.indexOf("frozen") === last && events.lastIndexOf("frozen") === last;
    const terms = await termsDigest(await read(DOCUMENT, LARGEST_DOCUMENT));
    if (!isOnce || events.indexOf("created") < leaves) {
      const where = `as leaf ${leaves}, before the contest is created`;
      report.problems.push(`the log does not lock in the entries once, ${where}`);
    } else if (terms !== freeze.entries || terms !== log.lines[last].digest) {
      report.problems.push(`the entries and terms that the log locked in differ from those of ${DOCUMENT}`);
    } else if (hex(await rootOf(log.hashes.slice(0, leaves))) !== freeze.root) {
      report.problems.push(`the draw depends on another log: the root of the first ${leaves} leaves differs`);
    }
    checkEntries(contest, log.lines.slice(0, leaves), report);
    await checkDrawWitnesses(contest, log, old, report);
    report.checked.push(`that the draw was fixed by the commitment, the entries and ${leaves} leaves of the log`);
  }

  /** Checks that each passed submission takes part with the same files, unless a later one has its name. */
  function checkEntries(contest, lines, report) {
    const passed = new Map();
    for (const { event, text, digest } of lines) {
      const [, number, name = ""] = /^submission ([0-9]{1,18})(?:$|: ([^]*))/.exec(text) ?? [];
      passed.delete(Number(number));
      if (event === "passed" || event === "approved") passed.set(Number(number), { name: name.toLowerCase(), digest });
    }
    const entries = new Map(contest.entries.map((entry) => [entry.submission, entry]));
    for (const [number, { name, digest }] of passed) {
      const entry = entries.get(number);
      const isReplaced = [...passed].some(([other, each]) => other > number && each.name === name);
      const [is, isSame] = [`submission ${number}`, entry?.seat.digest === digest];
      report.expect(entry || isReplaced, `${is} passed before the entries were locked in, but does not take part`);
      report.expect(!entry || isSame, `${is} takes part with files that differ from those that passed`);
    }
  }

  /** Checks the witnesses' signatures on which the draw depends, and notes witnesses that were unavailable. */
  async function checkDrawWitnesses(contest, { origin, lines }, old, report) {
    const { leaves, root, witnessed } = contest.freeze;
    const body = utf8(`${origin}\n${leaves}\n${btoa(String.fromCharCode(...unhex(root)))}\n`);
    const afterwards = lines.slice(leaves, lines.findIndex(({ event }) => event === "created"));
    const absent = afterwards.filter(({ event }) => event === "unwitnessed").map(({ text }) => {
      const [name] = text.split(": ");
      return [name, text.slice(name.length + 2)];
    });
    const [away, signatures] = [new Map(absent), new Map(Object.entries(witnessed ?? {}))];
    const later = new Map();
    for (const each of (contest.witnesses ?? []).filter(({ draw }) => draw)) {
      const { name, key } = await readWitness(each.key);
      const signature = signatures.get(name), why = away.get(name);
      signatures.delete(name);
      const is = `the witness ${name}`;
      if (signature === undefined) {
        const isSaid = why !== undefined;
        report.expect(isSaid, `the draw has no signature of its witness ${name}, and the log has no reason`);
        const at = old?.body === decoded(body) ? await signedAt(old, await readWitness(each.key)) : null;
        if (at !== null) later.set(name, `; BUT it signed the log at that moment, ${secondOf(at)} UTC`);
        continue;
      }
      report.expect(why === undefined, `the log records that ${is} did not sign, but the draw has its signature`);
      const isSigned = await isSignature(key, unhex(signature), body);
      report.expect(isSigned, `the draw's signature by ${name} does not fit the log at the moment of the draw`);
      if (isSigned) report.checked.push(`that the draw depends on a signature by ${is}`);
    }
    for (const [name, why] of away) {
      report.notes.push(`drawn without the witness ${name}: ${why}${later.get(name) ?? ""}`);
    }
    for (const name of signatures.keys()) {
      report.problems.push(`the draw depends on a signature by ${name}, which is not one of its witnesses`);
    }
  }

  const secondOf = (seconds) => new Date(seconds * 1000).toISOString().slice(0, 19).replace("T", " ");

  /** Reports what the announced witnesses, and those that the reader names, have signed. */
  async function checkWitnesses({ files, read, contest, report }, log, named) {
    const checkpoints = [log.checkpoint];
    const signed = [...files.keys()].filter((each) => each.startsWith("log/witness/")).sort().slice(0, MOST_WITNESSES);
    for (const name of signed) {
      const checkpoint = readCheckpoint(await read(name, LARGEST_CHECKPOINT), name);
      if (await isInLog(checkpoint, log, report)) checkpoints.push(checkpoint);
    }
    checkpoints.sort((one, other) => other.size - one.size);
    const announced = (contest.witnesses ?? []).map(({ key }) => key.trim());
    for (const line of new Set([...announced, ...named])) {
      const witness = await readWitness(line);
      let [most, at] = [0, null];
      for (const each of checkpoints) {
        if (at === null) [most, at] = [each.size, await signedAt(each, witness)];
      }
      const is = `the witness ${witness.name}`;
      if (at !== null) {
        report.checked.push(`that ${is} has signed the first ${most} leaves, ${new Date(at * 1000).toISOString()}`);
      } else if (named.includes(line)) report.problems.push(`no checkpoint of the export is signed by ${is}`);
      else report.unchecked.push(`${is}: no checkpoint of this export has its signature`);
    }
  }

  // --- cup -----------------------------------------------------------------------------------------------------------

  const LEAGUE = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,30}$/, PODIUM = 3;
  const OPEN = new Set(["pending", "running", "held"]), ANNOUNCED = ["name", "after", "promoted", "promotes_new", "medals"];
  const TERMS = [
    "name", "policy", "format", "duel", "failures", "seed", "seeding", "openings", "shuffle", "transform", "box",
  ];
  const DRAWN_AT_START = new Set(["round-robin", "double-round-robin", "gauntlet"]);

  /** Checks an exported cup: its manifest, the export of each league, places and medals. */
  async function checkCup(it) {
    const { files, read, report } = it, data = await read(CUP, LARGEST_DOCUMENT), cup = parse(data, CUP);
    const areAll = (type, ...values) => values.every((value) => typeof value === type);
    const isLeague = ({ name, about, after, contest, medals, is_over }) =>
      LEAGUE.test(name) && areAll("string", about, after, contest) && areAll("boolean", medals, is_over);
    if (cup?.format !== "judge-cup-1" || !Array.isArray(cup.leagues) || !cup.leagues.every(isLeague)) {
      throw new Error(`${CUP}: not the results of a cup`);
    }
    const begun = cup.leagues.filter(({ contest }) => contest !== "");
    const folders = grouped([...files.keys()], (path) => (path.includes("/") ? path.split("/")[0] : ""));
    const parts = new Map(begun.map(({ name }) => [name, folders.get(name) ?? []]));
    const inParts = new Set([...parts].flatMap(([name, paths]) => paths.filter((path) => path !== `${name}/${MANIFEST}`)));
    await checkFiles({ ...it, files: new Map([...files].filter(([path]) => !inParts.has(path))) });
    report.compare(`${MANIFEST}, cup`, report.contest, cup.name);
    const announced = await readAnnouncement(it, cup);
    const names = [...cup.leagues.map(({ name }) => name), ...begun.map(({ contest }) => contest)];
    for (const [name, same] of grouped(names, (each) => each)) {
      report.expect(same.length === 1, `${CUP}: two leagues have the name ${name}`);
    }
    const exports = new Map();
    for (const league of begun) exports.set(league.name, await checkLeague(it, league, parts.get(league.name)));
    report.unchecked = [...new Set([...exports.values()].flatMap((each) => each.report.unchecked))];
    if (report.problems.length) return;
    for (const [name, found] of exports) await checkOpening(found, name, announced, report);
    checkFilesOfAgents(exports, report);
    for (const league of begun) checkPromotion(league, cup, exports, report);
    const leagues = cup.leagues.map((league) => leagueOf(league, exports.get(league.name), report));
    const right = { format: cup.format, name: cup.name, about: cup.about, leagues, medals: medalsOf(leagues) };
    const isRight = `${JSON.stringify(right, null, 1)}\n` === decoded(data);
    report.expect(isRight, `${CUP}: places and medals do not follow from the leagues`);
    report.checked.push(`places and medals of ${begun.length} leagues`);
  }

  /** Checks the export of a league, signed with the key that the cup names. */
  async function checkLeague({ files, report }, { name, contest, manifest, key }, paths) {
    const own = new Map(paths.map((path) => [path.slice(name.length + 1), files.get(path)]));
    const found = await checked(own, null, (it) => checkContest(it, null, []));
    for (const kind of ["problems", "checked", "notes"]) {
      report[kind].push(...found.report[kind].map((text) => `${name}: ${text}`));
    }
    report.compare(`${name}, contest`, found.report.contest, contest);
    report.compare(`${name}, manifest`, found.report.manifest, manifest);
    report.compare(`${name}, key`, found.report.key, key);
    report.expect(own.has(CHECKPOINT), `${name}: it has no log`);
    return found;
  }

  /** Reads the announcement, whose leagues must be those of the cup, in its order. */
  async function readAnnouncement({ read, report }, cup) {
    const data = await read(ANNOUNCEMENT, LARGEST_DOCUMENT), announced = parse(data, ANNOUNCEMENT);
    const known = [...ANNOUNCED, "contest", "terms"].sort().join();
    const isLeague = (league) => Object.keys(league ?? {}).sort().join() === known;
    const { format, name, leagues } = announced ?? {};
    if (format !== "judge-cup-announcement-1" || !Array.isArray(leagues) || !leagues.every(isLeague)) {
      throw new Error(`${ANNOUNCEMENT}: not the announcement of a cup`);
    }
    report.expect(name === cup.name, `${ANNOUNCEMENT}: of the cup ${name}`);
    const defaults = { promoted: 0, promotes_new: false };
    const shown = (each) => JSON.stringify(each.map((league) => ANNOUNCED.map((key) => league[key] ?? defaults[key])));
    report.expect(shown(cup.leagues) === shown(leagues), `${CUP}: the leagues differ from those of ${ANNOUNCEMENT}`);
    const terms = new Map(leagues.map((league) => [league.name, league]));
    for (const { name: league, contest } of cup.leagues) {
      const right = contest === "" || contest === terms.get(league)?.contest;
      report.expect(right, `${league}: its contest ${contest} is not the announced one`);
    }
    return { words: `league of the cup ${name}, announcement ${await sha256(data)}`, terms };
  }

  /** Checks that the log of a league begins with the announcement, and that its terms are those of the announcement. */
  async function checkOpening({ read, tables }, name, { words, terms }, report) {
    const { event, text } = tables.journal[0];
    const isFirst = event === "announced" && text === words;
    report.expect(isFirst, `${name}: its log does not begin with the digest of ${ANNOUNCEMENT}`);
    const without = ({ agents, ...rest }) => rest;
    const digest = await digestOfTerms(await read(DOCUMENT, LARGEST_DOCUMENT), (document) => {
      const { format } = document, isKnown = ([key, value]) => !(value && ["skip", "seats"].includes(key));
      const known = Object.entries(format).map((entry) => (isKnown(entry) ? entry : [entry[0], without(entry[1])]));
      return Object.fromEntries(TERMS.map((key) => [key, key === "format" ? Object.fromEntries(known) : document[key]]));
    });
    report.expect(digest === terms.get(name).terms, `${name}: its terms are not those of ${ANNOUNCEMENT}`);
    if (isFirst) report.checked.push(`${name}: that its log begins with the announcement of all leagues`);
  }

  /** Notes agents with different files in two leagues. */
  function checkFilesOfAgents(exports, report) {
    const first = new Map();
    for (const [league, { contest }] of exports) {
      for (const { name, seat: { digest } } of contest.entries) {
        if (!first.has(name)) first.set(name, { league, digest });
        const { league: other, digest: known } = first.get(name);
        if (known !== digest) report.notes.push(`${name} takes part with different files in ${other} and ${league}`);
      }
    }
  }

  /** Checks that the best agents of the league below take part. */
  function checkPromotion({ name, after = "", promoted = 0, promotes_new = false }, cup, exports, report) {
    if (!promoted) return;
    const below = cup.leagues.find((league) => league.name === after), [own, its] = [exports.get(name), exports.get(after)];
    if (!its) return void report.problems.push(`${name}: ${after} has not begun, so no agent advances from it`);
    const times = (journal, ...wanted) => journal.filter(({ event }) => wanted.includes(event)).map(({ at }) => at).sort();
    const changed = times(its.tables.journal, "accepted", "annulled", "disqualified").at(-1) ?? "";
    if (!below.is_over || changed > (times(own.tables.journal, "created")[0] ?? "")) {
      return void report.notes.push(`${name} was locked in before the last change of ${after}`);
    }
    const { skip } = its.contest.format, order = placesOf(its).map(([, agent]) => agent);
    const isOld = (agent) => Object.hasOwn(skip.agents, agent) && skip.agents[agent].rating > 0;
    const oldest = promotes_new && skip ? order.findIndex(isOld) : 0;
    const count = Math.max(promoted, oldest < 0 ? order.length : oldest);
    const members = new Set(own.contest.entries.map((entry) => entry.name));
    for (const agent of order.slice(0, count)) {
      report.expect(members.has(agent), `${name}: ${agent} advances from ${after}, but does not take part`);
    }
  }

  /** Place and agent, best first, without disqualified agents. */
  function placesOf({ tables }) {
    const out = new Set(tables.disqualified.map(({ agent }) => agent));
    return tables.standings.filter(({ agent }) => !out.has(agent)).map(({ place, agent }) => [place, agent]);
  }

  /** A league of the document with the places of its export. */
  function leagueOf({ name, about, after, promoted, promotes_new, medals, contest, manifest, key, is_over }, found, report) {
    const more = { ...(promoted ? { promoted } : {}), ...(promotes_new ? { promotes_new } : {}) };
    if (found) {
      const isOpen = found.tables.games.some(({ state }) => OPEN.has(state)), { format } = found.contest;
      report.expect(!(is_over && isOpen), `${name}: not over, because games are open`);
      if (DRAWN_AT_START.has(format.name)) report.expect(is_over || isOpen, `${name}: over, because no game is open`);
      else report.unchecked.push(`${name}: whether another round follows depends on the format ${format.name}`);
    } else report.expect(!is_over, `${name}: not over, because it has not begun`);
    return { name, about, after, ...more, medals, contest, manifest, key, is_over, places: found ? placesOf(found) : [] };
  }

  /** Agents with medals, most gold medals first. */
  function medalsOf(leagues) {
    const counts = new Map();
    for (const { places } of leagues.filter(({ is_over, medals }) => is_over && medals)) {
      for (const [place, agent] of places.filter(([each]) => each <= PODIUM)) {
        if (!counts.has(agent)) counts.set(agent, { agent, gold: 0, silver: 0, bronze: 0 });
        counts.get(agent)[["gold", "silver", "bronze"][place - 1]] += 1;
      }
    }
    const inOrder = (one, other) =>
      other.gold - one.gold || other.silver - one.silver || other.bronze - one.bronze || (one.agent < other.agent ? -1 : 1);
    return [...counts.values()].sort(inOrder);
  }

  // --- all of it -----------------------------------------------------------------------------------------------------

  async function checkChance({ files, read, contest, report }) {
    const ranks = contest.entries.map(({ rank }) => rank);
    if ((contest.seeding ?? "listed") !== "listed") ranks.sort((one, other) => one - other);
    report.compare("ranks", ranks, ranks.map((_, number) => number + 1));
    if (contest.commitment == null) return void report.unchecked.push("chance: the organiser set the seed");
    if (!files.has(CHANCE)) return void report.unchecked.push("chance: the secret is not revealed yet");
    const chance = parse(await read(CHANCE, LARGEST_CHECKPOINT), CHANCE), { secret } = chance;
    if (!/^[0-9a-f]{64}$/.test(secret)) throw new Error(`${CHANCE}: not a secret seed`);
    report.compare(`${CHANCE}, keys`, Object.keys(chance).sort(), ["commitment", "contest", "secret"]);
    report.compare(CHANCE, chance, { contest: contest.name, commitment: contest.commitment });
    report.compare(`${CHANCE}, SHA-256 of the secret`, await sha256(unhex(secret)), contest.commitment);
    report.checked.push("the secret seed against the commitment");
  }

  /** Checks the export of a contest. */
  async function checkContest(it, since, named) {
    const { files, read, report } = it;
    await checkFiles(it);
    it.contest = parse(await read(DOCUMENT, LARGEST_DOCUMENT), DOCUMENT);
    if (!Object.hasOwn(it.contest, "freeze")) throw new Error(WRITTEN_BY_FIRST_VERSION);
    report.compare(`${MANIFEST}, contest`, report.contest, it.contest.name);
    const witnesses = (it.contest.witnesses ?? []).map(({ key }) => key.split("+")[0]);
    for (const [kind, names] of [["entries", it.contest.entries.map(({ name }) => name)], ["witnesses", witnesses]]) {
      if (new Set(names).size < names.length) throw new Error(`${DOCUMENT}: two ${kind} have one name`);
    }
    for (const name of Object.keys(COLUMNS)) {
      const isThere = !OPTIONAL.includes(name) || files.has(`data/${name}.json`);
      it.tables[name] = isThere ? await readTable(it, name) : [];
    }
    addLate(it);
    it.tables.crosstable = await readCrosstable(it);
    await checkRecords(it);
    checkTables(it);
    checkLeftOut(it);
    await checkChance(it);
    await checkLog(it, since, named);
  }

  /** Says what is missing for an end: an export may be older than the contest. */
  function noteEnd({ contest: { format }, tables, report }) {
    const count = tables.games.filter(({ state }) => OPEN.has(state)).length;
    const hasEnded = DRAWN_AT_START.has(format.name) || tables.journal.some(({ event }) => event === "season-ended");
    const open = count === 1 ? "1 game has no result" : `${count} games have no result`;
    const why = count ? open : `another round may follow in the format ${format.name}`;
    if (count || !hasEnded) report.unchecked.push(`that the contest is over: ${why}`);
  }

  /** Runs a check, and returns what it has read, with its report. Errors are problems. */
  async function checked(files, pem, check) {
    const report = new Report();
    const read = async (name, most) => {
      if (!files.has(name)) throw new Error(`${name}: missing; choose a directory that judge contest export wrote`);
      const file = files.get(name);
      if ((await file.size()) > most) throw new Error(`${name}: larger than ${most} bytes`);
      return new Uint8Array(await file.bytes());
    };
    const it = { files, read, report, tables: {} };
    try {
      it.key = rawKey(pem ?? (await read(KEY, LARGEST_CHECKPOINT)));
      await check(it);
    } catch (error) {
      report.problems.push(`the export cannot be checked: ${error.message}`);
    }
    return it;
  }

  /**
   * Checks an export or a cup. `files` maps names to readers. `pem` is the organiser's public key from another source,
   * `since` an old checkpoint, `keys` a file of witnesses' keys, one per line: bytes, or null. Never throws: errors are
   * problems.
   */
  async function verify(files, pem, since, keys) {
    const { report } = await checked(files, pem, async (it) => {
      const named = decoded(keys ?? new Uint8Array()).split("\n").map((line) => line.trim()).filter((line) => line);
      if (!files.has(CUP)) {
        await checkContest(it, since, named);
        return noteEnd(it);
      }
      if (since !== null || named.length) throw new Error("checkpoints and witnesses are of one league: choose its folder");
      await checkCup(it);
    });
    if (pem === null) {
      report.unchecked.push("who signed it: the key is from this directory; get the key from another source");
    }
    return report;
  }

  /** Downloads a file of at most `most` bytes. */
  async function download(address, most) {
    const answer = await fetch(address, { credentials: "omit", redirect: "error" });
    if (!answer.ok) throw new Error(`${address.pathname}: HTTP status ${answer.status}`);
    const data = new Uint8Array(most), reader = answer.body.getReader();
    for (let size = 0; ; ) {
      const { done, value } = await reader.read();
      if (done) return data.slice(0, size);
      if (size + value.length > most) {
        await reader.cancel();
        throw new Error(`${address.pathname}: larger than ${most} bytes`);
      }
      data.set(value, size);
      size += value.length;
    }
  }

  /** Readers of the files of a site that its manifest lists, by name. */
  async function servedFiles(root) {
    const { files } = parse(await download(new URL(MANIFEST, root), LARGEST_SERVED_MANIFEST), MANIFEST);
    const own = [[MANIFEST, LARGEST_SERVED_MANIFEST], [SIGNATURE, 64]];
    const listed = files.filter(({ path }) => PLAIN.test(path)).map(({ path, size }) => [path, size]);
    const readerOf = (name, size) => ({ size: () => size, bytes: () => download(new URL(name, root), size) });
    return new Map([...own, ...listed].map(([name, size]) => [name, readerOf(name, size)]));
  }

  function inPage() {
    const ids = ["directory", "key", "since", "witness", "start", "said", "meaning"];
    const [directory, key, since, witness, start, said, meaning] = ids.map((id) => document.getElementById(id));
    const root = new URL(".", document.currentScript.src), isServed = /^https?:$/.test(root.protocol);
    document.getElementById("check").hidden = false;
    document.getElementById("served").hidden = !isServed;
    start.addEventListener("click", async () => {
      said.replaceChildren();
      meaning.hidden = true;
      start.disabled = true;
      const bytesOf = async (file) => {
        if (file?.size > LARGEST_KEYS) throw new Error(`${file.name}: larger than a key or a checkpoint`);
        return file ? new Uint8Array(await file.arrayBuffer()) : null;
      };
      const readerOf = (file) => ({ size: () => file.size, bytes: () => file.arrayBuffer() });
      const nameOf = (file) => file.webkitRelativePath.split("/").slice(1).join("/");
      const chosen = new Map([...directory.files].map((file) => [nameOf(file), readerOf(file)]));
      const look = async () => {
        const files = isServed && !chosen.size ? await servedFiles(root) : chosen;
        const given = await Promise.all([key, since, witness].map((input) => bytesOf(input.files[0])));
        return (await verify(files, ...given)).lines();
      };
      const lines = await look().catch((error) => [`FAILED: ${plain(error.message)}`]);
      const result = lines.at(-1).startsWith("FAILED") ? "failed" : key.files.length ? "ok" : "unknown";
      meaning.textContent = meaning.dataset[result];
      meaning.hidden = false;
      for (const line of lines) {
        const className = /^(problem|FAILED)/.test(line) ? "bad" : "";
        said.append(Object.assign(document.createElement("li"), { textContent: line, className }));
      }
      start.disabled = false;
    });
  }

  async function inNode() {
    const { readFile, readdir, stat } = await import("node:fs/promises");
    const { createHash } = await import("node:crypto");
    const { parseArgs } = await import("node:util");
    digestOf = (bytes) => createHash("sha256").update(bytes).digest();
    const options = { since: { type: "string" }, witness: { type: "string" } };
    const { values, positionals: [directory, key] } = parseArgs({ options, allowPositionals: true });
    if (directory === undefined) {
      throw new Error("usage: node verify.mjs DIRECTORY [KEY.pem] [--since CHECKPOINT] [--witness KEYS]");
    }
    const files = new Map(), odd = [];
    const readerOf = (path) => ({ size: async () => (await stat(path)).size, bytes: () => readFile(path) });
    const givenFile = async (path) => {
      if ((await stat(path)).size > LARGEST_KEYS) throw new Error(`${path}: larger than a key or a checkpoint`);
      return readFile(path);
    };
    const list = async (folder) => {
      const unreadable = (error) => {
        odd.push(`cannot be read (${error.code}); copy the export again: ${folder}`);
        return [];
      };
      for (const entry of await readdir(`${directory}/${folder}`, { withFileTypes: true }).catch(unreadable)) {
        const name = folder + entry.name;
        if (entry.isDirectory()) await list(`${name}/`);
        else if (entry.isFile()) files.set(name, readerOf(`${directory}/${name}`));
        else odd.push(`${name}: links and special files are not allowed in an export`);
      }
    };
    await list("");
    const given = [key, values.since, values.witness].map((name) => (name === undefined ? null : givenFile(name)));
    const report = await verify(files, ...(await Promise.all(given)));
    report.problems.push(...odd);
    console.log(report.lines().join("\n"));
    process.exitCode = report.problems.length ? 1 : 0;
  }

  if (typeof document !== "undefined") inPage();
  else {
    inNode().catch((error) => {
      console.error(`verify.mjs: ${plain(error.message)}`);
      process.exitCode = 2;
    });
  }
})();
