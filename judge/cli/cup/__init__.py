"""What the commands of contests do with a cup: several contests with one list of entries and one site."""
