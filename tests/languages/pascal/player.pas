{ Plays the first free square of a Gomocup board. }
program player;

{$mode objfpc}{$H+}

uses SysUtils;

var
  size: integer = 20;
  taken: array[0..99, 0..99] of boolean;
  line, word, rest: string;

procedure Split(const text, mark: string; out left, right: string);
var at: integer;
begin
  at := Pos(mark, text + mark);
  left := Copy(text, 1, at - 1);
  right := Copy(text, at + Length(mark), Length(text));
end;

procedure Take(const text: string);
var x, y, from_y, colour: string;
begin
  Split(text, ',', x, from_y);
  Split(from_y, ',', y, colour);
  taken[StrToInt(x), StrToInt(y)] := true;
end;

procedure Say(const text: string);
begin
  WriteLn(text);
  Flush(Output);
end;

procedure Play;
var x, y: integer;
begin
  for x := 0 to size - 1 do
    for y := 0 to size - 1 do
      if not taken[x, y] then
      begin
        taken[x, y] := true;
        Say(IntToStr(x) + ',' + IntToStr(y));
        Exit;
      end;
end;

begin
  while not Eof do
  begin
    ReadLn(line);
    Split(Trim(line), ' ', word, rest);
    case word of
      'START', 'RESTART':
      begin
        size := StrToIntDef(rest, size);
        FillChar(taken, SizeOf(taken), 0);
        Say('OK');
      end;
      'ABOUT': Say('name="pascal"');
      'BEGIN': Play;
      'TURN':
      begin
        Take(rest);
        Play;
      end;
      'BOARD':
      begin
        ReadLn(line);
        while Trim(line) <> 'DONE' do
        begin
          Take(Trim(line));
          ReadLn(line);
        end;
        Play;
      end;
      'END': Exit;
    end;
  end;
end.
