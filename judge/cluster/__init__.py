"""A contest on many machines: workers beside their own Engines, given games by way of a scheduler, over TLS.

One machine runs `judge scheduler`, which brings the others together and keeps nothing. Each machine that plays runs
`judge worker`. The contest itself runs where its store is, with `judge contest run --cluster`: it alone decides what is
played and what counts. Everything that is known of a running contest is in its store, so any of the three may be killed
and started again.
"""
