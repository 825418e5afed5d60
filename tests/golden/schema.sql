-- SQLite

CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL,
	PRIMARY KEY (version_num)
);

CREATE TABLE attempts (
	game VARCHAR(32) NOT NULL,
	number INTEGER NOT NULL,
	state VARCHAR(16) NOT NULL,
	host VARCHAR(128) NOT NULL,
	slot TEXT DEFAULT '' NOT NULL,
	why TEXT NOT NULL,
	record VARCHAR(64),
	started_at VARCHAR(32) NOT NULL,
	ended_at VARCHAR(32),
	PRIMARY KEY (game, number),
	FOREIGN KEY(game) REFERENCES games (id)
);

CREATE TABLE contests (
	name VARCHAR(128) NOT NULL,
	document TEXT NOT NULL,
	created_at VARCHAR(32) NOT NULL,
	state VARCHAR(16) NOT NULL,
	secret VARCHAR(64),
	withheld_from INTEGER,
	is_frozen BOOLEAN DEFAULT 0 NOT NULL,
	PRIMARY KEY (name)
);

CREATE TABLE entries (
	contest VARCHAR(128) NOT NULL,
	name VARCHAR(128) NOT NULL,
	rank INTEGER NOT NULL,
	entry TEXT NOT NULL,
	disqualified TEXT,
	withdrawn TEXT,
	is_annulled BOOLEAN DEFAULT 0 NOT NULL,
	PRIMARY KEY (contest, name),
	FOREIGN KEY(contest) REFERENCES contests (name)
);

CREATE TABLE files (
	contest VARCHAR(128) NOT NULL,
	kind VARCHAR(16) NOT NULL,
	digest VARCHAR(64) NOT NULL,
	data BLOB NOT NULL,
	PRIMARY KEY (contest, kind, digest)
);

CREATE TABLE games (
	id VARCHAR(32) NOT NULL,
	contest VARCHAR(128) NOT NULL,
	number INTEGER NOT NULL,
	round INTEGER NOT NULL,
	"table" INTEGER NOT NULL,
	leg INTEGER NOT NULL,
	first VARCHAR(128) NOT NULL,
	second VARCHAR(128) NOT NULL,
	spec TEXT NOT NULL,
	state VARCHAR(16) NOT NULL,
	attempt INTEGER NOT NULL,
	why TEXT NOT NULL,
	PRIMARY KEY (id),
	UNIQUE (contest, number),
	FOREIGN KEY(contest) REFERENCES contests (name)
);

CREATE INDEX ix_games_contest ON games (contest);

CREATE INDEX ix_games_next ON games (contest, state, number);

CREATE INDEX ix_games_rows ON games (contest, number, id, round, "table", leg, first, second);

CREATE TABLE journal (
	id INTEGER NOT NULL,
	contest VARCHAR(128) NOT NULL,
	at VARCHAR(32) NOT NULL,
	event VARCHAR(32) NOT NULL,
	game VARCHAR(32),
	attempt INTEGER,
	data TEXT NOT NULL,
	number INTEGER NOT NULL,
	digest VARCHAR(64),
	who VARCHAR(128),
	withheld INTEGER,
	salt VARCHAR(32),
	PRIMARY KEY (id),
	FOREIGN KEY(contest) REFERENCES contests (name)
);

CREATE INDEX ix_journal_contest ON journal (contest);

CREATE UNIQUE INDEX ix_journal_leaves ON journal (contest, number);

CREATE TABLE notice_readings (
	contest VARCHAR(128) NOT NULL,
	journal BIGINT NOT NULL,
	submission_journal BIGINT NOT NULL,
	PRIMARY KEY (contest)
);

CREATE TABLE notice_targets (
	contest VARCHAR(128) NOT NULL,
	author VARCHAR(128) NOT NULL,
	webhook TEXT NOT NULL,
	secret VARCHAR(128) NOT NULL,
	email TEXT NOT NULL,
	PRIMARY KEY (contest, author)
);

