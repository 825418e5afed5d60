// Checks that no file of an export was exchanged since its organiser signed it. It shares no code with the judge, and
// needs no package and, for a directory, no network:
//
//     node verify.mjs DIRECTORY [KEY.pem] [--since CHECKPOINT] [--witness KEYS]
//
// verify.html runs it in a browser on a directory that the reader chooses, an export, or a cup with an export of each
// league; or on the files of its own site that the manifest lists. It checks the signature of the manifest, the digest
// of every file, and that the log has all records, extends an old checkpoint and was signed by witnesses. It replays no
// game and computes no table, schedule or draw: `judge contest verify` and `judge contest verify` do.
"use strict";
(() => {
  const MANIFEST = "manifest.json", SIGNATURE = "manifest.sig", KEY = "organiser.pem", JOURNAL = "data/journal.json";
  const DOCUMENT = "contest.json", CUP = "cup.json", CHECKPOINT = "log/checkpoint", GIT = ".gitattributes";
  const MOST_PROBLEMS = 50;

  // Bytes, as the judge bounds them; a larger file is not read.
  const LARGEST_MANIFEST = 128 << 20, LARGEST_TABLE = 256 << 20;
  const LARGEST_DOCUMENT = 4 << 20, LARGEST_CHECKPOINT = 16 << 10, LARGEST_TILE = 256 * (0xffff + 2);
  const LARGEST_SERVED_MANIFEST = 16 << 20;
  const LARGEST_KEYS = 64 << 10, MOST_WITNESSES = 100;

  /** Text of an export, cut and without control characters. */
  const plain = (text) => String(text).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "\ufffd").slice(0, 500);

  class Report {
    contest = "";
    manifest = "";
    key = "";
    restored = 0; // files whose line ends were changed, and are otherwise as signed
    problems = [];
    checked = [];
    notes = [];
    unchecked = [
      "results, tables, schedule, draws, entries: judge contest verify replays every game and computes them",
      "pages, PGN and statistics: only their signature",
    ];

    expect(isTrue, problem) {
      if (!isTrue) this.problems.push(problem);
    }

    compare(place, found, expected) {
      this.expect(found === expected, `${place}: found ${found}, expected ${expected}`);
    }

    /** The report as lines. */
    lines() {
      const count = this.problems.length, changed = this.restored;
      const more = count > MOST_PROBLEMS ? [`and ${count - MOST_PROBLEMS} more`] : [];
      const cause =
        `line ends were changed by git or a copy tool (files: ${changed}); the contents of these files are signed. ` +
        "To restore them: git config core.autocrlf false, and check the files out again";
      const result = changed ? "ok after undoing changed line ends" : "ok";
      return [
        ...(changed ? [`note     ${cause}`] : []),
        ...[...this.problems.slice(0, MOST_PROBLEMS), ...more].map((text) => `problem: ${plain(text)}`),
        ...this.checked.map((text) => `checked: ${plain(text)}`),
        ...this.unchecked.map((text) => `not checked: ${plain(text)}`),
        `manifest ${this.manifest}`,
        `key      ${this.key}`,
        ...this.notes.map((text) => `note     ${plain(text)}`),
        count ? `FAILED: ${count} problem${count > 1 ? "s" : ""}` : `${result}: ${plain(this.contest)}`,
      ];
    }
  }

  // --- bytes ---------------------------------------------------------------------------------------------------------

  const hex = (bytes) => [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const unhex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  const utf8 = (text) => new TextEncoder().encode(text);
  const decoded = (bytes) => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  const base64 = (bytes) => btoa(String.fromCharCode(...bytes));
  const unbase64 = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

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

  /** A JSON value. Where other parsers may read another one, its canonical form differs from the bytes. */
  const parse = (bytes) => JSON.parse(decoded(bytes));

  /** Canonical JSON of a manifest or a leaf: sorted keys, no spaces, ASCII. */
  function canonical(value) {
    if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
    if (value !== null && typeof value === "object") {
      return `{${Object.keys(value).sort().map((key) => `${canonical(key)}:${canonical(value[key])}`).join(",")}}`;
    }
    const escaped = (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;
    return JSON.stringify(value).replace(/[\u007f-\uffff]/g, escaped);
  }

  // --- files ---------------------------------------------------------------------------------------------------------

  /** The 32 bytes of an Ed25519 public key in PEM (RFC 8410: they are the last of its DER). */
  function rawKey(pem) {
    const found = /-----BEGIN PUBLIC KEY-----([^-]+)-----END PUBLIC KEY-----/.exec(new TextDecoder().decode(pem));
    const der = unbase64(found === null ? "" : found[1].replace(/\s/g, ""));
    if (der.length !== 44 || hex(der.slice(0, 12)) !== "302a300506032b6570032100") {
      throw new Error("not an Ed25519 public key in PEM");
    }
    return safeKey(der.slice(12));
  }

  const PART = "[A-Za-z0-9_][A-Za-z0-9._-]{0,127}", PLAIN = new RegExp(`^${PART}(/${PART})*$`);

  // Files of version control, editors, systems and hosts that copies of an export may contain.
  const BOOKKEEPING = new Set(
    (
      ".git .hg .svn .bzr _darcs cvs .jj __pycache__ .pytest_cache .mypy_cache .ruff_cache .tox .ipynb_checkpoints " +
      ".idea .vscode .vs .gradle .settings __macosx .appledouble .fseventsd .spotlight-v100 .trashes $recycle.bin"
    ).split(" "),
  );
  const BOOKKEEPING_FILES = new Set(
    (
      ".gitignore .gitattributes .gitmodules .gitkeep .hgignore .hgtags .mailmap " +
      ".ds_store .localized icon\r thumbs.db ehthumbs.db desktop.ini .directory"
    ).split(" "),
  );
  const OF_HOST = new Set([".nojekyll", "CNAME"]); // GitHub Pages

  /** The path of the bookkeeping that a file is, or is in; or undefined. */
  function bookkeepingOf(name) {
    const parts = name.split("/"), lower = parts.map((part) => part.toLowerCase()), last = lower.at(-1);
    const folder = lower.findIndex((part) => BOOKKEEPING.has(part));
    if (folder >= 0) return parts.slice(0, folder + 1).join("/");
    return BOOKKEEPING_FILES.has(last) || /^[.].*[.]sw[op]$/.test(last) || OF_HOST.has(name) ? name : undefined;
  }

  /** Whether a file has attributes of macOS (AppleDouble or AppleSingle, RFC 1740). */
  async function isCompanion(name, files) {
    if (!name.split("/").at(-1).startsWith("._") || (await files.get(name).size()) > LARGEST_DOCUMENT) return false;
    return /^000516(07|00)/.test(hex(new Uint8Array(await files.get(name).bytes()).slice(0, 4)));
  }

  /** The bytes with the line ends of CR and LF that LF had become, or the other way round. */
  function otherLineEnds(bytes, wantsCr) {
    const found = [];
    for (const [at, byte] of bytes.entries()) {
      if (byte === 13 && bytes[at + 1] === 10) continue;
      if (byte === 10 && wantsCr) found.push(13);
      found.push(byte);
    }
    return Uint8Array.from(found);
  }

  /** The signed bytes of a file whose line ends were changed; undefined if more was changed. */
  async function restored(file, { size, sha256: digest }) {
    if ((await file.size()) > 2 * size) return undefined;
    const bytes = new Uint8Array(await file.bytes());
    for (const wantsCr of [false, true]) {
      const found = otherLineEnds(bytes, wantsCr);
      if (found.length === size && (await sha256(found)) === digest) return found;
    }
    return undefined;
  }

  /** The manifest's bytes, and whether they are signed; with the line ends that were signed. */
  async function readManifest({ read, key, report }) {
    const data = await read(MANIFEST, LARGEST_MANIFEST), found = await read(SIGNATURE, 128);
    const signature = found.length > 64 ? otherLineEnds(found, false) : found;
    if (await isSignature(key, signature, data)) return data;
    const original = otherLineEnds(data, false);
    if (await isSignature(key, signature, original)) {
      report.restored += 1;
      return original;
    }
    report.problems.push(`${SIGNATURE}: not signed by the key ${report.key.slice(0, 16)}`);
    return data;
  }

  /** Checks signature, manifest and the digest of every file. */
  async function checkFiles(it) {
    const { files, key, report } = it;
    report.key = await sha256(key);
    const data = await readManifest(it);
    report.manifest = await sha256(data);
    const manifest = parse(data);
    const hasForm = ({ path, sha256: digest, size }) =>
      PLAIN.test(path) && /^[0-9a-f]{64}$/.test(digest) && Number.isSafeInteger(size) && size >= 0;
    if (typeof manifest?.contest !== "string" || !Array.isArray(manifest.files) || !manifest.files.every(hasForm)) {
      throw new Error(`${MANIFEST}: not a manifest`);
    }
    report.contest = manifest.contest;
    // With the known keys alone, so that others are not in the canonical form.
    it.listed = new Map(manifest.files.map(({ path, sha256: digest, size }) => [path, { path, sha256: digest, size }]));
    const sorted = [...it.listed.values()].sort((one, other) => (one.path < other.path ? -1 : 1));
    const form = canonical({ contest: manifest.contest, files: sorted, format: "judge-manifest-1" });
    report.expect(`${form}\n` === decoded(data), `${MANIFEST}: not canonical JSON`);
    const names = new Set([...files.keys()].filter((name) => name !== MANIFEST && name !== SIGNATURE));
    for (const [name, file] of it.listed) {
      if (names.delete(name)) await checkFile(it, name, file);
      else report.problems.push(`${name}: missing`);
    }
    await checkOthers(it, names);
    report.checked.push(`${it.listed.size} files against the manifest, and its signature`);
  }

  async function checkFile({ files, originals, report }, name, file) {
    const found = files.get(name);
    // A file of another size is read only if changed line ends can be the reason.
    const isSame = (await found.size()) === file.size && (await sha256(await found.bytes())) === file.sha256;
    if (isSame) return;
    const original = await restored(found, file);
    if (original === undefined) return void report.problems.push(`${name}: changed`);
    originals.set(name, original);
    report.restored += 1;
  }

  /** Files that the manifest does not list. */
  async function checkOthers({ files, report }, names) {
    const extra = new Set();
    for (const name of names) {
      const found = bookkeepingOf(name);
      if (found !== undefined) extra.add(found);
      else if (await isCompanion(name, files)) extra.add(name);
      else report.problems.push(`${name}: not in the manifest`);
    }
    const own = extra.has(GIT) && (await files.get(GIT).size()) < 20 ? await files.get(GIT).bytes() : [];
    if (/^[*] -text\r?\n$/.test(decoded(new Uint8Array(own)))) extra.delete(GIT); // as judge writes it, for git alone
    for (const name of extra) report.notes.push(`not part of the export: ${name}`);
  }

  // --- log -----------------------------------------------------------------------------------------------------------

  const LATEST = 253_402_300_799; // the last second of the year 9999
  const ORGANISER = 1, WITNESS = 4; // kinds of signatures (C2SP): of the checkpoint, and of it with the time
  const WIDTH = 256;
  const OF_RECORDS = new Set(["accepted", "void", "superseded"]); // events with the digest of an attempt's record

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

  /** Reads the log: checkpoint, hashes of the leaves, and the digests in them. Each leaf must fit its line. */
  async function readLog({ read, contest, key, report }) {
    const checkpoint = readCheckpoint(await read(CHECKPOINT, LARGEST_CHECKPOINT), CHECKPOINT);
    const journal = parse(await read(JOURNAL, LARGEST_TABLE));
    if (!Array.isArray(journal) || checkpoint.size !== journal.length) {
      throw new Error(`${CHECKPOINT}: ${checkpoint.size} leaves, but the journal has ${journal?.length}`);
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
    const digests = [];
    for (const [number, { at, attempt, data, event, game }] of journal.entries()) {
      const { digest, salt } = parse(leaves[number]), fields = JSON.parse(data);
      const isDigest = digest === null || typeof digest === "string";
      const isCanonical = canonical(fields) === data;
      const salted = typeof salt === "string" ? { salt } : {};
      const line = canonical({ at, attempt, data: fields, digest, event, game, ...salted });
      const isSame = isDigest && isCanonical && line === decoded(leaves[number]);
      report.expect(isSame, `leaf ${number} of the log differs from the line of the journal`);
      report.expect(event !== "accepted" || digest !== null, `leaf ${number} of the log: it has no digest of a record`);
      digests.push({ event, digest });
    }
    const origin = `judge-contest/${contest.name}`;
    const hashes = [];
    for (const leaf of leaves) hashes.push(await hashed([0], leaf));
    tiles.push(...(await checkTiles(hashes, read, report)));
    return { origin, organiser: await signer(origin, ORGANISER, key), checkpoint, hashes, digests, tiles };
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

  async function checkLog(it, since, named) {
    const { files, listed, report } = it;
    if (!files.has(CHECKPOINT)) {
      report.expect(!named.length, "the export has no log, so no witness has signed it");
      report.expect(since === null, "the export has no log");
      return void report.problems.push("the export has no log, but its draw depends on one");
    }
    const log = await readLog(it);
    await isInLog(log.checkpoint, log, report);
    const digests = new Set(log.digests.map(({ digest }) => digest));
    const created = log.digests.filter(({ event }) => event === "created").map(({ digest }) => digest);
    report.compare(`${DOCUMENT} in the log`, created.join(), listed.get(DOCUMENT)?.sha256);
    const records = new Set();
    for (const [name, { sha256: digest }] of listed) if (name.startsWith("records/")) records.add(digest);
    for (const [number, { event, digest }] of log.digests.entries()) {
      const isThere = !OF_RECORDS.has(event) || digest === null || records.has(digest);
      report.expect(isThere, `leaf ${number} of the log, ${event}: its record is not in the export`);
    }
    const known = new Set([...log.tiles, CHECKPOINT]);
    for (const [name, { sha256: digest }] of listed) {
      const isInIt = !name.startsWith("records/") || digests.has(digest);
      report.expect(isInIt, `${name}: the log does not contain this record`);
      const isOfLog = known.has(name) || /^log\/witness\/[0-9a-f]{8}$/.test(name);
      report.expect(isOfLog || !name.startsWith("log/"), `${name}: not a file of the log`);
    }
    await checkWitnesses(it, log, named);
    const { size } = log.checkpoint;
    report.checked.push(`${size} leaves of the log against its checkpoint, the journal and the records`);
    if (since === null) return void report.unchecked.push("that the log was not rewritten: give an old checkpoint");
    const old = readCheckpoint(since, "the old checkpoint");
    if (await isInLog(old, log, report)) {
      report.checked.push(`that the log extends the old checkpoint of ${old.size} leaves`);
    }
  }

  /** Files of data/ that were not read are named, because a table may say anything. */
  function noteTables({ listed, report }) {
    const names = [...listed.keys()].filter((name) => name.startsWith("data/") && name !== JOURNAL);
    report.unchecked.push(`contents of ${names.join(", ")}: only their signature`);
  }

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

  const LEAGUE = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,30}$/;

  // Files of a cup outside the folders of its leagues: signed documents, and pages in several languages.
  const OF_CUP = new RegExp(
    "^(?:(?:manifest|cup|announcement)[.]json|manifest[.]sig|organiser[.]pem|[a-z]+[.](?:css|js|mjs)|" +
    "(?:[a-z]{2,3}(?:-[A-Za-z]{2,4})?/)?(?:agents/[0-9]{1,9}|[a-z][a-z0-9_-]*)[.]html)$",
  );

  /** Checks an exported cup: its manifest, and that the export of each league is the one that the cup names. */
  async function checkCup(it) {
    const { files, read, report } = it, cup = parse(await read(CUP, LARGEST_DOCUMENT));
    const isLeague = (league) => LEAGUE.test(league?.name) && typeof league.contest === "string";
    if (cup?.format !== "judge-cup-1" || !Array.isArray(cup.leagues) || !cup.leagues.every(isLeague)) {
      throw new Error(`${CUP}: not the results of a cup`);
    }
    const begun = new Map(cup.leagues.filter(({ contest }) => contest !== "").map((league) => [league.name, league]));
    if (!begun.size) throw new Error(`${CUP}: no league has begun`);
    const folderOf = (path) => (path.includes("/") ? path.split("/")[0] : "");
    const isOfCup = (path) => !begun.has(folderOf(path)) || path === `${folderOf(path)}/${MANIFEST}`;
    const own = { ...it, files: new Map([...files].filter(([path]) => isOfCup(path))) };
    await checkFiles(own);
    for (const name of own.listed.keys()) {
      report.expect(begun.has(folderOf(name)) || OF_CUP.test(name), `${name}: unexpected file`);
    }
    report.compare(`${MANIFEST}, cup`, report.contest, cup.name);
    const unchecked = new Set();
    for (const league of begun.values()) {
      for (const text of await checkLeague(it, league)) unchecked.add(text);
    }
    const others = "places, medals and who advances: judge contest verify computes them";
    report.unchecked = [...unchecked, others];
  }

  /** Checks the export of a league, signed with the key that the cup names; returns what was not checked. */
  async function checkLeague({ files, report }, { name, contest, manifest, key }) {
    const paths = [...files.keys()].filter((path) => path.startsWith(`${name}/`));
    const own = new Map(paths.map((path) => [path.slice(name.length + 1), files.get(path)]));
    const found = await checked(own, null, (it) => checkContest(it, null, []));
    for (const kind of ["problems", "checked", "notes"]) {
      report[kind].push(...found.report[kind].map((text) => `${name}: ${text}`));
    }
    report.restored += found.report.restored;
    report.compare(`${name}, contest`, found.report.contest, contest);
    report.compare(`${name}, manifest`, found.report.manifest, manifest);
    report.compare(`${name}, key`, found.report.key, key);
    report.expect(own.has(CHECKPOINT), `${name}: it has no log`);
    return found.report.unchecked;
  }

  // --- all of it -----------------------------------------------------------------------------------------------------

  /** Checks the export of a contest. */
  async function checkContest(it, since, named) {
    const { read, report } = it;
    await checkFiles(it);
    it.contest = parse(await read(DOCUMENT, LARGEST_DOCUMENT));
    report.compare(`${MANIFEST}, contest`, report.contest, it.contest.name);
    report.expect(it.contest.freeze, `${DOCUMENT}: its draw does not depend on the log`);
    noteTables(it);
    await checkLog(it, since, named);
  }

  /** Runs a check, and returns what it has read, with its report. Errors are problems. */
  async function checked(files, pem, check) {
    const report = new Report(), originals = new Map();
    const read = async (name, most) => {
      if (originals.has(name)) return originals.get(name);
      if (!files.has(name)) throw new Error(`${name}: missing; choose a directory that judge contest export wrote`);
      const file = files.get(name);
      if ((await file.size()) > most) throw new Error(`${name}: larger than ${most} bytes`);
      return new Uint8Array(await file.bytes());
    };
    const it = { files, read, report, originals };
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
      if (!files.has(CUP)) return checkContest(it, since, named);
      if (since === null && !named.length) return checkCup(it);
      throw new Error("checkpoints and witnesses are of one league: choose its folder");
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
    const { files } = parse(await download(new URL(MANIFEST, root), LARGEST_SERVED_MANIFEST));
    const own = [[MANIFEST, LARGEST_SERVED_MANIFEST], [SIGNATURE, 64]];
    const listed = files.filter(({ path }) => PLAIN.test(path)).map(({ path, size }) => [path, size]);
    const readerOf = (name, size) => ({ size: () => size, bytes: () => download(new URL(name, root), size) });
    return new Map([...own, ...listed].map(([name, size]) => [name, readerOf(name, size)]));
  }

  function inPage() {
    const ids = ["directory", "key", "since", "witness", "start", "said", "meaning", "progress"];
    const [directory, key, since, witness, start, said, meaning, progress] =
      ids.map((id) => document.getElementById(id));
    const [bar, count] = ["progress", "span"].map((name) => progress.querySelector(name));
    const root = new URL(".", document.currentScript.src), isServed = /^https?:$/.test(root.protocol);
    document.getElementById("check").hidden = false;
    document.getElementById("served").hidden = !isServed;
    start.addEventListener("click", async () => {
      said.replaceChildren();
      meaning.hidden = true;
      start.disabled = true;
      progress.hidden = false;
      bar.removeAttribute("value"); // not known before the list of files is read
      count.textContent = "";
      const bytesOf = async (file) => {
        if (file?.size > LARGEST_KEYS) throw new Error(`${file.name}: larger than a key or a checkpoint`);
        return file ? new Uint8Array(await file.arrayBuffer()) : null;
      };
      const readerOf = (file) => ({ size: () => file.size, bytes: () => file.arrayBuffer() });
      const nameOf = (file) => file.webkitRelativePath.split("/").slice(1).join("/");
      const chosen = new Map([...directory.files].map((file) => [nameOf(file), readerOf(file)]));
      const followed = (files) => {
        const begun = new Set();
        const follow = (name) => {
          [bar.max, bar.value] = [files.size, begun.add(name).size];
          count.textContent = `${begun.size} / ${files.size}`;
        };
        const follower = ([name, { size, bytes }]) => [name, { size, bytes: () => (follow(name), bytes()) }];
        return new Map([...files].map(follower));
      };
      const look = async () => {
        const files = isServed && !chosen.size ? await servedFiles(root) : chosen;
        const given = await Promise.all([key, since, witness].map((input) => bytesOf(input.files[0])));
        try {
          if (given[1]) readCheckpoint(given[1], since.files[0].name);
        } catch (error) {
          throw Object.assign(error, { isChoice: true });
        }
        return (await verify(followed(files), ...given)).lines();
      };
      let wrong = null;
      const lines = await look().catch((error) => ((wrong = error), [`FAILED: ${plain(error.message)}`]));
      const result = wrong?.isChoice ? "choice" : lines.at(-1).startsWith("FAILED") ? "failed" : key.files.length ? "ok" : "unknown";
      meaning.textContent = meaning.dataset[result];
      meaning.hidden = false;
      for (const line of lines) {
        const className = /^(problem|FAILED)/.test(line) ? "bad" : "";
        said.append(Object.assign(document.createElement("li"), { textContent: line, className }));
      }
      progress.hidden = true;
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
        if (entry.isDirectory() && bookkeepingOf(name) !== undefined) files.set(name, readerOf(`${directory}/${name}`));
        else if (entry.isDirectory()) await list(`${name}/`);
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
