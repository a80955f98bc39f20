-module(relay).
-include("relay.hrl").
-export([push/2, drain/1]).

-define(LIMIT, 64).
-record(event, {name, size}).
-type level() :: low | high.

%% Adds an event.
-spec push(term(), list()) -> list().
push(Event, []) ->
    [check(Event)];
push(Event, Events) ->
    [Event | Events].

drain([]) ->
    ok;
drain([_ | Rest]) ->
    drain(Rest).