CREATE TABLE notices (
	id VARCHAR(64) NOT NULL,
	contest VARCHAR(128) NOT NULL,
	author VARCHAR(128) NOT NULL,
	channel VARCHAR(16) NOT NULL,
	kind VARCHAR(32) NOT NULL,
	at VARCHAR(32) NOT NULL,
	text TEXT NOT NULL,
	body TEXT NOT NULL,
	state VARCHAR(16) NOT NULL,
	why TEXT NOT NULL,
	failures INTEGER NOT NULL,
	losses INTEGER DEFAULT '0' NOT NULL,
	due_at VARCHAR(32),
	PRIMARY KEY (id)
);

CREATE INDEX ix_notices_contest ON notices (contest);

CREATE INDEX ix_notices_state ON notices (state);

CREATE TABLE orders (
	contest VARCHAR(128) NOT NULL,
	id VARCHAR(64) NOT NULL,
	at VARCHAR(32) NOT NULL,
	who VARCHAR(128) NOT NULL,
	action VARCHAR(32) NOT NULL,
	target VARCHAR(128) NOT NULL,
	why TEXT NOT NULL,
	done TEXT NOT NULL,
	PRIMARY KEY (contest, id)
);

CREATE TABLE pairings (
	contest VARCHAR(128) NOT NULL,
	round INTEGER NOT NULL,
	"table" INTEGER NOT NULL,
	first VARCHAR(128) NOT NULL,
	second VARCHAR(128),
	meeting INTEGER NOT NULL,
	"group" VARCHAR(128) NOT NULL,
	PRIMARY KEY (contest, round, "table"),
	FOREIGN KEY(contest) REFERENCES contests (name)
);

CREATE TABLE practice_games (
	id INTEGER NOT NULL,
	contest VARCHAR(128) NOT NULL,
	submission INTEGER NOT NULL,
	author VARCHAR(128) NOT NULL,
	number INTEGER NOT NULL,
	by_author BOOLEAN NOT NULL,
	asked_at VARCHAR(32) NOT NULL,
	state VARCHAR(16) NOT NULL,
	why TEXT NOT NULL,
	failures INTEGER NOT NULL,
	losses INTEGER DEFAULT '0' NOT NULL,
	due_at VARCHAR(32),
	attempt INTEGER NOT NULL,
	worker VARCHAR(64) NOT NULL,
	agent VARCHAR(128) NOT NULL,
	opponent VARCHAR(128) NOT NULL,
	seat INTEGER NOT NULL,
	verdict VARCHAR(16) NOT NULL,
	winner INTEGER,
	reason TEXT NOT NULL,
	record VARCHAR(64),
	seconds FLOAT,
	ended_at VARCHAR(32),
	challenged VARCHAR(128) DEFAULT '' NOT NULL,
	PRIMARY KEY (id),
	UNIQUE (submission, number),
	FOREIGN KEY(submission) REFERENCES submissions (id)
);

CREATE INDEX ix_practice_games_contest ON practice_games (contest);

CREATE INDEX ix_practice_games_state ON practice_games (state);

CREATE INDEX ix_practice_games_submission ON practice_games (submission);

CREATE TABLE results (
	game VARCHAR(32) NOT NULL,
	attempt INTEGER NOT NULL,
	verdict VARCHAR(16) NOT NULL,
	winner INTEGER,
	result TEXT NOT NULL,
	reason TEXT NOT NULL,
	record VARCHAR(64) NOT NULL,
	seconds FLOAT NOT NULL,
	moves VARCHAR(64) DEFAULT '' NOT NULL,
	finished_at VARCHAR(32) NOT NULL,
	fault_0 VARCHAR(16),
	fault_1 VARCHAR(16),
	replies_0 INTEGER NOT NULL,
	replies_1 INTEGER NOT NULL,
	charged_ms_0 FLOAT NOT NULL,
	charged_ms_1 FLOAT NOT NULL,
	PRIMARY KEY (game),
	FOREIGN KEY(game, attempt) REFERENCES attempts (game, number)
);

CREATE TABLE submission_journal (
	id INTEGER NOT NULL,
	submission INTEGER NOT NULL,
	at VARCHAR(32) NOT NULL,
	who VARCHAR(128) NOT NULL,
	state VARCHAR(16) NOT NULL,
	why TEXT NOT NULL,
	PRIMARY KEY (id),
	FOREIGN KEY(submission) REFERENCES submissions (id)
);

