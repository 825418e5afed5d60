// A second verifier of a published contest. It shares no code with the judge, needs no network and no package:
//
//     node verify.mjs DIRECTORY [KEY.pem] [--since CHECKPOINT] [--witness KEYS]
//
// and verify.html runs it in a browser on a directory that the reader chooses. It checks that every file is as it was
// signed, that results are those of the records, that the tables follow from the results, and that the log has all
// results and goes on from an old checkpoint. It plays no game again: whether a record follows from the rules is for
// `judge contest verify`. It says what it did not check.
"use strict";
(() => {
  const MANIFEST = "manifest.json", SIGNATURE = "manifest.sig", KEY = "organiser.pem";
  const DOCUMENT = "contest.json", CHANCE = "chance.json", CHECKPOINT = "log/checkpoint";
  const TABLES = ["standings", "crosstable", "pairs", "games", "pairings", "disqualified", "attempts", "journal"];
  const MOST_PROBLEMS = 50;

  class Report {
    contest = "";
    manifest = "";
    key = "";
    problems = [];
    checked = [];
    unchecked = [
      "that records follow from the rules and from what the agents wrote: judge contest verify replays them",
      "the schedule, the openings and the lots: judge contest verify computes them again",
      "ratings, fairness, pages, PGN, CSV, the journal's words: they are only as they were signed",
    ];

    expect(isTrue, problem) {
      if (!isTrue) this.problems.push(problem);
    }

    /** A problem for each value of `expected` that is another one in `found`; numbers may be off by `slack`. */
    compare(place, found, expected, slack = 0) {
      if (expected !== null && typeof expected === "object") {
        if (Array.isArray(expected)) this.compare(`${place}, length`, found?.length, expected.length);
        for (const key of Object.keys(expected)) this.compare(`${place}, ${key}`, found?.[key], expected[key], slack);
        return;
      }
      const areNumbers = typeof found === "number" && typeof expected === "number";
      const isNear = areNumbers && Math.abs(found - expected) <= slack * (1 + 1e-6 * Math.abs(expected));
      this.expect(found === expected || isNear, `${place}: ${found} is there, ${expected} is right`);
    }

    /** All of it; text of an export is made one line without control characters. */
    lines() {
      const plain = (text) => String(text).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "\ufffd").slice(0, 500);
      const count = this.problems.length;
      const more = count > MOST_PROBLEMS ? [`and ${count - MOST_PROBLEMS} more`] : [];
      return [
        ...[...this.problems.slice(0, MOST_PROBLEMS), ...more].map((text) => `problem: ${plain(text)}`),
        ...this.checked.map((text) => `checked: ${plain(text)}`),
        ...this.unchecked.map((text) => `not checked: ${plain(text)}`),
        `manifest ${this.manifest}`,
        `key      ${this.key}`,
        count ? `FAILED: ${count} problem${count > 1 ? "s" : ""}` : `ok: ${plain(this.contest)}`,
      ];
    }
  }

  // --- bytes and lists -----------------------------------------------------------------------------------------------

  const hex = (bytes) => [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const unhex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  const utf8 = (text) => new TextEncoder().encode(text);
  const decoded = (bytes) => new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  // TextDecoder's Latin-1 is Windows-1252, and a record has each byte as the character of that number.
  const latin1 = (text) => Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  const unbase64 = (text) => latin1(atob(text));
  const joined = (parts) => Uint8Array.from(parts.flatMap((part) => [...part]));

  // Node.js has a faster one: a log has many short leaves.
  let digestOf = (bytes) => crypto.subtle.digest("SHA-256", bytes);
  const sha256 = async (bytes) => hex(await digestOf(bytes));
  const hashed = async (...parts) => new Uint8Array(await digestOf(joined(parts)));

  // y coordinates of the points of Curve25519 whose order divides 8, in each encoding that is read.
  const FIELD = (1n << 255n) - 19n;
  const ORDER_8 = 0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n;
  const SMALL_ORDER = new Set([0n, 1n, ORDER_8, FIELD - ORDER_8, FIELD - 1n, FIELD, FIELD + 1n]);

  /** The 32 bytes of a key, refused if it is a point of small order, for which anyone can make signatures. */
  function safeKey(key) {
    const y = BigInt(`0x${hex(key.slice().reverse())}`) & ((1n << 255n) - 1n);
    if (SMALL_ORDER.has(y)) throw new Error("a key of small order, with which anyone can sign");
    return key;
  }

  async function isSignature(key, signature, data) {
    const imported = await crypto.subtle.importKey("raw", key, { name: "Ed25519" }, false, ["verify"]);
    return crypto.subtle.verify({ name: "Ed25519" }, imported, signature, data);
  }

  /** The value of JSON, refused if an object has a key twice: readers differ in which of the two they take. */
  function parse(bytes, name) {
    const text = decoded(bytes);
    const written = text.replace(/"(?:[^"\\]|\\.)*"/g, "").split(":").length - 1;
    let read = -1; // the whole value counts as one of a key
    const value = JSON.parse(text, function count(_, inner) {
      read += Array.isArray(this) ? 0 : 1;
      return inner;
    });
    if (read !== written) throw new Error(`${name}: an object has a key twice`);
    return value;
  }

  /** JSON as the judge writes a manifest: sorted keys, no spaces, ASCII. */
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
    const data = await read(MANIFEST);
    report.manifest = await sha256(data);
    report.key = await sha256(key);
    const isSigned = await isSignature(key, await read(SIGNATURE), data);
    report.expect(isSigned, `${SIGNATURE}: not signed by the key ${report.key.slice(0, 16)}`);
    const manifest = parse(data, MANIFEST);
    report.contest = manifest.contest;
    const listed = new Map(manifest.files.map((file) => [file.path, file]));
    const sorted = [...listed.values()].sort((one, other) => (one.path < other.path ? -1 : 1));
    const form = canonical({ contest: manifest.contest, files: sorted, format: "judge-manifest-1" });
    report.expect(`${form}\n` === decoded(data), `${MANIFEST}: not in the form that a judge writes`);
    const names = new Set([...files.keys()].filter((name) => name !== MANIFEST && name !== SIGNATURE));
    for (const [name, file] of listed) {
      const bytes = names.delete(name) ? await read(name) : null;
      if (bytes === null) report.problems.push(`${name}: missing`);
      else report.expect(bytes.length === file.size && (await sha256(bytes)) === file.sha256, `${name}: changed`);
    }
    for (const name of names) report.problems.push(`${name}: not in the manifest`);
    report.checked.push(`${listed.size} files against the manifest, and its signature`);
  }

  /** The digest of a transcript: of each block what is public, entry by entry, and the digest of what is private. */
  async function transcriptDigest({ blocks }) {
    const digests = [];
    for (const { entries, private_sha256 } of blocks) {
      const parts = entries.flatMap(([ns, seat, kind, text]) => {
        // In place of a private text: its length, or that and its line ends.
        const isPublic = typeof text === "string";
        const [length, data, tag] = isPublic ? [text.length, text, "o"] : Array.isArray(text) ? [...text, "e"] : [text, "", "p"];
        const head = new DataView(new ArrayBuffer(14));
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

  /** What a record says, as a row of games.json says it. */
  function claims(record, row) {
    const { attempt, verdict, reason, result, seconds, winner } = record;
    const said = { number: record.spec.number, match: record.id, attempt, verdict, reason, result, seconds };
    said.winner = winner === null ? null : [row.first, row.second][winner];
    for (const [seat, side] of ["first", "second"].entries()) {
      said[`${side}_fault`] = record.seats[seat].fault;
      said[`${side}_charged_ms`] = record.seats[seat].charged_ms;
      said[`${side}_replies`] = record.plies.filter((ply) => ply.seat === seat).length;
    }
    return said;
  }

  async function checkRecords({ read, contest, tables, report }) {
    const digests = new Map(contest.entries.map(({ name, seat }) => [name, seat.digest]));
    const played = tables.games.filter((row) => row.state === "done");
    for (const row of played) {
      const { record, transcript } = parse(await read(row.record), row.record);
      report.compare(`game ${row.number}`, row, claims(record, row));
      const files = [row.first, row.second].map((name) => digests.get(name));
      report.compare(`game ${row.number}, files`, record.spec.seats.map((seat) => seat.digest), files);
      const digest = await transcriptDigest(transcript);
      report.compare(`game ${row.number}, transcript`, [transcript.sha256, record.transcript_sha256], [digest, digest]);
    }
    report.checked.push(`${played.length} records against the results, and their transcripts against their digests`);
  }

  // --- tables --------------------------------------------------------------------------------------------------------

  const FAILURES = new Set([
    "illegal", "unreadable", "start-time", "turn-time", "match-time", "memory", "output", "crash", "refused",
  ]);
  const BY_RESULTS = new Set(["round-robin", "double-round-robin", "gauntlet", "swiss", "sprt"]);
  const OF_PAIR = ["points", "games", "wins", "draws", "losses"];
  const OF_AGENT = [...OF_PAIR, "byes", "failures", "replies", "charged_ms"];
  const SLACK = 1e-3; // more than another order of adding up makes

  const rounded = (value) => Number(value.toFixed(9)) + 0;
  const summed = (parts, names = OF_AGENT) =>
    Object.fromEntries(names.map((name) => [name, rounded(total(parts, (part) => part[name]))]));
  const hasOwnPoints = (policy) => Object.keys(policy.points ?? {}).length > 0;

  /** What the first and the second seat score; where a policy has points for words of its own, as games.json claims. */
  function pointsOf(row, policy) {
    if (hasOwnPoints(policy)) return [row.first_points, row.second_points];
    return row.verdict === "draw" ? [0.5, 0.5] : [row.first, row.second].map((agent) => Number(agent === row.winner));
  }

  /** What a game was to one of its two agents. */
  function gameOf(agent, row, policy) {
    const [seat, side] = row.first === agent ? [0, "first"] : [1, "second"];
    const draws = Number(row.verdict === "draw"), wins = draws ? 0 : Number(row.winner === agent);
    const failures = Number(FAILURES.has(row[`${side}_fault`]));
    const [replies, charged_ms] = [row[`${side}_replies`], row[`${side}_charged_ms`]];
    const points = pointsOf(row, policy)[seat];
    return { points, games: 1, wins, draws, losses: 1 - wins - draws, byes: 0, failures, replies, charged_ms };
  }

  /** What the games of a pairing were to one of its agents. */
  function meetingOf(agent, opponent, rows, { policy, duel, format }) {
    const [mine, its] = [agent, opponent].map((one) => summed(rows.map((row) => gameOf(one, row, policy))));
    const weighed = () => (mine.points === its.points ? duel.draw : mine.points > its.points ? duel.win : duel.loss);
    const points = !duel ? mine.points : rows.length < format.games ? 0 : weighed();
    return { ...mine, agent, opponent, points };
  }

  /** Each pairing as each of its agents met the other; the games of a pairing are together in games.json. */
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
      const seats = (game) => (game % 2 ? { first: second, second: first } : { first, second });
      const expected = rows.map((_, game) => ({ round, table, game, ...seats(game) }));
      report.compare(`games of round ${round}, table ${table}`, rows, expected);
      report.compare(`games of round ${round}, table ${table}, length`, rows.length, format.games);
      count += rows.length;
      const played = rows.filter((row) => row.verdict !== null);
      return [meetingOf(first, second, played, contest), meetingOf(second, first, played, contest)];
    });
    report.compare("games of all pairings", tables.games.length, count);
    return meetings;
  }

  /** What each agent has done, in all and against each opponent; of pairings with a disqualified agent nothing. */
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

  /** The criteria that can be computed here: from all lines, and those that are still equal, to what a line has. */
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
    time: (all, equal) => {
      const haveReplied = equal.every((line) => line.replies > 0);
      return (line) => (haveReplied ? -line.charged_ms / line.replies : 0);
    },
  };

  /** Lines that are equal so far in groups that share a place, best first; each gets its values. */
  function ranked(all, equal, [criterion, ...rest]) {
    if (criterion === undefined) return [equal];
    const valueOf = CRITERIA[criterion](all, equal), column = `compared:${criterion}`;
    for (const line of equal) line.values[column] = rounded(valueOf(line));
    const tiers = grouped(equal, (line) => line.values[column]);
    return [...tiers.keys()].sort((one, other) => other - one).flatMap((value) => ranked(all, tiers.get(value), rest));
  }

  function checkTables(it) {
    const { contest, tables, report } = it;
    const out = new Set(tables.disqualified.map((row) => row.agent));
    const all = linesOf(it, out);
    if (hasOwnPoints(contest.policy)) {
      report.unchecked.push("the points of each game: the policy has its own, which follow from the result line");
      if (contest.duel) return void report.unchecked.push("standings and crosstable: duels weigh those points");
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
    report.checked.push("standings, crosstable and pairs, computed again from the results");
  }

  function checkStandings(all, lines, out, { contest, tables, report }) {
    const { name, ranking } = contest.format;
    report.compare("standings.json", tables.standings, lines.map((line) => summed([line])), SLACK);
    if (!BY_RESULTS.has(name)) {
      return void report.unchecked.push(`the places and criteria: those of the format ${name} follow from its stages`);
    }
    const known = ranking.slice(0, [...ranking, ""].findIndex((each) => !Object.hasOwn(CRITERIA, each)));
    const [last, playing] = [true, false].map((isOut) => lines.filter((line) => out.has(line.agent) === isOut));
    const right = new Map();
    for (const tier of [...ranked(all, playing, known), ranked(all, last, known).flat()]) {
      const place = right.size + 1;
      for (const { agent } of tier) right.set(agent, place);
    }
    const isFormer = known.some((each) => tables.standings.some((row) => Object.hasOwn(row, `criterion:${each}`)));
    if (isFormer) report.unchecked.push("the criteria of the standings: judge 0.1.0 compared all agents at once");
    else report.compare("criteria of standings.json", tables.standings, lines.map(({ values }) => values), SLACK);
    if (known.length < ranking.length) return void report.unchecked.push("the places: they need ratings");
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

  const ORGANISER = 1, WITNESS = 4; // kinds of signatures (C2SP): of the checkpoint, and of it with the time
  const ENDS = new Set(["accepted", "void", "abandoned", "superseded"]);

  /** The root of a Merkle tree (RFC 6962, 2.1), from the hashes of its leaves. */
  async function rootOf(hashes) {
    if (hashes.length <= 1) return hashes[0] ?? hashed();
    let left = 1;
    while (left * 2 < hashes.length) left *= 2;
    return hashed([1], await rootOf(hashes.slice(0, left)), await rootOf(hashes.slice(left)));
  }

  /** A checkpoint in a signed note (C2SP): what is signed, and each signature as a name and bytes. */
  function readCheckpoint(data, name) {
    const form = /^((.+)\n(0|[1-9][0-9]{0,14})\n(.+)\n)\n([^]*)$/;
    const [, body, origin, size, root, rest] = form.exec(decoded(data)) ?? [];
    if (body === undefined) throw new Error(`${name}: not a checkpoint of a log`);
    const lines = rest.matchAll(/^\u2014 (\S+) ([A-Za-z0-9+/]+={0,2})$/gm);
    const signatures = [...lines].map((line) => ({ name: line[1], data: unbase64(line[2]) }));
    return { name, body, origin, size: Number(size), root: hex(unbase64(root)), signatures };
  }

  /** Who signs checkpoints; each signature begins with four bytes of the digest of its name, kind and key. */
  async function signer(name, kind, key) {
    return { name, kind, key, id: hex(await hashed(utf8(`${name}\n`), [kind], key)).slice(0, 8) };
  }

  /** A witness, from its line NAME+ID+KEY. */
  async function readWitness(line) {
    const [name, id, ...rest] = line.trim().split("+");
    const data = unbase64(rest.join("+"));
    const witness = await signer(name, WITNESS, data.slice(1));
    if (data.length !== 33 || data[0] !== WITNESS || witness.id !== id) {
      throw new Error(`not the key of a witness: ${line.slice(0, 80)}`);
    }
    safeKey(witness.key);
    return witness;
  }

  /** When somebody signed a checkpoint, in seconds of Unix time (0: he tells no time); null if he did not. */
  async function signedAt({ signatures, body }, { name, kind, key, id }) {
    const length = kind === WITNESS ? 12 : 4;
    for (const { data } of signatures.filter((each) => each.name === name && hex(each.data.slice(0, 4)) === id)) {
      const seconds = Number(`0x0${hex(data.slice(4, length))}`);
      const signed = kind === WITNESS ? `cosignature/v1\ntime ${seconds}\n${body}` : body;
      if (await isSignature(key, data.slice(length), utf8(signed))) return seconds;
    }
    return null;
  }

  /** Whether a checkpoint is one of this log that its organiser signed, and the log begins with its leaves. */
  async function goesOnFrom(checkpoint, { origin, organiser, hashes }, report) {
    const { name, size } = checkpoint;
    const isSigned = checkpoint.origin === origin && (await signedAt(checkpoint, organiser)) !== null;
    const isThere = size <= hashes.length && hex(await rootOf(hashes.slice(0, size))) === checkpoint.root;
    report.expect(isSigned, `${name} is not one of this log, signed by the organiser's key`);
    report.expect(isThere || !isSigned, `the log does not begin with the ${size} leaves of ${name}: it was rewritten`);
    return isSigned && isThere;
  }

  /** The log of an export: its checkpoint, the hashes of its leaves, and the journal with the digest of each leaf. */
  async function readLog({ files, read, contest, tables, key, report }) {
    const checkpoint = readCheckpoint(await read(CHECKPOINT), CHECKPOINT);
    const leaves = [];
    // Tiles are numbered in the order of their names, up to the millionth.
    for (const name of [...files.keys()].filter((each) => each.startsWith("log/tile/entries/")).sort()) {
      const data = await read(name);
      for (let at = 0, end = 0; at < data.length; at = end) {
        end = at + 2 + data[at] * 256 + data[at + 1];
        if (!(end <= data.length)) throw new Error(`${name}: a leaf is cut off`);
        leaves.push(data.slice(at + 2, end));
      }
    }
    if (new Set([checkpoint.size, leaves.length, tables.journal.length]).size > 1) {
      throw new Error(`${CHECKPOINT}: the leaves or the journal are not as many`);
    }
    const lines = tables.journal.map((row, number) => ({ ...row, ...parse(leaves[number], `leaf ${number}`) }));
    for (const [number, { at, attempt, event, match, text }] of tables.journal.entries()) {
      const line = { at, attempt, digest: lines[number].digest, event, match, text_sha256: await sha256(utf8(text)) };
      const isSame = canonical(line) === decoded(leaves[number]);
      report.expect(isSame, `leaf ${number} of the log is not the line of the journal`);
    }
    const origin = `judge-contest/${contest.name}`;
    const hashes = await Promise.all(leaves.map((leaf) => hashed([0], leaf)));
    return { origin, organiser: await signer(origin, ORGANISER, key), checkpoint, hashes, lines };
  }

  /** Every attempt that ended is in the log as in the tables, with its record; and the contest began once. */
  async function checkEnds({ read, tables, report }, lines) {
    const created = lines.filter(({ event }) => event === "created").map(({ digest }) => digest);
    report.compare(`${DOCUMENT} in the log`, created, [await sha256(await read(DOCUMENT))]);
    const ended = new Map();
    for (const [number, { event, match, attempt, digest, text }] of lines.entries()) {
      const key = `${match} ${attempt}`, before = ended.get(key);
      if (event === "annulled") ended.set(key, { event, digest: before?.digest ?? null, text });
      else if (ENDS.has(event)) {
        report.expect(!before || event === "superseded", `leaf ${number} of the log: the attempt ended before`);
        ended.set(key, { event, digest, text });
      }
    }
    const matches = new Map(tables.games.map((row) => [row.number, row.match]));
    const counting = tables.games.filter((row) => row.state === "done").map((row) => ({ ...row, state: "accepted" }));
    for (const { number, attempt, state, record, why } of [...tables.attempts, ...counting]) {
      const key = `${matches.get(number)} ${attempt}`;
      const expected = { event: state, digest: await sha256(await read(record)) };
      if (state !== "accepted") expected.text = why;
      report.compare(`game ${number}, attempt ${attempt}, in the log`, ended.get(key), expected);
      ended.delete(key);
    }
    for (const [key, { event, digest }] of ended) {
      report.expect(digest === null, `match and attempt ${key}: ${event} in the log, and in no table`);
    }
  }

  async function checkLog(it, since, named) {
    const { files, contest, report } = it;
    if (!files.has(CHECKPOINT)) {
      report.expect(!named.length, "the export has no log, so no witness has signed it");
      report.expect(!contest.freeze, "the export has no log, and its draw follows from one");
      report.expect(since === null, "the export has no log");
      return void report.unchecked.push("the log: the export has none");
    }
    const log = await readLog(it);
    await goesOnFrom(log.checkpoint, log, report);
    await checkEnds(it, log.lines);
    await checkDraw(it, log);
    await checkWitnesses(it, log, named);
    const { size } = log.checkpoint;
    report.checked.push(`${size} leaves of the log against its checkpoint, the journal and the results`);
    if (since === null) return void report.unchecked.push("that the log was never rewritten: give an old checkpoint");
    const old = readCheckpoint(since, "the old checkpoint");
    if (await goesOnFrom(old, log, report)) {
      report.checked.push(`that the log goes on from the old checkpoint of ${old.size} leaves`);
    }
  }

  // --- draw and witnesses --------------------------------------------------------------------------------------------

  /** The SHA-256 of what a contest.json says without the draw, in Python's words: numbers stay as they are written. */
  async function termsDigest(data) {
    const text = decoded(data);
    if (text.includes("\\u0000")) throw new Error(`${DOCUMENT}: it has a NUL`);
    const token = /"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*/g;
    const terms = JSON.parse(text.replace(token, (found) => found[0] === '"' ? found : `"\\u0000${found}"`));
    for (const key of ["judge", "frozen_at", "freeze", "images", "host"]) delete terms[key];
    for (const entry of terms.entries) delete entry.rank;
    return sha256(utf8(canonical(terms).replace(/"\\u0000([^"]*)"/g, "$1")));
  }

  /** Whether the draw could be chosen: it follows from the log, whose first leaf is the commitment. */
  async function checkDraw({ read, contest, report }, log) {
    const { freeze } = contest, events = log.lines.map(({ event }) => event);
    if (freeze == null) {
      const isDrawn = events.includes("frozen") || events.includes("announced");
      report.expect(!isDrawn, `the log freezes the entries, and ${DOCUMENT} does not draw from it`);
      return void report.unchecked.push("the draw: it does not follow from the log");
    }
    const { leaves } = freeze, last = leaves - 1;
    const isFirst = events[0] === "announced" && log.lines[0].digest === contest.commitment;
    report.expect(isFirst, `the log does not begin with the commitment of ${DOCUMENT}`);
    const isOnce = events.indexOf("frozen") === last && events.lastIndexOf("frozen") === last;
    const terms = await termsDigest(await read(DOCUMENT));
    if (!isOnce || events.indexOf("created") < leaves) {
      const where = `as leaf ${leaves}, before the contest is created`;
      report.problems.push(`the log does not freeze the entries once, ${where}`);
    } else if (terms !== freeze.entries || terms !== log.lines[last].digest) {
      report.problems.push(`the entries and terms that the log froze are not those of ${DOCUMENT}`);
    } else if (hex(await rootOf(log.hashes.slice(0, leaves))) !== freeze.root) {
      const of = `the root of its first ${leaves} leaves is another one`;
      report.problems.push(`the draw follows from another log: ${of}`);
    }
    checkEntries(contest, log.lines.slice(0, leaves), report);
    await checkDrawWitnesses(contest, log, report);
    report.checked.push(`that the draw was fixed by the commitment, the entries and ${leaves} leaves of the log`);
  }

  /** Every submission that passed plays, unless a later one has its name; and plays as it passed. */
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
      report.expect(entry || isReplaced, `${is} passed before the entries were frozen, and does not take part`);
      report.expect(!entry || isSame, `${is} takes part with other files than it passed with`);
    }
  }

  /** The witnesses whose signatures the draw follows from, and those that the log says were away. */
  async function checkDrawWitnesses(contest, { origin, lines }, report) {
    const { leaves, root, witnessed } = contest.freeze;
    const body = utf8(`${origin}\n${leaves}\n${btoa(String.fromCharCode(...unhex(root)))}\n`);
    const told = lines.slice(leaves, lines.findIndex(({ event }) => event === "created"));
    const absent = told.filter(({ event }) => event === "unwitnessed").map(({ text }) => [text.split(": ")[0], text]);
    const [away, signatures] = [new Map(absent), new Map(Object.entries(witnessed ?? {}))];
    for (const each of (contest.witnesses ?? []).filter(({ draw }) => draw)) {
      const { name, key } = await readWitness(each.key);
      const signature = signatures.get(name), why = away.get(name);
      signatures.delete(name);
      const is = `the witness ${name}`;
      if (signature === undefined) {
        report.expect(why, `the draw lacks the signature of its witness ${name}, and the log does not say why`);
        if (why) report.unchecked.push(`the draw was made without a witness: ${why}`);
        continue;
      }
      report.expect(!why, `the log says that ${is} did not sign, and the draw has its signature`);
      const isSigned = await isSignature(key, unhex(signature), body);
      report.expect(isSigned, `the draw's signature by ${name} is not one of the log at the freeze`);
      if (isSigned) report.checked.push(`that the draw follows from a signature by ${is}`);
    }
    for (const name of signatures.keys()) {
      report.problems.push(`the draw follows from a signature by ${name}, which is no witness of it`);
    }
  }

  /** What witnesses have signed, announced or named by the reader. */
  async function checkWitnesses({ files, read, contest, report }, log, named) {
    const checkpoints = [log.checkpoint];
    for (const name of [...files.keys()].filter((each) => each.startsWith("log/witness/"))) {
      const checkpoint = readCheckpoint(await read(name), name);
      if (await goesOnFrom(checkpoint, log, report)) checkpoints.push(checkpoint);
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
      else report.unchecked.push(`${is}: it has signed no checkpoint of this export`);
    }
  }

  // --- all of it -----------------------------------------------------------------------------------------------------

  async function checkChance({ files, read, contest, report }) {
    if (contest.commitment === null) return void report.unchecked.push("chance: the organiser fixed its seed");
    if (!files.has(CHANCE)) return void report.unchecked.push("chance: its secret is not revealed yet");
    const { secret } = parse(await read(CHANCE), CHANCE);
    report.compare(`${CHANCE}, SHA-256 of the secret`, await sha256(unhex(secret)), contest.commitment);
    report.checked.push("the secret of chance against the commitment");
  }

  /**
   * Check an export. `files` has for each name what reads its bytes; `pem` are the bytes of the organiser's key from
   * another source, or null; `since` those of an old checkpoint, or null; `keys` those of a file of witnesses' keys,
   * one a line, or null. Never throws: what cannot be read is a problem.
   */
  async function verify(files, pem, since, keys) {
    const report = new Report();
    const read = async (name) => {
      if (!files.has(name)) throw new Error(`${name}: missing; choose a directory that judge contest export wrote`);
      return new Uint8Array(await files.get(name)());
    };
    try {
      const it = { files, read, report, key: rawKey(pem ?? (await read(KEY))), tables: {} };
      await checkFiles(it);
      it.contest = parse(await read(DOCUMENT), DOCUMENT);
      report.compare(`${MANIFEST}, contest`, report.contest, it.contest.name);
      for (const name of TABLES) it.tables[name] = parse(await read(`data/${name}.json`), `${name}.json`);
      await checkRecords(it);
      checkTables(it);
      await checkChance(it);
      const named = decoded(keys ?? new Uint8Array()).split("\n").map((line) => line.trim());
      await checkLog(it, since, named.filter((line) => line));
    } catch (error) {
      report.problems.push(`not an export that can be checked: ${error.message}`);
    }
    if (pem === null) {
      report.unchecked.push("who signed: the key is from the directory itself; get it from another source");
    }
    return report;
  }

  function inPage() {
    const ids = ["directory", "key", "since", "witness", "start", "said"];
    const [directory, key, since, witness, start, said] = ids.map((id) => document.getElementById(id));
    document.getElementById("check").hidden = false;
    start.addEventListener("click", async () => {
      said.replaceChildren();
      start.disabled = true;
      const bytesOf = async (file) => (file ? new Uint8Array(await file.arrayBuffer()) : null);
      const nameOf = (file) => file.webkitRelativePath.split("/").slice(1).join("/");
      const files = new Map([...directory.files].map((file) => [nameOf(file), () => bytesOf(file)]));
      const given = await Promise.all([key, since, witness].map((input) => bytesOf(input.files[0])));
      for (const line of (await verify(files, ...given)).lines()) {
        const className = /^(problem|FAILED)/.test(line) ? "bad" : "";
        said.append(Object.assign(document.createElement("li"), { textContent: line, className }));
      }
      start.disabled = false;
    });
  }

  async function inNode() {
    const { readFile, readdir } = await import("node:fs/promises");
    const { createHash } = await import("node:crypto");
    const { parseArgs } = await import("node:util");
    digestOf = (bytes) => createHash("sha256").update(bytes).digest();
    const options = { since: { type: "string" }, witness: { type: "string" } };
    const { values, positionals: [directory, key] } = parseArgs({ options, allowPositionals: true });
    if (directory === undefined) {
      throw new Error("usage: node verify.mjs DIRECTORY [KEY.pem] [--since CHECKPOINT] [--witness KEYS]");
    }
    const files = new Map(), odd = [];
    const list = async (folder) => {
      for (const entry of await readdir(`${directory}/${folder}`, { withFileTypes: true })) {
        const name = folder + entry.name;
        if (entry.isDirectory()) await list(`${name}/`);
        else if (entry.isFile()) files.set(name, () => readFile(`${directory}/${name}`));
        else odd.push(`${name}: a link or a special file; an export has none`);
      }
    };
    await list("");
    const given = [key, values.since, values.witness].map((name) => (name === undefined ? null : readFile(name)));
    const report = await verify(files, ...(await Promise.all(given)));
    report.problems.push(...odd);
    console.log(report.lines().join("\n"));
    process.exitCode = report.problems.length ? 1 : 0;
  }

  if (typeof document !== "undefined") inPage();
  else {
    inNode().catch((error) => {
      console.error(`verify.mjs: ${error.message}`);
      process.exitCode = 2;
    });
  }
})();
