// Plays the first free square of a Gomocup board.
using System;
using System.Collections.Generic;
using System.Linq;

static class Player
{
    static int size = 20;
    static readonly HashSet<Tuple<int, int>> taken = new HashSet<Tuple<int, int>>();

    static void Play()
    {
        var squares = from x in Enumerable.Range(0, size) from y in Enumerable.Range(0, size) select Tuple.Create(x, y);
        var square = squares.First(each => !taken.Contains(each));
        taken.Add(square);
        Console.WriteLine("{0},{1}", square.Item1, square.Item2);
    }

    static void Take(string text)
    {
        var numbers = text.Split(',');
        taken.Add(Tuple.Create(int.Parse(numbers[0]), int.Parse(numbers[1])));
    }

    static void Main()
    {
        string line;
        while ((line = Console.ReadLine()) != null)
        {
            var words = line.Trim().Split(' ');
            switch (words[0])
            {
                case "START":
                case "RESTART":
                    if (words.Length > 1) size = int.Parse(words[1]);
                    taken.Clear();
                    Console.WriteLine("OK");
                    break;
                case "ABOUT":
                    Console.WriteLine("name=\"mono\"");
                    break;
                case "BEGIN":
                    Play();
                    break;
                case "TURN":
                    Take(words[1]);
                    Play();
                    break;
                case "BOARD":
                    while ((line = Console.ReadLine().Trim()) != "DONE") Take(line);
                    Play();
                    break;
                case "END":
                    return;
            }
        }
    }
}