CREATE INDEX ix_submission_journal_submission ON submission_journal (submission);

CREATE TABLE submission_steps (
	submission INTEGER NOT NULL,
	attempt INTEGER NOT NULL,
	number INTEGER NOT NULL,
	stage VARCHAR(32) NOT NULL,
	ok BOOLEAN NOT NULL,
	text TEXT NOT NULL,
	seconds FLOAT NOT NULL,
	PRIMARY KEY (submission, attempt, number),
	FOREIGN KEY(submission) REFERENCES submissions (id)
);

CREATE TABLE submissions (
	id INTEGER NOT NULL,
	contest VARCHAR(128) NOT NULL,
	author VARCHAR(128) NOT NULL,
	name VARCHAR(128) NOT NULL,
	version INTEGER,
	filename TEXT NOT NULL,
	upload VARCHAR(64) NOT NULL,
	size BIGINT NOT NULL,
	received_at VARCHAR(32) NOT NULL,
	state VARCHAR(16) NOT NULL,
	why TEXT NOT NULL,
	failures INTEGER NOT NULL,
	losses INTEGER DEFAULT '0' NOT NULL,
	due_at VARCHAR(32),
	attempt INTEGER NOT NULL,
	worker VARCHAR(64) NOT NULL,
	digest VARCHAR(64),
	agent TEXT,
	log VARCHAR(64),
	report VARCHAR(64),
	title VARCHAR(128) DEFAULT '' NOT NULL,
	PRIMARY KEY (id)
);

CREATE INDEX ix_submissions_contest ON submissions (contest);

CREATE INDEX ix_submissions_state ON submissions (state);

CREATE TABLE tokens (
	hash VARCHAR(64) NOT NULL,
	contest VARCHAR(128) NOT NULL,
	author VARCHAR(128) NOT NULL,
	made_at VARCHAR(32) NOT NULL,
	made_by VARCHAR(128) NOT NULL,
	revoked_at VARCHAR(32),
	revoked_by VARCHAR(128),
	role VARCHAR(16) DEFAULT 'author' NOT NULL,
	PRIMARY KEY (hash)
);

CREATE INDEX ix_tokens_contest ON tokens (contest);

-- PostgreSQL

CREATE TABLE attempts (
	game VARCHAR(32) NOT NULL,
	number INTEGER NOT NULL,
	state VARCHAR(16) NOT NULL,
	host VARCHAR(128) NOT NULL,
	slot TEXT DEFAULT '' NOT NULL,
	why TEXT NOT NULL,
	record VARCHAR(64),
	started_at VARCHAR(32) NOT NULL,
	ended_at VARCHAR(32),
	PRIMARY KEY (game, number),
	FOREIGN KEY(game) REFERENCES games (id)
);

CREATE TABLE contests (
	name VARCHAR(128) NOT NULL,
	document TEXT NOT NULL,
	created_at VARCHAR(32) NOT NULL,
	state VARCHAR(16) NOT NULL,
	secret VARCHAR(64),
	withheld_from INTEGER,
	is_frozen BOOLEAN DEFAULT false NOT NULL,
	PRIMARY KEY (name)
);

CREATE TABLE entries (
	contest VARCHAR(128) NOT NULL,
	name VARCHAR(128) NOT NULL,
	rank INTEGER NOT NULL,
	entry TEXT NOT NULL,
	disqualified TEXT,
	withdrawn TEXT,
	is_annulled BOOLEAN DEFAULT false NOT NULL,
	PRIMARY KEY (contest, name),
	FOREIGN KEY(contest) REFERENCES contests (name)
);

CREATE TABLE files (
	contest VARCHAR(128) NOT NULL,
	kind VARCHAR(16) NOT NULL,
	digest VARCHAR(64) NOT NULL,
	data BYTEA NOT NULL,
	PRIMARY KEY (contest, kind, digest)
);

CREATE TABLE games (
	id VARCHAR(32) NOT NULL,
	contest VARCHAR(128) NOT NULL,
	number INTEGER NOT NULL,
	round INTEGER NOT NULL,
	"table" INTEGER NOT NULL,
	leg INTEGER NOT NULL,
	first VARCHAR(128) NOT NULL,
	second VARCHAR(128) NOT NULL,
	spec TEXT NOT NULL,
	state VARCHAR(16) NOT NULL,
	attempt INTEGER NOT NULL,
	why TEXT NOT NULL,
	PRIMARY KEY (id),
	UNIQUE (contest, number),
	FOREIGN KEY(contest) REFERENCES contests (name)
);

