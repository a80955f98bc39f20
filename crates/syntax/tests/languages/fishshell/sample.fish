set -gx RELAY_HOME /srv/relay

# Shows the events.
function relay_show --description 'Show events'
    if test -n "$argv"
        relay_read $argv
    end
end

function relay_read
    cat $RELAY_HOME/$argv[1]
end
