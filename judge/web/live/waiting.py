"""Pages of a contest that has not begun: rules, schedule, entries, and the commitment to its draw."""

from dataclasses import dataclass
from pathlib import Path

from judge.contest.window_keeper import PlanFile
from judge.site.pages import ASSETS, LIVE_POLICY, PagePlace, render
from judge.site.rules import format_text, game_facts, limit_facts, rules_in_words
from judge.store.submission_queries import RegisterReader
from judge.submissions.starters import starters_of
from judge.transparency.keys import fingerprint
from judge.transparency.log import SignedLog
from judge.web.live.page import LivePage, kind_of
from judge.web.live.pages import MOMENTS_SCRIPT, NAVIGATION, WAITING_SCRIPT, asset_page, log_page


@dataclass(frozen=True, slots=True)
class WaitingContest:
    """`register`: of the agents that authors submit here."""

    file: PlanFile
    log: SignedLog | None
    register: RegisterReader | None

    def page(self, path: str) -> LivePage | None:
        """A page or file; None if unknown."""
        if path in (WAITING_SCRIPT, MOMENTS_SCRIPT) or path in ASSETS:
            return asset_page(path)
        place = PagePlace.of_file(path)
        if place.path not in NAVIGATION:
            return None if self.log is None else log_page(self.log, path)
        planned, language = self.file.current_value(), place.language
        plan, policy = planned.plan, planned.policy
        key = None if self.log is None else self.log.key
        agents = [(each.name or Path(each.path).name, "") for each in plan.agents]
        has_authors = self.register is not None
        if self.register is not None:
            agents += [(each.title or each.name, each.author) for each in self.register.entries()]
        values = {
            "is_coming": True,
            "here": "index",
            "contest_name": plan.title or plan.name,
            "has_authors": has_authors,
            "policy": LIVE_POLICY,
            "about": plan.about,
            "moments": plan.windows.moments,
            "rules": rules_in_words(policy, plan.clocks, language),
            "facts": {
                **game_facts(policy, language),
                **limit_facts(policy, plan.clocks, language),
                language.gettext("Format"): format_text(plan.format, language),
                language.gettext("Policy"): plan.policy,
                language.gettext("Agents per author"): plan.agents_per_author or "",
            },
            "check_command": plan.check_command,
            "starters": starters_of(policy) if has_authors else {},
            "entries": sorted(agents, key=lambda agent: agent[0].lower()),
            "commitment": None if self.log is None else self.log.commitment(),
            "fingerprint": "" if key is None else fingerprint(key.public_key()),
        }
        return LivePage(render("waiting.html", place, values, package=__package__), kind_of(path))