CREATE INDEX ix_games_contest ON games (contest);

CREATE INDEX ix_games_next ON games (contest, state, number);

CREATE INDEX ix_games_rows ON games (contest, number, id, round, "table", leg, first, second);

CREATE TABLE journal (
	id BIGSERIAL NOT NULL,
	contest VARCHAR(128) NOT NULL,
	at VARCHAR(32) NOT NULL,
	event VARCHAR(32) NOT NULL,
	game VARCHAR(32),
	attempt INTEGER,
	data TEXT NOT NULL,
	number INTEGER NOT NULL,
	digest VARCHAR(64),
	who VARCHAR(128),
	withheld INTEGER,
	salt VARCHAR(32),
	PRIMARY KEY (id),
	FOREIGN KEY(contest) REFERENCES contests (name)
);

CREATE INDEX ix_journal_contest ON journal (contest);

CREATE UNIQUE INDEX ix_journal_leaves ON journal (contest, number);

CREATE TABLE notice_readings (
	contest VARCHAR(128) NOT NULL,
	journal BIGINT NOT NULL,
	submission_journal BIGINT NOT NULL,
	PRIMARY KEY (contest)
);

CREATE TABLE notice_targets (
	contest VARCHAR(128) NOT NULL,
	author VARCHAR(128) NOT NULL,
	webhook TEXT NOT NULL,
	secret VARCHAR(128) NOT NULL,
	email TEXT NOT NULL,
	PRIMARY KEY (contest, author)
);

CREATE TABLE notices (
	id VARCHAR(64) NOT NULL,
	contest VARCHAR(128) NOT NULL,
	author VARCHAR(128) NOT NULL,
	channel VARCHAR(16) NOT NULL,
	kind VARCHAR(32) NOT NULL,
	at VARCHAR(32) NOT NULL,
	text TEXT NOT NULL,
	body TEXT NOT NULL,
	state VARCHAR(16) NOT NULL,
	why TEXT NOT NULL,
	failures INTEGER NOT NULL,
	losses INTEGER DEFAULT '0' NOT NULL,
	due_at VARCHAR(32),
	PRIMARY KEY (id)
);

CREATE INDEX ix_notices_contest ON notices (contest);

CREATE INDEX ix_notices_state ON notices (state);

CREATE TABLE orders (
	contest VARCHAR(128) NOT NULL,
	id VARCHAR(64) NOT NULL,
	at VARCHAR(32) NOT NULL,
	who VARCHAR(128) NOT NULL,
	action VARCHAR(32) NOT NULL,
	target VARCHAR(128) NOT NULL,
	why TEXT NOT NULL,
	done TEXT NOT NULL,
	PRIMARY KEY (contest, id)
);

CREATE TABLE pairings (
	contest VARCHAR(128) NOT NULL,
	round INTEGER NOT NULL,
	"table" INTEGER NOT NULL,
	first VARCHAR(128) NOT NULL,
	second VARCHAR(128),
	meeting INTEGER NOT NULL,
	"group" VARCHAR(128) NOT NULL,
	PRIMARY KEY (contest, round, "table"),
	FOREIGN KEY(contest) REFERENCES contests (name)
);

CREATE TABLE practice_games (
	id BIGSERIAL NOT NULL,
	contest VARCHAR(128) NOT NULL,
	submission BIGINT NOT NULL,
	author VARCHAR(128) NOT NULL,
	number INTEGER NOT NULL,
	by_author BOOLEAN NOT NULL,
	asked_at VARCHAR(32) NOT NULL,
	state VARCHAR(16) NOT NULL,
	why TEXT NOT NULL,
	failures INTEGER NOT NULL,
	losses INTEGER DEFAULT '0' NOT NULL,
	due_at VARCHAR(32),
	attempt INTEGER NOT NULL,
	worker VARCHAR(64) NOT NULL,
	agent VARCHAR(128) NOT NULL,
	opponent VARCHAR(128) NOT NULL,
	seat INTEGER NOT NULL,
	verdict VARCHAR(16) NOT NULL,
	winner INTEGER,
	reason TEXT NOT NULL,
	record VARCHAR(64),
	seconds FLOAT,
	ended_at VARCHAR(32),
	challenged VARCHAR(128) DEFAULT '' NOT NULL,
	PRIMARY KEY (id),
	UNIQUE (submission, number),
	FOREIGN KEY(submission) REFERENCES submissions (id)
);

