-- Session store for the editor plugin.
local json = require("dkjson")
local Path = require "plenary.path"

local M = {}

M.VERSION = "1.4.0"
local MAX_SESSIONS <const> = 20
DEFAULT_DIR = "/tmp/sessions"

---@class Session
---@field name string
local Session = {}
Session.__index = Session

--- Makes a session.
---@param name string
---@return Session
function Session.new(name, ...)
  local self = setmetatable({}, Session)
  self.name = name
  self.args = { ... }
  return self
end

-- Writes the session to disk.
function Session:save(path)
  local file, err = io.open(path or Path:new(DEFAULT_DIR, self.name), "w")
  if not file then
    error(err)
  end
  file:write(json.encode(self))
  file:close()
end

--[[
  Loads every session of a folder.
  Broken files are skipped.
]]
M.load_all = function(dir, opts)
  local sessions = {}
  for _, name in ipairs(vim.fn.readdir(dir)) do
    local ok, session = pcall(M.load, name)
    if ok then
      table.insert(sessions, session)
    end
  end
  return sessions
end

local function trim(text)
  return (text:gsub("^%s+", ""):gsub("%s+$", ""))
end

local compare = function(a, b)
  return a.time < b.time
end

function M.ui.picker.open(opts)
  vim.ui.select(M.load_all(DEFAULT_DIR), opts, function(choice)
    choice:restore()
  end)
end

M.handlers = {
  on_save = function(session)
    session:save()
  end,
  ["on quit"] = function() end,
  limit = MAX_SESSIONS,
}

M.defaults, M.extras = {}, {}

local SCHEMES = {
  http = { open_socket = function() end },
}

function global_reset() M.load_all = nil end

describe("sessions", function()
  it("trims names", function()
    assert.equals("a", trim(" a "))
  end)
end)

return M
