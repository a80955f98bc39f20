% Weighs events.
function [total, n] = weigh(events)
total = 0;
for i = 1:numel(events)
    total = total + check(events(i));
end
n = numel(events);
end

function ok = check(event)
ok = event > 0;
end