CREATE INDEX ix_practice_games_contest ON practice_games (contest);

CREATE INDEX ix_practice_games_state ON practice_games (state);

CREATE INDEX ix_practice_games_submission ON practice_games (submission);

CREATE TABLE results (
	game VARCHAR(32) NOT NULL,
	attempt INTEGER NOT NULL,
	verdict VARCHAR(16) NOT NULL,
	winner INTEGER,
	result TEXT NOT NULL,
	reason TEXT NOT NULL,
	record VARCHAR(64) NOT NULL,
	seconds FLOAT NOT NULL,
	moves VARCHAR(64) DEFAULT '' NOT NULL,
	finished_at VARCHAR(32) NOT NULL,
	fault_0 VARCHAR(16),
	fault_1 VARCHAR(16),
	replies_0 INTEGER NOT NULL,
	replies_1 INTEGER NOT NULL,
	charged_ms_0 FLOAT NOT NULL,
	charged_ms_1 FLOAT NOT NULL,
	PRIMARY KEY (game),
	FOREIGN KEY(game, attempt) REFERENCES attempts (game, number)
);

CREATE TABLE submission_journal (
	id BIGSERIAL NOT NULL,
	submission BIGINT NOT NULL,
	at VARCHAR(32) NOT NULL,
	who VARCHAR(128) NOT NULL,
	state VARCHAR(16) NOT NULL,
	why TEXT NOT NULL,
	PRIMARY KEY (id),
	FOREIGN KEY(submission) REFERENCES submissions (id)
);

CREATE INDEX ix_submission_journal_submission ON submission_journal (submission);

CREATE TABLE submission_steps (
	submission BIGINT NOT NULL,
	attempt INTEGER NOT NULL,
	number INTEGER NOT NULL,
	stage VARCHAR(32) NOT NULL,
	ok BOOLEAN NOT NULL,
	text TEXT NOT NULL,
	seconds FLOAT NOT NULL,
	PRIMARY KEY (submission, attempt, number),
	FOREIGN KEY(submission) REFERENCES submissions (id)
);

CREATE TABLE submissions (
	id BIGSERIAL NOT NULL,
	contest VARCHAR(128) NOT NULL,
	author VARCHAR(128) NOT NULL,
	name VARCHAR(128) NOT NULL,
	version INTEGER,
	filename TEXT NOT NULL,
	upload VARCHAR(64) NOT NULL,
	size BIGINT NOT NULL,
	received_at VARCHAR(32) NOT NULL,
	state VARCHAR(16) NOT NULL,
	why TEXT NOT NULL,
	failures INTEGER NOT NULL,
	losses INTEGER DEFAULT '0' NOT NULL,
	due_at VARCHAR(32),
	attempt INTEGER NOT NULL,
	worker VARCHAR(64) NOT NULL,
	digest VARCHAR(64),
	agent TEXT,
	log VARCHAR(64),
	report VARCHAR(64),
	title VARCHAR(128) DEFAULT '' NOT NULL,
	PRIMARY KEY (id)
);

CREATE INDEX ix_submissions_contest ON submissions (contest);

CREATE INDEX ix_submissions_state ON submissions (state);

CREATE TABLE tokens (
	hash VARCHAR(64) NOT NULL,
	contest VARCHAR(128) NOT NULL,
	author VARCHAR(128) NOT NULL,
	made_at VARCHAR(32) NOT NULL,
	made_by VARCHAR(128) NOT NULL,
	revoked_at VARCHAR(32),
	revoked_by VARCHAR(128),
	role VARCHAR(16) DEFAULT 'author' NOT NULL,
	PRIMARY KEY (hash)
);

CREATE INDEX ix_tokens_contest ON tokens (contest);
