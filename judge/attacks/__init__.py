"""The attack suite: what strangers' programs may try, tried on this host by programs of our own."""
