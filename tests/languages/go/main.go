// Plays the first free square of a Gomocup board.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

var size = 20
var taken = map[[2]int]bool{}

func move() string {
	for x := 0; x < size; x++ {
		for y := 0; y < size; y++ {
			if !taken[[2]int{x, y}] {
				taken[[2]int{x, y}] = true
				return fmt.Sprintf("%d,%d", x, y)
			}
		}
	}
	return ""
}

func take(text string) {
	var x, y int
	fmt.Sscanf(text, "%d,%d", &x, &y)
	taken[[2]int{x, y}] = true
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		word, rest, _ := strings.Cut(strings.TrimSpace(lines.Text()), " ")
		switch word {
		case "START", "RESTART":
			fmt.Sscan(rest, &size)
			taken = map[[2]int]bool{}
			fmt.Println("OK")
		case "ABOUT":
			fmt.Println(`name="go"`)
		case "TURN":
			take(rest)
			fmt.Println(move())
		case "BEGIN":
			fmt.Println(move())
		case "BOARD":
			for lines.Scan() && strings.TrimSpace(lines.Text()) != "DONE" {
				take(lines.Text())
			}
			fmt.Println(move())
		case "END":
			return
		}
	}
}
