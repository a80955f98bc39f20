-- Asks `colgrep lsp` what an editor asks, through the client and the commands of Neovim:
--
--     nvim --clean --headless -S lsp_neovim.lua
--
-- LSP_COLGREP names the program; the current folder has the queue of the tests (src/queue.rs, src/fill.rs, tests/queue.rs).
-- Runs in Neovim 0.7 and later.

local PATIENCE_MS = 60000

local function is(found, expected, what)
  if not vim.deep_equal(found, expected) then
    error(('%s: %s instead of %s'):format(what, vim.inspect(found), vim.inspect(expected)))
  end
end

local function wait(what, ready)
  if not vim.wait(PATIENCE_MS, ready, 20) then
    error('waited in vain for ' .. what)
  end
end

--- Runs a command of the editor that fills the quickfix list; its rows as FILE:LINE.
local function listed(what, command)
  vim.fn.setqflist({}, 'f')
  command()
  wait(what, function() return #vim.fn.getqflist() > 0 end)
  local rows = {}
  for _, row in ipairs(vim.fn.getqflist()) do
    local path = vim.fn.fnamemodify(vim.fn.bufname(row.bufnr), ':.')
    table.insert(rows, ('%s:%d'):format(path, row.lnum))
  end
  vim.cmd('cclose')
  return rows
end

local function check()
  local root = vim.fn.getcwd()
  vim.cmd('edit src/queue.rs')
  local window, buffer = vim.api.nvim_get_current_win(), vim.api.nvim_get_current_buf()
  local at = function(line, column)
    vim.api.nvim_set_current_win(window)
    vim.api.nvim_win_set_cursor(window, { line, column })
  end
  local config = { name = 'colgrep', cmd = { vim.env.LSP_COLGREP, 'lsp' }, root_dir = root }
  local id = (vim.lsp.start or vim.lsp.start_client)(config)
  local client = vim.lsp.get_client_by_id(id)
  if not vim.lsp.start then
    vim.lsp.buf_attach_client(buffer, id)
  end
  wait('the handshake', function() return client.initialized end)
  wait('the buffer', function() return vim.lsp.buf_is_attached(buffer, id) end)

  -- The best symbol of a name and of a question comes first.
  is(listed('workspace/symbol', function() vim.lsp.buf.workspace_symbol('push') end)[1], 'src/queue.rs:6', 'a name')
  local asked = listed('workspace/symbol', function() vim.lsp.buf.workspace_symbol('fills the queue') end)
  is(asked[1], 'src/fill.rs:2', 'a question')

  -- The outline follows changes that are not saved.
  local outline = function()
    local params = { textDocument = vim.lsp.util.make_text_document_params(buffer) }
    local answers = vim.lsp.buf_request_sync(buffer, 'textDocument/documentSymbol', params, PATIENCE_MS)
    local names = {}
    for _, symbol in ipairs(answers[id].result) do
      table.insert(names, symbol.name)
    end
    return names
  end
  is(outline(), { 'Queue', 'Queue', 'grow', 'reserve' }, 'the outline')
  vim.api.nvim_buf_set_lines(buffer, -1, -1, true, { '', 'fn unsaved() {}' })
  wait('the change', function() return vim.deep_equal(outline(), { 'Queue', 'Queue', 'grow', 'reserve', 'unsaved' }) end)
  vim.cmd('silent undo')
  wait('the change back', function() return #outline() == 4 end)

  -- From a call and from a definition.
  at(11, 3)
  is(listed('incoming calls', vim.lsp.buf.incoming_calls), { 'src/queue.rs:7' }, 'callers of `grow`')
  at(11, 3)
  is(listed('outgoing calls', vim.lsp.buf.outgoing_calls), { 'src/queue.rs:12' }, 'callees of `grow`')
  at(6, 12)
  is(
    listed('incoming calls', vim.lsp.buf.incoming_calls),
    { 'src/fill.rs:5', 'tests/queue.rs:3' },
    'callers of `push`'
  )

  client.stop(true)
end

local good, why = xpcall(check, debug.traceback)
if not good then
  io.stderr:write(tostring(why) .. '\n')
  vim.cmd('cquit 1')
end
vim.cmd('qall!')
