"""`judge contest`: one file, one command, final standings; whatever is killed when, the same command goes on."""

import typer

from judge.cli.contest import init, orders, plan, publish, run, tables

app = typer.Typer(
    help="Run a whole contest: init, plan, run; then status, standings, export.",
    no_args_is_help=True,
)
app.command("init", epilog=init.EXAMPLES)(init.init)
app.command("plan", epilog="Example: judge contest plan contest.toml")(plan.plan)
app.command("run", epilog=run.EXAMPLES)(run.run)
app.command("status")(tables.status)
app.command("standings")(tables.standings)
app.command("crosstable")(tables.crosstable)
app.command("log")(tables.log)
app.command("pause")(orders.pause)
app.command("resume")(orders.resume)
app.command("void", epilog="Example: judge contest void 17 --why 'the wrong opening file'")(
    orders.void
)
app.command("disqualify", epilog="Example: judge contest disqualify mybrain --why 'two entries'")(
    orders.disqualify
)
app.command("key", epilog="Example: judge contest key organiser.key")(publish.key)
app.command("export", epilog=publish.EXPORT_EXAMPLES)(publish.export)
app.command("verify", epilog=publish.VERIFY_EXAMPLE)(publish.verify)
