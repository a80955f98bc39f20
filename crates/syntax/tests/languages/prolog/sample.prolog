:- use_module(library(lists)).

% The events.
event(push, 1).
event(clear, 2).

weigh([], 0).
weigh([E | Rest], N) :-
    event(E, M),
    weigh(Rest, K),
    N is M + K.
