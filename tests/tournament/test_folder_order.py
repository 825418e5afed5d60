"""From which state of its folders each game of a schedule starts, and which counts."""

from judge.tournament.folder_order import folder_turns

SCHEDULE = [("a", "b"), ("c", "a"), ("b", "c"), ("a", "c")]


def test_each_game_starts_from_its_predecessors_state() -> None:
    turns = folder_turns(SCHEDULE, "each")

    assert [(None, None), (None, 0), (0, 1), (1, 2)] == [(x.after, y.after) for x, y in turns]
    assert all(turn.commits for both in turns for turn in both)


def test_all_games_start_from_the_first_state_and_the_last_of_each_agent_counts() -> None:
    turns = folder_turns(SCHEDULE, "first")

    assert {None} == {turn.after for both in turns for turn in both}
    assert [(False, False), (False, False), (True, False), (True, True)] == [(x.commits, y.commits) for x, y in turns]


def test_an_empty_schedule_has_no_turns() -> None:
    assert [] == folder_turns([], "each") == folder_turns([], "first")
