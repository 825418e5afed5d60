module player

go 1.19
