let g:relay_limit = 64

" Adds an event.
function! relay#push(event) abort
  if a:event != ''
    call s:check(a:event)
  endif
endfunction

function s:check(event)
  return strlen(a:event)
endfunction

command! -nargs=1 RelayPush call relay#push(<q-args>)

augroup Relay
  autocmd!
augroup END
