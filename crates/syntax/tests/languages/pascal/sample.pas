unit Relay;

interface

uses SysUtils;

type
  // A queue of events.
  TQueue = class(TObject)
    procedure Push(Item: Integer);
    function Count: Integer;
  end;

  EFull = class(Exception);

function Weigh(Item: Integer): Integer;

implementation

// Adds an item.
procedure TQueue.Push(Item: Integer);
begin
  if Item > 0 then
  begin
    Grow(Item);
  end;
end;

function Weigh(Item: Integer): Integer;
begin
  Result := Item * 2;
end;

end.
