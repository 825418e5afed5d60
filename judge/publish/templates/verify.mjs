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
  const MOST_PROBLEMS = 50;
  const FAILURES = new Set([
    "illegal", "unreadable", "start-time", "turn-time", "match-time", "memory", "output", "crash", "refused",
  ]);
  const ENDS = new Set(["accepted", "void", "abandoned", "superseded"]);
  const SUMS = ["points", "games", "wins", "draws", "losses", "byes", "failures", "replies", "charged_ms"];
  const BY_RESULTS = new Set(["round-robin", "double-round-robin", "gauntlet", "swiss", "sprt"]);

  // --- bytes ---------------------------------------------------------------------------------------------------------

  const hex = (bytes) => [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const unhex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  // Node.js has a faster one: a log has many short leaves.
  let digestOf = (bytes) => crypto.subtle.digest("SHA-256", bytes);
  const sha256 = async (bytes) => hex(await digestOf(bytes));
  const utf8 = (text) => new TextEncoder().encode(text);
  // TextDecoder's Latin-1 is Windows-1252, and a record has each byte as the character of that number.
  const latin1 = (text) => Uint8Array.from(text, (letter) => letter.charCodeAt(0));

  function joined(parts) {
    const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) {
      whole.set(part, at);
      at += part.length;
    }
    return whole;
  }

  /** The value of JSON, refused if an object has a key twice: readers differ in which of the two they take. */
  function parse(bytes, name) {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    const value = JSON.parse(text);
    const open = [];
    let before = "";
    for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]:]/g)) {
      if (token === "{" || token === "[") open.push(new Set());
      else if (token === "}" || token === "]") open.pop();
      else if (token === ":") {
        const keys = open.at(-1), key = JSON.parse(before);
        if (keys.has(key)) throw new Error(`${name}: the key ${before} is there twice`);
        keys.add(key);
      }
      before = token;
    }
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

  // --- files and signature -------------------------------------------------------------------------------------------

  /** The 32 bytes of an Ed25519 public key in PEM (RFC 8410: they are the last of its DER). */
  function rawKey(pem) {
    const text = new TextDecoder().decode(pem);
    const body = /-----BEGIN PUBLIC KEY-----([\sA-Za-z0-9+/=]+)-----END PUBLIC KEY-----/.exec(text);
    const der = body === null ? [] : latin1(atob(body[1].replace(/\s/g, "")));
    if (der.length !== 44 || hex(der.slice(0, 12)) !== "302a300506032b6570032100") {
      throw new Error("not an Ed25519 public key in PEM");
    }
    return der.slice(12);
  }

  async function isSignature(key, signature, data) {
    const imported = await crypto.subtle.importKey("raw", key, { name: "Ed25519" }, false, ["verify"]);
    return crypto.subtle.verify({ name: "Ed25519" }, imported, signature, data);
  }

  async function checkFiles(files, key, report) {
    const { problems } = report;
    const data = await files.read(MANIFEST);
    report.manifest = await sha256(data);
    report.key = await sha256(key);
    const isSigned = await isSignature(key, await files.read(SIGNATURE), data);
    if (!isSigned) problems.push(`${SIGNATURE}: not signed by the key ${report.key.slice(0, 16)}`);
    const manifest = parse(data, MANIFEST);
    if (manifest.format !== "judge-manifest-1") {
      throw new Error(`${MANIFEST}: the format ${manifest.format} is not known here`);
    }
    const listed = new Map(manifest.files.map((file) => [file.path, file]));
    const paths = manifest.files.map((file) => file.path);
    const isOrdered = paths.every((path, at) => at === 0 || paths[at - 1] < path);
    if (!isOrdered || canonical(manifest) + "\n" !== new TextDecoder().decode(data)) {
      problems.push(`${MANIFEST}: not in the form that a judge writes`);
    }
    const there = new Set(files.names.filter((name) => name !== MANIFEST && name !== SIGNATURE));
    for (const path of paths) if (!there.has(path)) problems.push(`${path}: missing`);
    for (const name of there) {
      const file = listed.get(name);
      if (file === undefined) problems.push(`${name}: not in the manifest`);
      else if ((await files.size(name)) !== file.size || (await sha256(await files.read(name))) !== file.sha256) {
        problems.push(`${name}: changed`);
      }
    }
    report.checked.push(`${paths.length} files against the manifest, and its signature`);
    return manifest;
  }

  // --- records -------------------------------------------------------------------------------------------------------

  /** The digest of a transcript: of each block what is public, entry by entry, and the digest of what is private. */
  async function transcriptDigest(transcript) {
    const digests = [];
    for (const block of transcript.blocks) {
      const parts = [];
      for (const [ns, seat, kind, text] of block.entries) {
        const isPrivate = typeof text === "number";
        const bytes = isPrivate ? new Uint8Array() : latin1(text);
        const head = new DataView(new ArrayBuffer(14));
        head.setBigUint64(0, BigInt(ns), true);
        head.setInt8(8, seat);
        head.setUint8(9, kind.charCodeAt(0));
        head.setUint32(10, isPrivate ? text : bytes.length, true);
        parts.push(new Uint8Array(head.buffer), bytes, utf8(isPrivate ? "p" : "o"));
      }
      digests.push(unhex(await sha256(joined(parts))), unhex(block.private_sha256));
    }
    return sha256(joined(digests));
  }

  /** What a record says and a row of games.json must say too. */
  function claims(record, row) {
    const replies = [0, 0];
    for (const ply of record.plies) replies[ply.seat] += 1;
    return {
      match: record.id,
      attempt: record.attempt,
      verdict: record.verdict,
      winner: record.winner === null ? null : [row.first, row.second][record.winner],
      reason: record.reason,
      result: record.result,
      seconds: record.seconds,
      first_fault: record.seats[0].fault,
      second_fault: record.seats[1].fault,
      first_charged_ms: record.seats[0].charged_ms,
      second_charged_ms: record.seats[1].charged_ms,
      first_replies: replies[0],
      second_replies: replies[1],
    };
  }

  async function checkRecords(files, contest, games, report) {
    const seats = new Map(contest.entries.map((entry) => [entry.name, entry.seat]));
    let count = 0;
    for (const row of games) {
      if (row.state !== "done") continue;
      const where = `game ${row.number}`;
      const { record, transcript } = parse(await files.read(row.record), row.record);
      for (const [field, value] of Object.entries(claims(record, row))) {
        if (row[field] !== value) report.problems.push(`${where}: ${field} is ${row[field]}, its record says ${value}`);
      }
      for (const [seat, name] of [row.first, row.second].entries()) {
        const { digest } = record.spec.seats[seat];
        if (seats.get(name)?.digest !== digest) {
          report.problems.push(`${where}: the files of ${name} are not those of contest.json`);
        }
      }
      const digest = await transcriptDigest(transcript);
      if (digest !== transcript.sha256 || digest !== record.transcript_sha256) {
        report.problems.push(`${where}: the transcript does not fit its digest`);
      }
      count += 1;
    }
    report.checked.push(`${count} records against the results, and their transcripts against their digests`);
  }

  // --- tables --------------------------------------------------------------------------------------------------------

  const rounded = (value, decimals = 9) => Number(value.toFixed(decimals)) + 0;
  const areNumbers = (...values) => values.every((value) => typeof value === "number");
  const differs = (a, b) => (areNumbers(a, b) ? Math.abs(a - b) > 1e-3 + 1e-9 * Math.abs(b) : a !== b);

  const hasOwnPoints = (policy) => Object.keys(policy.points ?? {}).length > 0;

  /** What the first and the second seat score; where a policy has points for words of its own, as games.json claims. */
  function pointsOf(row, policy) {
    if (hasOwnPoints(policy)) return [row.first_points, row.second_points];
    return row.verdict === "draw" ? [0.5, 0.5] : [row.winner === row.first ? 1 : 0, row.winner === row.second ? 1 : 0];
  }

  /** The pairings with their games, and the points of their two agents. */
  function played(contest, pairings, games) {
    const { policy, duel, format } = contest;
    const best = hasOwnPoints(policy) ? Math.max(...Object.values(policy.points).flat()) : 1;
    const empty = (pairing) => ({ ...pairing, games: [], there: new Set(), points: [0, 0] });
    const tables = new Map(pairings.map((pairing) => [`${pairing.round} ${pairing.table}`, empty(pairing)]));
    for (const row of games) {
      const pairing = tables.get(`${row.round} ${row.table}`);
      const agents = pairing && (row.game % 2 ? [pairing.second, pairing.first] : [pairing.first, pairing.second]);
      if (!agents || row.first !== agents[0] || row.second !== agents[1]) {
        throw new Error(`game ${row.number} belongs to no pairing`);
      }
      if (pairing.there.has(row.game)) throw new Error(`game ${row.number} is there twice`);
      pairing.there.add(row.game);
      if (row.verdict !== null) pairing.games.push(row);
    }
    for (const pairing of tables.values()) {
      if (pairing.there.size !== (pairing.second === null ? 0 : format.games)) {
        throw new Error(`round ${pairing.round}, table ${pairing.table} has ${pairing.there.size} games`);
      }
      if (pairing.second === null) {
        pairing.points[0] = duel ? duel.win : format.games * best;
        continue;
      }
      for (const row of pairing.games) {
        const points = pointsOf(row, policy);
        const turned = Number(row.first !== pairing.first);
        pairing.points[0] += points[turned];
        pairing.points[1] += points[1 - turned];
      }
      pairing.points = pairing.points.map((points) => rounded(points));
      if (duel) {
        const lead = pairing.points[0] - pairing.points[1];
        const weighed = lead === 0 ? [duel.draw, duel.draw] : lead > 0 ? [duel.win, duel.loss] : [duel.loss, duel.win];
        pairing.points = pairing.games.length === format.games ? weighed : [0, 0];
      }
    }
    return [...tables.values()];
  }

  /** What one agent did in some pairings. */
  function summed(agent, pairings) {
    const sum = { points: 0, games: 0, wins: 0, draws: 0, losses: 0, byes: 0, failures: 0, replies: 0, charged_ms: 0 };
    for (const pairing of pairings) {
      sum.points += pairing.points[pairing.first === agent ? 0 : 1];
      if (pairing.second === null) sum.byes += 1;
      for (const row of pairing.games) {
        const seat = row.first === agent ? "first" : "second";
        sum.games += 1;
        if (row.verdict === "draw") sum.draws += 1;
        else if (row.winner === agent) sum.wins += 1;
        else sum.losses += 1;
        if (FAILURES.has(row[`${seat}_fault`])) sum.failures += 1;
        sum.replies += row[`${seat}_replies`];
        sum.charged_ms += row[`${seat}_charged_ms`];
      }
    }
    sum.points = rounded(sum.points);
    sum.score = sum.wins + sum.draws / 2;
    return sum;
  }

  const other = (pairing, agent) => (pairing.first === agent ? pairing.second : pairing.first);
  const total = (values) => values.reduce((sum, value) => sum + value, 0);

  /** The criteria that this program can compute, each from all agents' pairings and the agents that are still equal. */
  const CRITERIA = {
    points: (all, agent) => all.get(agent).sum.points,
    wins: (all, agent) => all.get(agent).sum.wins,
    ratio: (all, agent) => (all.get(agent).sum.wins + 1e-8) / (all.get(agent).sum.losses + 1e-8),
    direct: (all, agent, equal) => {
      const met = (one) => all.get(one).pairings.map((each) => other(each, one)).filter((name) => equal.includes(name));
      const isComplete = equal.every((one) => new Set([one, ...met(one)]).size === equal.length);
      const inside = all.get(agent).pairings.filter((each) => each.second !== null && equal.includes(other(each, agent)));
      return isComplete ? summed(agent, inside).points : 0;
    },
    "sonneborn-berger": (all, agent) => {
      const worth = (each) => summed(agent, [each]).score * all.get(other(each, agent)).sum.points;
      return total(all.get(agent).pairings.filter((each) => each.second !== null).map(worth));
    },
    buchholz: (all, agent) => {
      const { pairings, sum } = all.get(agent);
      const met = pairings.filter((each) => each.second !== null);
      return total(met.map((each) => all.get(other(each, agent)).sum.points)) + sum.byes * sum.points;
    },
    time: (all, agent, equal) => {
      const { charged_ms, replies } = all.get(agent).sum;
      return equal.every((one) => all.get(one).sum.replies) ? -charged_ms / replies : 0;
    },
  };

  const values = (name, all, equal) => new Map(equal.map((agent) => [agent, rounded(CRITERIA[name](all, agent, equal))]));

  /** Agents best first, in groups that share a place. */
  function ranked(equal, all, ranking) {
    if (equal.length <= 1 || ranking.length === 0) return equal.length ? [equal] : [];
    const value = values(ranking[0], all, equal);
    const steps = [...new Set(value.values())].sort((a, b) => b - a);
    return steps.flatMap((step) => ranked(equal.filter((agent) => value.get(agent) === step), all, ranking.slice(1)));
  }

  function checkTables(contest, tables, report) {
    const { standings, crosstable, pairs, games, pairings, disqualified } = tables;
    if (hasOwnPoints(contest.policy)) {
      report.unchecked.push("the points of each game: the policy has its own, which follow from the result line");
      if (contest.duel) return void report.unchecked.push("standings and crosstable: duels weigh those points");
    }
    const out = new Set(disqualified.map((row) => row.agent));
    const counted = played(contest, pairings, games).filter((each) => !out.has(each.first) && !out.has(each.second));
    const all = new Map(contest.entries.map(({ name }) => [name, { pairings: [] }]));
    for (const pairing of counted) {
      for (const agent of [pairing.first, pairing.second]) if (agent !== null) all.get(agent).pairings.push(pairing);
    }
    for (const [agent, record] of all) record.sum = summed(agent, record.pairings);
    const same = (place, row, expected, fields) => {
      for (const field of fields) {
        if (differs(row[field], expected[field])) {
          report.problems.push(`${place}: ${field} is ${row[field]}, ${expected[field]} follows from the results`);
        }
      }
    };
    const scored = hasOwnPoints(contest.policy) || contest.duel ? [] : games.filter((each) => each.verdict !== null);
    for (const row of scored) {
      const [first_points, second_points] = pointsOf(row, contest.policy);
      same(`games.json: game ${row.number}`, row, { first_points, second_points }, ["first_points", "second_points"]);
    }
    if (standings.map((row) => row.agent).sort().join("\n") !== [...all.keys()].sort().join("\n")) {
      throw new Error("standings.json: not the agents of contest.json");
    }
    const listed = standings.map((row) => row.agent);
    for (const row of standings) {
      same(`standings.json: ${row.agent}`, row, all.get(row.agent).sum, SUMS);
    }
    const { ranking, name } = contest.format;
    for (const criterion of ranking.filter((each) => Object.hasOwn(CRITERIA, each))) {
      const value = values(criterion, all, listed);
      for (const row of standings) {
        const column = `criterion:${criterion}`;
        same(`standings.json: ${row.agent}`, row, { [column]: value.get(row.agent) }, [column]);
      }
    }
    if (BY_RESULTS.has(name) && ranking.every((each) => Object.hasOwn(CRITERIA, each))) {
      const counting = listed.filter((agent) => !out.has(agent));
      const tiers = [...ranked(counting, all, ranking), [...out]].filter((tier) => tier.length);
      let place = 1;
      for (const tier of tiers) {
        for (const agent of tier) {
          same(`standings.json: ${agent}`, standings[listed.indexOf(agent)], { place }, ["place"]);
        }
        place += tier.length;
      }
      if (standings.some((row, at) => at > 0 && standings[at - 1].place > row.place)) {
        report.problems.push("standings.json: not in the order of places");
      }
    } else if (BY_RESULTS.has(name)) report.unchecked.push("the places: they need ratings");
    else report.unchecked.push(`the places: those of the format ${name} follow from its stages`);
    const rows = new Map(pairs.map((row) => [`${row.agent}\n${row.opponent}`, row]));
    if (crosstable.agents.join("\n") !== listed.join("\n")) {
      throw new Error("crosstable.json: not in the order of the standings");
    }
    for (const [at, agent] of listed.entries()) {
      for (const [column, opponent] of listed.entries()) {
        const met = all.get(agent).pairings.filter((each) => other(each, agent) === opponent);
        const sum = met.length && agent !== opponent ? summed(agent, met) : null;
        const [place, row] = [`${agent} against ${opponent}`, rows.get(`${agent}\n${opponent}`)];
        const points = sum === null ? null : sum.points;
        same(`crosstable.json: ${place}`, { points: crosstable.points[at][column] }, { points }, ["points"]);
        if ((row === undefined) !== (sum === null)) {
          report.problems.push(`pairs.json: ${place}: ${row ? "they never met" : "missing"}`);
        } else if (row) same(`pairs.json: ${place}`, row, sum, ["points", "games", "wins", "draws", "losses"]);
        rows.delete(`${agent}\n${opponent}`);
      }
    }
    for (const row of rows.values()) {
      report.problems.push(`pairs.json: ${row.agent} against ${row.opponent}: they never met`);
    }
    if (new Set(pairs.map((row) => `${row.agent}\n${row.opponent}`)).size !== pairs.length) {
      report.problems.push("pairs.json: a pair is there twice");
    }
    report.checked.push("standings, crosstable and pairs, computed again from the results");
  }

  // --- log -----------------------------------------------------------------------------------------------------------

  const hashed = async (...parts) => new Uint8Array(await digestOf(joined(parts)));
  const unbase64 = (text) => latin1(atob(text));

  /** The root of a Merkle tree (RFC 6962, 2.1) of leaf hashes: complete subtrees are joined from the right. */
  async function rootOf(leaves) {
    if (leaves.length === 0) return hex(await hashed());
    const subtrees = [];
    for (const leaf of leaves) {
      subtrees.push({ size: 1, hash: leaf });
      while (subtrees.length > 1 && subtrees.at(-1).size === subtrees.at(-2).size) await join(subtrees);
    }
    while (subtrees.length > 1) await join(subtrees);
    return hex(subtrees[0].hash);
  }

  async function join(subtrees) {
    const right = subtrees.pop(), left = subtrees.pop();
    subtrees.push({ size: left.size + right.size, hash: await hashed([1], left.hash, right.hash) });
  }

  /** A checkpoint in a signed note (C2SP): its name, size and root, and whether the key has signed it. */
  async function readCheckpoint(data, key, name) {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(data);
    const end = text.lastIndexOf("\n\n");
    const [origin, size, root, ...rest] = text.slice(0, end + 1).split("\n");
    if (end < 0 || rest.length !== 1 || rest[0] !== "" || !/^(0|[1-9][0-9]{0,14})$/.test(size)) {
      throw new Error(`${name}: not a checkpoint of a log`);
    }
    const id = (await hashed(utf8(`${origin}\n`), [1], key)).slice(0, 4);
    let isSigned = false;
    for (const line of text.slice(end + 2).split("\n")) {
      const found = /^\u2014 (\S+) ([A-Za-z0-9+/]+={0,2})$/.exec(line);
      if (found === null || found[1] !== origin) continue;
      const signature = unbase64(found[2]);
      if (hex(signature.slice(0, 4)) !== hex(id)) continue;
      isSigned ||= await isSignature(key, signature.slice(4), utf8(text.slice(0, end + 1)));
    }
    return { origin, size: Number(size), root: hex(unbase64(root)), isSigned, text };
  }

  /** The name and the key of a witness, from its line NAME+ID+KEY. */
  async function readWitnessKey(line) {
    const [name, id, ...rest] = line.trim().split("+");
    const data = unbase64(rest.join("+"));
    const whole = await hashed(utf8(`${name}\n`), data);
    if (data.length !== 33 || data[0] !== 4 || hex(whole.slice(0, 4)) !== id) {
      throw new Error(`not the key of a witness: ${line.slice(0, 80)}`);
    }
    return { name, id, key: data.slice(1) };
  }

  /** When a witness signed a checkpoint, in seconds of Unix time; null if it did not. */
  async function witnessedAt({ text }, { name, id, key }) {
    const end = text.lastIndexOf("\n\n");
    for (const line of text.slice(end + 2).split("\n")) {
      const found = /^\u2014 (\S+) ([A-Za-z0-9+/]+={0,2})$/.exec(line);
      const data = found === null || found[1] !== name ? [] : unbase64(found[2]);
      if (data.length !== 76 || hex(data.slice(0, 4)) !== id) continue;
      const seconds = Number(BigInt(`0x${hex(data.slice(4, 12))}`));
      const signed = utf8(`cosignature/v1\ntime ${seconds}\n${text.slice(0, end + 1)}`);
      if (await isSignature(key, data.slice(12), signed)) return seconds;
    }
    return null;
  }

  /** What witnesses have signed, announced or named by the reader, and whether the draw follows from it. */
  async function checkWitnesses(files, contest, log, hashes, journal, organiser, named, report) {
    const checkpoints = [log];
    for (const name of files.names.filter((each) => each.startsWith("log/witness/"))) {
      const found = await readCheckpoint(await files.read(name), organiser, name);
      if (!found.isSigned || found.origin !== log.origin) {
        report.problems.push(`${name}: not a checkpoint of this log, signed by the organiser's key`);
      } else if (found.size > log.size || (await rootOf(hashes.slice(0, found.size))) !== found.root) {
        report.problems.push(`${name}: the log does not begin with the ${found.size} leaves that were signed`);
      } else checkpoints.push(found);
    }
    const announced = contest.witnesses ?? [];
    const asked = new Map();
    for (const { key } of announced) asked.set(key.trim(), false);
    for (const line of named) asked.set(line, true);
    for (const [line, isNamed] of asked) {
      const witness = await readWitnessKey(line);
      let most = null;
      for (const each of checkpoints) {
        const at = await witnessedAt(each, witness);
        if (at !== null && (most === null || each.size > most.size)) most = { size: each.size, at };
      }
      if (most !== null) {
        const time = new Date(most.at * 1000).toISOString();
        report.checked.push(`that the witness ${witness.name} has signed the first ${most.size} leaves, ${time}`);
      } else if (isNamed) report.problems.push(`no checkpoint of the export is signed by the witness ${witness.name}`);
      else report.unchecked.push(`the witness ${witness.name}: it has signed no checkpoint of this export`);
    }
    const { freeze } = contest;
    if (freeze == null) return;
    const created = journal.findIndex(({ event }) => event === "created");
    const told = journal.slice(freeze.leaves, created).filter(({ event }) => event === "unwitnessed");
    const away = new Map(told.map(({ text }) => [text.split(": ")[0], text]));
    const signatures = new Map(Object.entries(freeze.witnessed ?? {}));
    const body = `${log.origin}\n${freeze.leaves}\n${btoa(String.fromCharCode(...unhex(freeze.root)))}\n`;
    for (const { key, draw } of announced) {
      if (!draw) continue;
      const witness = await readWitnessKey(key);
      const signature = signatures.get(witness.name);
      signatures.delete(witness.name);
      if (signature === undefined && !away.has(witness.name)) {
        report.problems.push(`the draw lacks the signature of its witness ${witness.name}, and the log does not say why`);
      } else if (signature === undefined) {
        report.unchecked.push(`the draw was made without a witness: ${away.get(witness.name)}`);
      } else if (away.has(witness.name)) {
        report.problems.push(`the log says that the witness ${witness.name} did not sign, and the draw has its signature`);
      } else if (!(await isSignature(witness.key, unhex(signature), utf8(body)))) {
        report.problems.push(`the draw's signature by ${witness.name} is not one of the log at the freeze`);
      } else report.checked.push(`that the draw follows from a signature by the witness ${witness.name}`);
    }
    for (const name of signatures.keys()) {
      report.problems.push(`the draw follows from a signature by ${name}, which is no witness of it`);
    }
  }

  /** The leaves of a log of so many, from its tiles of 256. */
  async function readLeaves(files, size) {
    const leaves = [];
    for (let start = 0; start < size; start += 256) {
      const parts = [String((start / 256) % 1000).padStart(3, "0")];
      for (let rest = Math.floor(start / 256000); rest > 0; rest = Math.floor(rest / 1000)) {
        parts.unshift(`x${String(rest % 1000).padStart(3, "0")}`);
      }
      const width = Math.min(256, size - start);
      const name = `log/tile/entries/${parts.join("/")}${width === 256 ? "" : `.p/${width}`}`;
      const data = await files.read(name);
      let at = 0, count = 0;
      while (at < data.length) {
        const end = at + 2 + data[at] * 256 + data[at + 1];
        if (!(end <= data.length)) throw new Error(`${name}: not a tile of a log`);
        leaves.push(data.slice(at + 2, end));
        [at, count] = [end, count + 1];
      }
      if (count !== width) throw new Error(`${name}: not a tile of ${width} leaves`);
    }
    return leaves;
  }

  /** The SHA-256 of what a contest.json says without the draw, in Python's words: numbers stay as they are written. */
  async function termsDigest(data) {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(data);
    if (text.includes("\\u0000")) throw new Error("contest.json: it has a NUL");
    const token = /"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*/g;
    const terms = JSON.parse(text.replace(token, (found) => found[0] === '"' ? found : `"\\u0000${found}"`));
    for (const key of ["judge", "frozen_at", "freeze", "images", "host"]) delete terms[key];
    for (const entry of terms.entries) delete entry.rank;
    return sha256(utf8(canonical(terms).replace(/"\\u0000([^"]*)"/g, "$1")));
  }

  /** Whether the draw could be chosen: it follows from the log, whose first leaf is the commitment. */
  async function checkDraw(files, contest, leaves, hashes, journal, report) {
    const bad = (text) => report.problems.push(text);
    const digests = leaves.map((leaf, number) => parse(leaf, `leaf ${number}`).digest);
    const { freeze } = contest;
    const frozen = journal.flatMap(({ event }, number) => event === "frozen" ? [number + 1] : []);
    if (freeze == null) {
      if (frozen.length || journal.some(({ event }) => event === "announced")) {
        bad("the log freezes the entries, and contest.json does not draw from it");
      }
      return void report.unchecked.push("the draw: it does not follow from the log");
    }
    if (journal[0]?.event !== "announced" || digests[0] !== contest.commitment) {
      bad("the log does not begin with the commitment of contest.json");
    }
    const terms = await termsDigest(await files.read("contest.json"));
    const created = journal.findIndex(({ event }) => event === "created");
    if (frozen.length !== 1 || frozen[0] !== freeze.leaves || created < freeze.leaves) {
      bad(`the log does not freeze the entries once, as leaf ${freeze.leaves}, before the contest is created`);
    } else if (terms !== freeze.entries || terms !== digests[freeze.leaves - 1]) {
      bad("the entries and terms that the log froze are not those of contest.json");
    } else if ((await rootOf(hashes.slice(0, freeze.leaves))) !== freeze.root) {
      bad(`the draw follows from another log: the root of its first ${freeze.leaves} leaves is another one`);
    }
    const ends = new Map(), latest = new Map();
    for (const [number, { event, text }] of journal.slice(0, freeze.leaves).entries()) {
      const found = /^submission ([0-9]{1,18})(?:$|: ([^]*))/.exec(text);
      if (found) ends.set(Number(found[1]), { event, name: (found[2] ?? "").toLowerCase(), digest: digests[number] });
    }
    for (const [number, { event }] of ends) if (event !== "passed" && event !== "approved") ends.delete(number);
    for (const number of [...ends.keys()].sort((a, b) => a - b)) latest.set(ends.get(number).name, number);
    const entries = new Map(contest.entries.map((entry) => [entry.submission, entry]));
    for (const [number, { name, digest }] of ends) {
      const entry = entries.get(number);
      if (entry === undefined && latest.get(name) === number) {
        bad(`submission ${number} passed before the entries were frozen, and does not take part`);
      } else if (entry !== undefined && entry.seat.digest !== digest) {
        bad(`submission ${number} takes part with other files than it passed with`);
      }
    }
    report.checked.push(`that the draw was fixed by the commitment, the entries and ${freeze.leaves} leaves of the log`);
  }

  /** What the log says of each attempt that ended: its event and the digest of its record, by match and attempt. */
  async function readStory(leaves, journal, document, report) {
    const ended = new Map();
    let created = 0;
    for (const [number, leaf] of leaves.entries()) {
      const row = journal[number];
      const { digest } = parse(leaf, `leaf ${number}`);
      const { at, attempt, event, match, text } = row;
      const expected = { at, attempt, digest, event, match, text_sha256: await sha256(utf8(text)) };
      if (canonical(expected) !== new TextDecoder().decode(leaf)) {
        report.problems.push(`leaf ${number} of the log is not the line of the journal`);
      }
      const key = `${match} ${attempt}`;
      if (event === "created") {
        created += 1;
        if (digest !== document) report.problems.push(`leaf ${number} of the log: of another contest.json`);
      } else if (event === "annulled") ended.set(key, { event, digest: ended.get(key)?.digest ?? null });
      else if (ENDS.has(event)) {
        if (ended.has(key) && event !== "superseded") report.problems.push(`leaf ${number} of the log: it ended before`);
        ended.set(key, { event, digest });
      }
    }
    if (created !== 1) report.problems.push("the log does not say once that the contest was created");
    return ended;
  }

  async function checkLog(files, contest, tables, key, since, named, report) {
    if (!files.names.includes("log/checkpoint")) {
      if (named.length) report.problems.push("the export has no log, so no witness has signed it");
      if (since !== null) report.problems.push("the export has no log");
      return void report.unchecked.push("the log: the export has none");
    }
    const log = await readCheckpoint(await files.read("log/checkpoint"), key, "log/checkpoint");
    if (!log.isSigned) report.problems.push("log/checkpoint: not signed by the organiser's key");
    if (log.origin !== `judge-contest/${report.contest}`) report.problems.push("log/checkpoint: of another log");
    if (log.size !== tables.journal.length) throw new Error(`log/checkpoint: the journal has another number of lines`);
    const leaves = await readLeaves(files, log.size);
    const hashes = [];
    for (const leaf of leaves) hashes.push(await hashed([0], leaf));
    if ((await rootOf(hashes)) !== log.root) report.problems.push("log/checkpoint: its root is not that of the leaves");
    const ended = await readStory(leaves, tables.journal, await sha256(await files.read("contest.json")), report);
    const matches = new Map(tables.games.map((row) => [row.number, row.match]));
    const listed = tables.attempts.map((row) => ({ ...row, match: matches.get(row.number) }));
    for (const row of tables.games) if (row.state === "done") listed.push({ ...row, state: "accepted" });
    for (const row of listed) {
      const { event, digest } = ended.get(`${row.match} ${row.attempt}`) ?? { event: "nothing" };
      ended.delete(`${row.match} ${row.attempt}`);
      const where = `game ${row.number}, attempt ${row.attempt}`;
      if (event !== row.state) report.problems.push(`${where}: ${event} in the log, ${row.state} in the tables`);
      else if (digest !== (await sha256(await files.read(row.record)))) {
        report.problems.push(`${where}: its record is another one than the log has`);
      }
    }
    for (const [attempt, { event, digest }] of ended) {
      if (digest !== null) report.problems.push(`match and attempt ${attempt}: ${event} in the log, and in no table`);
    }
    await checkDraw(files, contest, leaves, hashes, tables.journal, report);
    await checkWitnesses(files, contest, log, hashes, tables.journal, key, named, report);
    report.checked.push(`${log.size} leaves of the log against its checkpoint, the journal and the results`);
    if (since === null) return void report.unchecked.push("that the log was never rewritten: give an old checkpoint");
    const old = await readCheckpoint(since, key, "the old checkpoint");
    if (!old.isSigned || old.origin !== log.origin) {
      report.problems.push("the old checkpoint is not one of this log, signed by the organiser's key");
    } else if (old.size > log.size || (await rootOf(hashes.slice(0, old.size))) !== old.root) {
      report.problems.push(`the log does not begin with the ${old.size} leaves of the old checkpoint: it was rewritten`);
    } else report.checked.push(`that the log goes on from the old checkpoint of ${old.size} leaves`);
  }

  // --- all of it -----------------------------------------------------------------------------------------------------

  async function checkChance(files, contest, report) {
    if (contest.commitment === null) return void report.unchecked.push("chance: the organiser fixed its seed");
    if (!files.names.includes("chance.json")) {
      return void report.unchecked.push("chance: its secret is not revealed yet");
    }
    const chance = parse(await files.read("chance.json"), "chance.json");
    if ((await sha256(unhex(chance.secret))) !== contest.commitment) {
      report.problems.push("chance.json: not the secret that contest.json committed to");
    }
    report.checked.push("the secret of chance against the commitment");
  }

  /**
   * Check an export. `files` has `names`, and `read(name)` and `size(name)`, which are asynchronous; `pem` are the bytes
   * of the organiser's key from another source, or null; `since` those of an old checkpoint, or null; `keys` those of a
   * file of witnesses' keys, one a line, or null. Never throws: what cannot be read is a problem.
   */
  async function verify(files, pem, since, keys) {
    const report = {
      contest: "", manifest: "", key: "", problems: [], checked: [],
      unchecked: [
        "that records follow from the rules and from what the agents wrote: judge contest verify replays them",
        "the schedule, the openings and the lots: judge contest verify computes them again",
        "ratings, fairness, pages, PGN, CSV, the journal's words: they are only as they were signed",
      ],
    };
    try {
      const key = rawKey(pem ?? (await files.read(KEY)));
      const manifest = await checkFiles(files, key, report);
      report.contest = manifest.contest;
      const contest = parse(await files.read("contest.json"), "contest.json");
      if (contest.name !== manifest.contest) {
        report.problems.push(`${MANIFEST}: of ${manifest.contest}, the contest is ${contest.name}`);
      }
      const tables = {};
      for (const name of [
        "standings", "crosstable", "pairs", "games", "pairings", "disqualified", "attempts", "journal",
      ]) {
        tables[name] = parse(await files.read(`data/${name}.json`), `${name}.json`);
      }
      await checkRecords(files, contest, tables.games, report);
      checkTables(contest, tables, report);
      await checkChance(files, contest, report);
      const named = (keys === null ? "" : new TextDecoder().decode(keys)).split("\n").map((line) => line.trim());
      await checkLog(files, contest, tables, key, since, named.filter((line) => line), report);
    } catch (error) {
      report.problems.push(`not an export that can be checked: ${error.message}`);
    }
    if (pem === null) {
      report.unchecked.push("who signed: the key is from the directory itself; get it from another source");
    }
    const more = report.problems.length - MOST_PROBLEMS;
    if (more > 0) report.problems.splice(MOST_PROBLEMS, more, `and ${more} more`);
    return report;
  }

  /** The report as lines; text of an export is made one line without control characters. */
  function lines(report) {
    const plain = (text) => text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "�").slice(0, 500);
    const count = report.problems.length;
    return [
      ...report.problems.map((text) => `problem: ${plain(text)}`),
      ...report.checked.map((text) => `checked: ${plain(text)}`),
      ...report.unchecked.map((text) => `not checked: ${plain(text)}`),
      `manifest ${report.manifest}`,
      `key      ${report.key}`,
      count ? `FAILED: ${count} problem${count > 1 ? "s" : ""}` : `ok: ${plain(report.contest)}`,
    ];
  }

  // --- in a browser --------------------------------------------------------------------------------------------------

  function inPage() {
    const ids = ["directory", "key", "since", "witness", "start", "said"];
    const [directory, key, since, witness, start, said] = ids.map((id) => document.getElementById(id));
    document.getElementById("check").hidden = false;
    start.addEventListener("click", async () => {
      said.replaceChildren();
      start.disabled = true;
      const nameOf = (file) => file.webkitRelativePath.split("/").slice(1).join("/");
      const chosen = new Map([...directory.files].map((file) => [nameOf(file), file]));
      const read = async (file, name) => {
        if (file === undefined) throw new Error(`${name}: missing; choose a directory that judge contest export wrote`);
        return new Uint8Array(await file.arrayBuffer());
      };
      const files = {
        names: [...chosen.keys()],
        read: (name) => read(chosen.get(name), name),
        size: async (name) => chosen.get(name).size,
      };
      const chosenOf = async (input) => (input.files.length ? read(input.files[0]) : null);
      const report = await verify(files, await chosenOf(key), await chosenOf(since), await chosenOf(witness));
      for (const line of lines(report)) {
        const className = /^(problem|FAILED)/.test(line) ? "bad" : "";
        said.append(Object.assign(document.createElement("li"), { textContent: line, className }));
      }
      start.disabled = false;
    });
  }

  // --- in Node.js ----------------------------------------------------------------------------------------------------

  async function inNode(words) {
    let isComplete = true;
    const option = (name) => {
      const at = words.indexOf(name);
      const found = at < 0 ? [] : words.splice(at, 2);
      isComplete &&= found.length !== 1;
      return found[1];
    };
    const [since, witness] = [option("--since"), option("--witness")];
    const [directory, key] = words;
    const { readFile, readdir, stat } = await import("node:fs/promises");
    const { createHash } = await import("node:crypto");
    digestOf = (bytes) => createHash("sha256").update(bytes).digest();
    if (directory === undefined || !isComplete) {
      console.error("usage: node verify.mjs DIRECTORY [KEY.pem] [--since CHECKPOINT] [--witness KEYS]");
      return 2;
    }
    const names = new Set();
    const odd = [];
    const list = async (folder) => {
      for (const entry of await readdir(`${directory}/${folder}`, { withFileTypes: true })) {
        const name = folder + entry.name;
        if (entry.isDirectory()) await list(`${name}/`);
        else if (entry.isFile()) names.add(name);
        else odd.push(`${name}: a link or a special file; an export has none`);
      }
    };
    try {
      await list("");
      const files = {
        names: [...names],
        read: async (name) => {
          if (!names.has(name)) throw new Error(`${name}: missing`);
          return new Uint8Array(await readFile(`${directory}/${name}`));
        },
        size: async (name) => (await stat(`${directory}/${name}`)).size,
      };
      const given = async (name) => (name === undefined ? null : new Uint8Array(await readFile(name)));
      const report = await verify(files, await given(key), await given(since), await given(witness));
      report.problems.push(...odd);
      console.log(lines(report).join("\n"));
      return report.problems.length ? 1 : 0;
    } catch (error) {
      console.error(`verify.mjs: ${error.message}`);
      return 2;
    }
  }

  if (typeof document !== "undefined") inPage();
  else inNode(process.argv.slice(2)).then((code) => { process.exitCode = code; });
})();
