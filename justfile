# The commands of the project. `just` prints this list.

# Print the commands.
default:
    @just --list --unsorted

# Install everything and play a contest.
quickstart:
    ./scripts/quickstart

# Format, lint, types, and the tests that need no Engine (75 seconds).
fast *arguments:
    ./scripts/test --fast {{arguments}}

# All checks and tests (16 minutes), or some: just test -k renju.
test *arguments:
    ./scripts/test {{arguments}}

# Format the code and fix what ruff can fix.
format:
    .venv/bin/ruff format .
    .venv/bin/ruff check --fix .

# Format, lint and types without a change.
lint:
    .venv/bin/ruff format --check .
    .venv/bin/ruff check .
    .venv/bin/mypy --strict judge tests scripts/benchmarks

# Write all generated files again: reference pages, messages, golden files and the corpus.
generate:
    .venv/bin/judge verdicts > docs/verdicts.md
    .venv/bin/python scripts/reference_pages.py
    .venv/bin/python scripts/system_calls.py
    .venv/bin/python scripts/messages.py
    .venv/bin/python -m tests.golden
    .venv/bin/python -m tests.corpus --write

# Print what differs from the corpus of records and contests.
corpus *OPTIONS:
    .venv/bin/python -m tests.corpus {{OPTIONS}}

# Build all images and house agents.
images:
    .venv/bin/judge images build

# Check this host.
doctor:
    .venv/bin/judge doctor

# Attack this host.
attack *arguments:
    .venv/bin/judge selftest {{arguments}}

# Measure: just bench start.
bench *arguments:
    ./scripts/bench {{arguments}}

# Build the source distribution and the wheel into dist/.
build:
    .venv/bin/uv build --python .venv/bin/python --no-build-isolation

# Print the changelog of the next release: just changelog 0.3.0.
changelog version:
    .venv/bin/towncrier build --draft --version {{version}}
